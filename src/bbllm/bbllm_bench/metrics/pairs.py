"""
Paired differences: the same cases, played twice, A minus B.

Two runs with the same suite and seed put the same tables before two planners, models or limits
of feedback. Comparing case by case takes out how hard the cases are, so that a difference shows
with far fewer episodes than two independent rates would need.

Which one is better is read from the pairs in which neither episode was lost: a server that was
down is no evidence about the planner that would have asked it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bbllm_bench.log.intervals import Estimate, Figure, mcnemar, mean_of, paired_rate_difference
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.metrics.metrics import METRICS, PAIRED, TIMES, Metric, SummaryRecord

Verdict = Literal['A', 'B', 'equal', 'luck', 'unclear', 'none']
PairedCase = tuple[str, int]
"""Task and trial."""
GREATEST_P = 0.05
"""How probable a split may be by chance and still show a difference; fits the 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One case, played twice."""

    a: EpisodeResult
    b: EpisodeResult

    @property
    def case(self) -> PairedCase:
        return (self.a.key.task, self.a.key.trial)

    @property
    def lost(self) -> bool:
        """Whether infrastructure failed in one of them."""
        return self.a.lost or self.b.lost

    @property
    def same_case(self) -> bool:
        """Whether they were the same; without a fingerprint this is unknown."""
        return bool(self.a.case_hash) and self.a.case_hash == self.b.case_hash


class PairedDifference(SummaryRecord):
    """A minus B of one metric."""

    a: Figure | None
    """Mean of A over the pairs that count."""
    b: Figure | None
    difference: Estimate
    p: Figure | None = None
    """Of rates: how probable a split at least this uneven is if neither is better."""
    lost: int = 0
    """How many of these pairs infrastructure decided, so that they do not compare A and B."""
    winner: Literal['A', 'B', ''] = ''
    """Which is better in these pairs, certain or not; '' where neither is."""
    certain: bool = False
    """Whether the winner is beyond luck: by the interval, and by the test where there is one."""

    @property
    def excludes_0(self) -> bool:
        return _excludes_0(self.difference)


class Comparison(SummaryRecord):
    """The differences over the pairs of two runs, or of two K of a run."""

    k_a: int
    k_b: int
    pairs: int
    lost_pairs: int
    """Pairs in which infrastructure failed in either or both."""
    lost_a: int
    """Pairs in which it failed in A; in SR that counts as not passed."""
    lost_b: int
    verdict: Verdict
    """
    Which passes more often, by the pairs in which neither was lost.

    `luck`: neither interval nor test shows a difference; `unclear`: only one of them does;
    `none`: there is no such pair.
    """
    mcnemar_p: Figure
    """The exact test over pairs in which neither was lost."""
    holm_p: Figure | None = None
    """The same after Holm's correction for the number of planners, in a comparison of several."""
    only_a_passed: tuple[PairedCase, ...]
    """Among the same pairs."""
    only_b_passed: tuple[PairedCase, ...]
    other_needs: tuple[PairedCase, ...]
    """Among the same pairs those in which something had to be found out in one only, so that their
    suites differ in `needs`: `informed` leaves them out."""
    other_case: tuple[PairedCase, ...]
    only_a: tuple[PairedCase, ...]
    only_b: tuple[PairedCase, ...]
    differences: dict[str, PairedDifference]
    """By the key of the metric. `sr` is over all pairs, all others over pairs in which neither was
    lost and both have a value."""

    @property
    def judged(self) -> PairedDifference:
        """The success in pairs in which neither was lost."""
        return self.differences['sr_judged']

    def shown(self) -> list[str]:
        """Return which metrics a table shows: those that some pair has."""
        return [
            key
            for key in (*PAIRED, *TIMES)
            if (found := self.differences.get(key))
            and found.difference.n
            and (key != 'sr_judged' or self.lost_pairs)
        ]


