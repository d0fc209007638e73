"""The tables that are counted from single episodes: heat maps and breakdowns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.metrics.metrics import Figures
from bbllm_bench.report import words

VERDICTS = ('passed', 'failed', 'lost')
LUCKY = '(✓)'
"""Stands for an episode that passed although what it needed had not been found out."""
SIGNS = {'passed': '✓', 'lost': '×'}
STRONGEST = 0.62
"""How strongly a cell is coloured at most; ink must stay readable on it in light and dark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One field of a heat map."""

    text: str = ''
    kind: str = 'none'
    """A verdict, or `none` where nothing was played."""
    strength: float = 0
    """Opacity of its colour, 0 to 1."""
    title: str
    """The same in words."""
    link: str = ''
    """Where on the page there is more, '' where nowhere."""


HeatRow = tuple[str, tuple[Cell, ...]]
"""A task of a heat map, and its cells."""


Counts = tuple[str, tuple[int, ...]]
"""One line of a breakdown: a name, and a count for each column."""


def episode_maps(
    results: Iterable[EpisodeResult],
    tasks: Sequence[str],
    trials: Sequence[int],
    ks: Sequence[int],
) -> list[tuple[int, tuple[HeatRow, ...]]]:
    """Return verdict and GCR of every episode: for each K, a row for each task."""
    known = {result.key: result for result in results}

    def row(task: str, k: int) -> HeatRow:
        keys = [EpisodeKey(task, trial, k) for trial in trials]
        return task, tuple(_episode_cell(known.get(key), key.trial, k) for key in keys)

    return [(k, tuple(row(task, k) for task in tasks)) for k in ks]


def by_name(groups: Sequence[Mapping[str, int]]) -> tuple[Counts, ...]:
    """Return counts of several groups by name, the most frequent first."""
    total: Counter[str] = Counter()
    for group in groups:
        total.update(group)
    names = sorted(filter(total.get, total), key=lambda name: (-total[name], name))
    return tuple((name, tuple(group.get(name, 0) for group in groups)) for name in names)


def errors(groups: Sequence[Figures]) -> tuple[Counts, ...]:
    """Return how many episodes an error ended, by its type and K."""
    # A lost episode without an error is counted by its ending, and only there.
    return by_name([{**group.lost_errors, **group.errors} for group in groups])


def endings(results: Iterable[EpisodeResult]) -> tuple[Counts, ...]:
    groups: dict[str, Counter[str]] = {verdict: Counter() for verdict in VERDICTS}
    for result in results:
        groups.setdefault(result.verdict, Counter())[result.ending] += 1
    return by_name([groups[verdict] for verdict in VERDICTS])


def _episode_cell(result: EpisodeResult | None, trial: int, k: int) -> Cell:
    where = f'trial {trial}, K = {k}'
    if result is None:
        return Cell(title=f'{where}: not played')
    gcr = words.short_rate(result.gcr)
    text = SIGNS.get(result.verdict, gcr)
    # A failure is the darker the further it is from the goal.
    strength = {'failed': 0.14 + (STRONGEST - 0.14) * (1 - result.gcr), 'lost': 0.25}
    title = f'{where}: {result.verdict}'
    if result.passed and result.informed is False:
        text, title, strength['passed'] = LUCKY, f'{title}, not informed', 0.15
    if not result.lost:
        title += f', GCR {words.two(result.gcr)}'
    return Cell(
        text=text,
        kind=result.verdict if result.verdict in VERDICTS else 'none',
        strength=round(strength.get(result.verdict, 0.45), 2),
        title=f'{title}. {result.reason}'.strip(),
        link=f'e-{result.key.name}',
    )
