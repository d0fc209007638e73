"""The tables that are counted from single episodes: breakdowns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.metrics.metrics import Figures

VERDICTS = ('passed', 'failed', 'lost')
Counts = tuple[str, tuple[int, ...]]
"""One line of a breakdown: a name, and a count for each column."""


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
