"""A run that is not played for real; a process: `python -m tests.bench.fake_run FOLDER TASK…`."""

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import RunFolder
from bbllm_bench.report.summary import summarize_run
from bbllm_bench.runner.run_watch import RunEnd, RunProgress
from bbllm_bench.runner.runner import RunPlan, run_bench
from bbllm_bench.runner.worker_result import Answer, Failed, attempt
from bbllm_bench.runner.workers import Workers
from tests.bench import fake_play
from tests.bench.made_results import make_settings

KS = (0, 1, 2, 3)
TRIALS = 5


class Notes:
    """Writes down what a watch is reported; may end the run after some episodes."""

    def __init__(self, end_after: int | None = None):
        self.began_with: RunProgress | None = None
        self.results: list[EpisodeResult] = []
        self.progress: list[RunProgress] = []
        self.warnings: list[str] = []
        self._end_after = end_after

    def began(self, progress: RunProgress) -> None:
        self.began_with = progress

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        self.results.append(result)
        self.progress.append(progress)

    def warned(self, text: str) -> None:
        self.warnings.append(text)

    def wants_end(self) -> bool:
        return self._end_after is not None and len(self.results) >= self._end_after


class Here:
    """
    Plays in this process, without the seconds that workers take to start.

    Tasks that kill their worker answer as its death does, and `hangs` never answers.
    """

    def __init__(self, size: int):
        self.size = size
        self._deaths: Counter[str] = Counter()

    def submit(self, job: EpisodeSpec) -> Future[Answer]:
        future: Future[Answer] = Future()
        if job.key.task != 'hangs':
            future.set_result(self._play(job))
        return future

    def close(self) -> None:
        pass

    def _play(self, job: EpisodeSpec) -> Answer:
        if self._deaths[job.key.name] < fake_play.DEATHS.get(job.key.task, 0):
            self._deaths[job.key.name] += 1
            return Failed(key=job.key, reason='SIGKILL.', error='WorkerDied', again=True)
        return attempt(fake_play.play, job)


def hire_processes(size: int) -> Workers:
    """Get processes of this machine."""
    return Workers(fake_play.play, size)


def make_plan(settings: RunSettings, **changes: Any) -> RunPlan:
    """Return a plan of the fake suite."""
    values: dict[str, Any] = {
        'settings': settings,
        'config': fake_play.make_config(records=changes.get('record') is not None),
        'make_case': fake_play.make_case,
    }
    return RunPlan(**{**values, **changes})


def run_fake(
    path: Path,
    *tasks: str,
    notes: Notes | None = None,
    hire: Callable[[int], Any] = Here,
    jobs: int = 2,
    ks: tuple[int, ...] = (0, 3),
    trials: int = 2,
    shard: str | None = None,
    **changes: Any,
) -> RunEnd:
    """Run what is missing of a fake suite in a folder."""
    settings = make_settings(suite='fake', tasks=tasks, ks=ks, trials=trials, shard=shard)
    with RunFolder(path) as folder, closing(hire(jobs)) as workers:
        folder.write_settings(settings)
        return run_bench(make_plan(settings, **changes), folder, workers, notes or Notes())


def summary_of(path: Path) -> dict[str, Any]:
    """Return the summary of a folder without what the clock says."""
    with RunFolder(path) as folder:
        assert folder.settings is not None
        results = list(folder.results.values())
        summary = summarize_run(folder.settings, results, folder.sessions)
    return summary.model_dump(mode='json', exclude={'timing', 'episodes_per_minute'})


if __name__ == '__main__':
    record = Path(sys.argv[1]).with_suffix('.talk.jsonl')
    options = {'ks': KS, 'trials': TRIALS, 'record': record, 'hire': hire_processes}
    run_fake(Path(sys.argv[1]), *sys.argv[2:], **options)
