"""
Plays one suite with several planners, one after the other, in folders beside each other.

    compare.json  the figures of all; also marks the folder as one of a comparison
    compare.md    the same as tables for people
    <planner>/    an ordinary run: `bbllm bench diff`, `report` and SUITE --out work on it
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bbllm_bench.compare.choice import Contender
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.store import RunFolder
from bbllm_bench.report.write import finish
from bbllm_bench.runner.run_watch import RunEnd, RunProgress, Watch
from bbllm_bench.runner.runner import begin, run_bench
from bbllm_bench.runner.workers import Workers


@dataclass(frozen=True, slots=True)
class PlannerRun:
    """How the run of one planner ended."""

    planner: str
    folder: Path
    end: RunEnd
    problem: str = ''
    """Why not all of its files could be written."""


class CompareWatch(Watch, Protocol):
    """Observes a comparison; its progress is that of all planners together."""

    def plays(self, planner: str) -> None:
        """Take who plays from now on."""
        ...


def play_all(
    contenders: Sequence[Contender],
    folder: Path,
    hire: Callable[[], Workers],
    watch: CompareWatch,
) -> tuple[PlannerRun, ...]:
    """
    Play what is missing of each planner's run; goes on with the next one where a run ends early.

    Returns how each run ended; after an early end, of those that had begun.

    Raises:
        ConfigError: A folder cannot be used; nothing was played then.
    """
    together = _Together(watch, _stands(contenders, folder))
    watch.began(together.progress)
    ended = list[PlannerRun]()
    with ExitStack() as hired:
        workers: Workers | None = None
        for item in contenders:
            together.planner = item.planner
            watch.plays(item.planner)
            path = folder / item.folder
            if workers is None:
                workers = hired.enter_context(closing(hire()))
            with RunFolder(path) as run:
                end = run_bench(begin(item.prepared.plan, run), run, workers, together)
                # To write a report takes as long as to play; `bbllm bench report` does it.
                problem = finish(run, report=False).problem
            ended.append(PlannerRun(item.planner, path, end, problem))
            if end.reason:
                # What is under way must not end in the next run, under the same key.
                hired.close()
                workers = None
            if end.interrupted:
                break
    return tuple(ended)


def _stands(contenders: Sequence[Contender], folder: Path) -> dict[str, RunProgress]:
    """Return the progress of each run; refuse folders of other runs before the first plays."""
    parts = {}
    for item in contenders:
        with RunFolder(folder / item.folder) as run:
            plan = begin(item.prepared.plan, run)
            results = run.results.values()
            kept = [result for result in results if not (plan.retry_lost and result.lost)]
            total = len({*plan.settings.keys, *run.results})
            parts[item.planner] = RunProgress.of(kept, total)
    return parts


@dataclass
class _Together:
    """Passes the progress of the run of one planner after the other on as that of all."""

    watch: CompareWatch
    parts: dict[str, RunProgress]
    planner: str = ''
    """Who plays now."""
    started_s: float = field(default_factory=time.monotonic)

    @property
    def progress(self) -> RunProgress:
        parts = self.parts.values()
        return RunProgress(
            total=sum(part.total for part in parts),
            done=sum(part.done for part in parts),
            played=sum(part.played for part in parts),
            passed=sum(part.passed for part in parts),
            lost=sum(part.lost for part in parts),
            requests=sum(part.requests for part in parts),
            wall_s=time.monotonic() - self.started_s,
        )

    def began(self, progress: RunProgress) -> None:
        self.parts[self.planner] = progress

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        self.parts[self.planner] = progress
        self.watch.ended(result, self.progress)

    def warned(self, text: str) -> None:
        self.watch.warned(f'{self.planner}: {text}')

    def wants_end(self) -> bool:
        return self.watch.wants_end()
