"""
The comparison of several planners on the same cases: the content of `compare.json`.

Each planner is counted at its largest K. Figures that depend on cases (success, goal conditions,
executable steps, calls, tokens) have 95 % intervals; so have the differences from
the first planner, over the pairs of cases that both played. Where several planners are compared
with one, some difference appears by chance: `holm_p` is McNemar's p after the correction of
S. Holm (Scandinavian Journal of Statistics 6 (1979) 65-70).

Tokens are those that servers counted, and an estimate of the prompts' where one did not count
(core.prompt_size).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.store import SavedRun, episodes_per_minute
from bbllm_bench.metrics.metrics import (
    COSTS,
    SUMMARY,
    Figures,
    SummaryRecord,
)
from bbllm_bench.metrics.pairs import Comparison, compare, ks_of


@dataclass(frozen=True, slots=True)
class PlannerResults:
    """The run of one planner."""

    planner: str
    run: SavedRun

    @property
    def k(self) -> int:
        """The largest number of feedback loops that it was played with."""
        return ks_of(self.run.results)[-1]

    @property
    def results(self) -> tuple[EpisodeResult, ...]:
        """Its episodes with that number."""
        return tuple(result for result in self.run.results if result.key.k == self.k)


class PlannerFigures(Figures):
    """The figures of one planner."""

    planner: str
    folder: str
    k: int
    body: str
    mapping: str
    planned: int
    episodes_per_minute: float | None


class PlannerDifference(SummaryRecord):
    """One planner minus the first one."""

    planner: str
    comparison: Comparison


class LeftOutPlanner(SummaryRecord):
    """A planner that did not play."""

    planner: str
    reason: str


class PlannerComparison(SummaryRecord):
    """Several planners on the same cases."""

    suite: str
    suite_sha256: str
    world: str
    brain: str
    seed: int
    trials: int
    limits: Mapping[str, float | None]
    own_limits: bool
    """Whether a task that was played allows fewer steps."""
    against: str
    """The planner that the others are compared with."""
    planners: tuple[PlannerFigures, ...]
    paired: tuple[PlannerDifference, ...]
    notices: tuple[str, ...] = ()
    left_out: tuple[LeftOutPlanner, ...] = ()
    ended_early: Mapping[str, str] = {}
    """Why, by planner."""


_OF_SETTINGS = {'suite', 'suite_sha256', 'world', 'brain', 'seed', 'trials'}


def comparison_of(entries: Sequence[PlannerResults], *, against: str) -> PlannerComparison:
    """Return the comparison with the planner *against*, without notices and who was left out."""
    settings = entries[0].run.settings
    first = next((entry for entry in entries if entry.planner == against), None)
    played = {result.key.task for entry in entries for result in entry.results}
    known = {task.name: task for entry in entries for task in entry.run.settings.tasks}
    tasks = [task for name, task in known.items() if name in played]
    return PlannerComparison(
        **settings.model_dump(include=_OF_SETTINGS),
        limits=asdict(settings.limits),
        own_limits=any(task.limit_steps for task in tasks),
        against=against,
        planners=tuple(map(_figures, entries)),
        paired=_paired([entry for entry in entries if entry is not first], first) if first else (),
    )


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values that are corrected for their number, in the order given."""
    n = len(p_values)
    order = sorted(range(n), key=lambda i: p_values[i])
    raised = (min(1.0, (n - rank) * p_values[i]) for rank, i in enumerate(order))
    corrected = dict(zip(order, accumulate(raised, max), strict=True))
    return tuple(corrected[i] for i in range(n))


def _figures(entry: PlannerResults) -> PlannerFigures:
    settings = entry.run.settings
    return PlannerFigures.of(
        entry.results,
        (*SUMMARY, *COSTS),
        planner=entry.planner,
        folder=str(entry.run.path),
        k=entry.k,
        body=settings.body,
        mapping=settings.mapping,
        planned=len(settings.cases),
        episodes_per_minute=episodes_per_minute(entry.run.sessions),
    )


def _paired(
    entries: Sequence[PlannerResults], first: PlannerResults
) -> tuple[PlannerDifference, ...]:
    found = {
        entry.planner: compare(entry.results, first.results, k_a=entry.k, k_b=first.k, times=False)
        for entry in entries
    }
    # A verdict by no pair at all is no test, and must not cost the others anything.
    tested = [name for name, item in found.items() if item.pairs > item.lost_pairs]
    corrected = dict(zip(tested, holm([found[name].mcnemar_p for name in tested]), strict=True))
    return tuple(
        PlannerDifference(
            planner=name, comparison=item.model_copy(update={'holm_p': corrected.get(name)})
        )
        for name, item in found.items()
    )
