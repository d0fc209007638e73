"""The figures of rehearsals: what changes with them, and how well they predict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.constants import TwinError
from bbllm.core.events import PlanRehearsed, RepairBegun
from bbllm.core.journal import read_episode
from bbllm.core.types import Outcome, Status
from bbllm_bench.benchmarks.rehearsal.foresight import Foreseen
from bbllm_bench.benchmarks.shared import rate_text
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.store import EPISODES
from bbllm_bench.report.grid import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFigures:
    """One way to play the same episodes."""

    variant: str
    episodes: int
    passed: int
    arm_s: float
    """Of all episodes together [s]."""
    calls: int
    failed_calls: int
    """That the arm tried and that failed."""
    rejected_calls: int
    """That moved nothing, by a precondition or a rehearsal."""
    unsafe: int
    """Commands that left limits or work space."""
    loops: int
    """Repairs of what the arm has tried."""
    rehearsed_loops: int
    """Repairs of what failed in a rehearsal."""
    rehearsals: int
    rehearsal_s: float
    """Wall clock of all rehearsals [s]."""
    tokens: int
    passed_cases: tuple[tuple[str, int], ...] = ()
    """Task and trial."""


def variant_figures(
    variant: str, folder: Path, results: Sequence[EpisodeResult]
) -> VariantFigures:
    """Return the figures of a run, from its results and journals."""
    played = [result for result in results if not result.lost]
    events = [
        event.data
        for result in played
        for event in read_episode(folder / EPISODES / f'{result.key.name}.jsonl').events
    ]
    outcomes = [data for data in events if isinstance(data, Outcome)]
    repairs = [data for data in events if isinstance(data, RepairBegun)]
    rehearsals = [data for data in events if isinstance(data, PlanRehearsed)]
    passed = [result for result in played if result.verdict == 'passed']
    return VariantFigures(
        variant=variant,
        episodes=len(played),
        passed=len(passed),
        arm_s=sum(outcome.duration_s for outcome in outcomes),
        calls=len(outcomes),
        failed_calls=sum(outcome.status is Status.FAILED for outcome in outcomes),
        rejected_calls=sum(outcome.status is Status.REJECTED for outcome in outcomes),
        unsafe=sum(result.unsafe or 0 for result in played),
        loops=sum(not repair.rehearsed for repair in repairs),
        rehearsed_loops=sum(repair.rehearsed for repair in repairs),
        rehearsals=len(rehearsals),
        rehearsal_s=sum(rehearsal.wall_s for rehearsal in rehearsals),
        tokens=sum(result.prompt_tokens + result.completion_tokens for result in played),
        passed_cases=tuple(sorted((result.key.task, result.key.trial) for result in passed)),
    )


def variants_grid(title: str, rows: Sequence[VariantFigures]) -> Grid:
    """Return a row for each way to play; gains and losses are those beside the first row."""
    first = {*rows[0].passed_cases}
    return Grid(
        title=title,
        header=(
            *('variant', 'episodes', 'SR', 'only here', 'only without', 'failed on the arm'),
            *('rejected', 'unsafe', 'calls', 'loops', 'rehearsed loops', 'arm s', 'rehearsal s'),
            'tokens',
        ),
        rows=tuple(
            (
                row.variant,
                str(row.episodes),
                rate_text(row.passed, row.episodes),
                str(len({*row.passed_cases} - first)),
                str(len(first - {*row.passed_cases})),
                str(row.failed_calls),
                str(row.rejected_calls),
                str(row.unsafe),
                str(row.calls),
                str(row.loops),
                str(row.rehearsed_loops),
                f'{row.arm_s:.0f}',
                f'{row.rehearsal_s:.0f}',
                str(row.tokens),
            )
            for row in rows
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForesightFigures:
    """How well simulations of one kind predict."""

    twin_error: TwinError
    calls: int
    failed: int
    foreseen: int
    """Of the calls that failed, those that failed in most of the simulations too."""
    false_alarms: int
    """Of the calls that succeeded, those that were predicted to fail."""
    brier: float
    """Mean square of predicted share minus outcome (0 or 1): 0 is perfect, and a prediction of the
    base rate has base rate times its complement. G. W. Brier, Monthly Weather Review 78 (1950)."""
    bins: tuple[tuple[float, int, int], ...]
    """By predicted share: the share, how many calls, and how many of them succeeded."""


def foresight_figures(calls: Sequence[Foreseen]) -> Iterator[ForesightFigures]:
    """Yield the figures for each kind of simulation that has predicted the calls."""
    for error in calls[0].shares if calls else ():
        pairs = [(call.shares[error], call.succeeded) for call in calls]
        warned = [succeeded for share, succeeded in pairs if share < 0.5]
        shares = sorted({share for share, _ in pairs})
        by_share: Mapping[float, list[bool]] = {
            share: [succeeded for other, succeeded in pairs if other == share] for share in shares
        }
        yield ForesightFigures(
            twin_error=error,
            calls=len(pairs),
            failed=sum(not succeeded for _, succeeded in pairs),
            foreseen=sum(not succeeded for succeeded in warned),
            false_alarms=sum(warned),
            brier=sum((share - succeeded) ** 2 for share, succeeded in pairs) / len(pairs),
            bins=tuple((share, len(each), sum(each)) for share, each in by_share.items()),
        )


def foresight_grid(rows: Sequence[ForesightFigures]) -> Grid:
    """Return a row for each kind of simulation."""
    return Grid(
        title='Calls drawn at random: predicted and carried out',
        header=(
            *('wrong in the simulations', 'calls', 'failed', 'foreseen', 'false alarms'),
            'Brier score',
        ),
        rows=tuple(
            (
                'nothing' if row.twin_error == 'none' else row.twin_error,
                str(row.calls),
                str(row.failed),
                rate_text(row.foreseen, row.failed),
                rate_text(row.false_alarms, row.calls - row.failed),
                f'{row.brier:.3f}',
            )
            for row in rows
        ),
    )