def compare(
    a: Sequence[EpisodeResult],
    b: Sequence[EpisodeResult],
    *,
    k_a: int,
    k_b: int,
    times: bool = True,
) -> Comparison:
    """
    Compare the episodes of A with K = k_a and those of B with K = k_b, which may be the same run.

    They pair by task and trial, where the fingerprints of their cases agree; without any pair all
    figures are empty. *times* compares wall times too, which no second run repeats.
    """
    first, second = _of_k(a, k_a), _of_k(b, k_b)
    both = [Pair(first[case], second[case]) for case in sorted(first.keys() & second.keys())]
    pairs = [pair for pair in both if pair.same_case]
    judged = [pair for pair in pairs if not pair.lost]
    found = {
        key: _difference(METRICS[key], pairs if key == 'sr' else judged)
        for key in (*PAIRED, *(TIMES if times else ()))
    }
    differences = {key: item for key, item in found.items() if item is not None}
    only_a = tuple(pair.case for pair in judged if pair.a.passed and not pair.b.passed)
    only_b = tuple(pair.case for pair in judged if pair.b.passed and not pair.a.passed)
    p = mcnemar(len(only_a), len(only_b))
    return Comparison(
        k_a=k_a,
        k_b=k_b,
        pairs=len(pairs),
        lost_pairs=len(pairs) - len(judged),
        lost_a=sum(pair.a.lost for pair in pairs),
        lost_b=sum(pair.b.lost for pair in pairs),
        verdict=_verdict(differences['sr_judged'], p),
        mcnemar_p=p,
        only_a_passed=only_a,
        only_b_passed=only_b,
        other_needs=tuple(
            pair.case for pair in judged if (pair.a.informed is None) != (pair.b.informed is None)
        ),
        other_case=tuple(pair.case for pair in both if not pair.same_case),
        only_a=tuple(sorted(first.keys() - second.keys())),
        only_b=tuple(sorted(second.keys() - first.keys())),
        differences=differences,
    )


def ks_of(results: Sequence[EpisodeResult]) -> tuple[int, ...]:
    """Return which limits of feedback a run has, least first."""
    return tuple(sorted({result.key.k for result in results}))


def is_certain(difference: Estimate, p: float | None) -> bool:
    return _excludes_0(difference) and (p is None or p <= GREATEST_P)


def _of_k(results: Sequence[EpisodeResult], k: int) -> dict[PairedCase, EpisodeResult]:
    counted = [result for result in results if result.key.k == k]
    found = {(r.key.task, r.key.trial): r for r in counted}
    if len(found) != len(counted):
        raise ValueError(f'A run has each episode once, but one with K = {k} is there twice.')
    return found


def _difference(metric: Metric, pairs: Sequence[Pair]) -> PairedDifference | None:
    """Return the difference in a metric; None where it is not worth a row."""
    measured = [(metric.of(pair.a), metric.of(pair.b)) for pair in pairs]
    known = [(float(a), float(b)) for a, b in measured if a is not None and b is not None]
    if not known and metric.key not in ('sr', 'sr_judged'):
        return None
    if metric.usual is not None and all(a == b == metric.usual for a, b in known):
        return None
    p = None
    if metric.interval == 'rate':
        split = [known.count(both) for both in ((1, 1), (1, 0), (0, 1), (0, 0))]
        difference, p = paired_rate_difference(*split), mcnemar(split[1], split[2])
    else:
        difference = mean_of(a - b for a, b in known)
    lost = sum(pair.lost for pair in pairs)
    winner: Literal['A', 'B', ''] = ''
    if difference.value and not lost:
        winner = 'A' if (difference.value > 0) == (metric.better == 'higher') else 'B'
    return PairedDifference(
        a=sum(a for a, _ in known) / len(known) if known else None,
        b=sum(b for _, b in known) / len(known) if known else None,
        difference=difference,
        p=p,
        lost=lost,
        winner=winner,
        certain=bool(winner) and is_certain(difference, p),
    )


def _verdict(success: PairedDifference, p: float) -> Verdict:
    if not success.difference.n:
        return 'none'
    if not success.winner:
        return 'equal'
    if success.certain:
        return success.winner
    return 'unclear' if success.excludes_0 or p <= GREATEST_P else 'luck'


def _excludes_0(difference: Estimate) -> bool:
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)
