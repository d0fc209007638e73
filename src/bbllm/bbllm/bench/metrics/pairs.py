"""
Paired differences: the same cases, played twice, A minus B.

Two runs with the same suite and seed put the same tables before two planners, models or limits
of feedback. Comparing case by case takes out how hard the cases are, so that a difference shows
with far fewer episodes than two independent rates would need.

Which one is better is read from the pairs in which neither episode was lost: where a server was
down, nobody learnt anything of the planner that would have asked it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bbllm.bench.log.intervals import Estimate, mcnemar, mean_of, paired_rate_difference
from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.metrics.metrics import executability

Measure = Callable[[EpisodeResult], float | None]
Verdict = Literal['A', 'B', 'equal', 'luck', 'unclear', 'none']

GREATEST_P = 0.05
"""How probable a split may be by chance and still show a difference; fits the 95 % intervals."""

MEASURES: Mapping[str, tuple[Measure, str]] = {
    'gcr': (lambda result: result.gcr, 'higher'),
    'exec': (lambda result: executability(result.executable, result.attempted), 'higher'),
    'loops': (lambda result: result.loops, 'lower'),
    'model_calls': (lambda result: result.model_calls, 'lower'),
    'tokens': (lambda result: result.tokens, 'lower'),
    'cost': (lambda result: result.cost, 'lower'),
    'robot_s': (lambda result: result.robot_s, 'lower'),
}
"""By name: how to measure an episode, and which direction is better."""

TIMES: Mapping[str, tuple[Measure, str]] = {
    'model_s': (lambda result: result.model_s, 'lower'),
    'wall_s': (lambda result: result.wall_s, 'lower'),
}
"""The same of what depends on machines and servers."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One case, played twice."""

    a: EpisodeResult
    b: EpisodeResult

    @property
    def case(self) -> tuple[str, int]:
        """Task and trial."""
        return (self.a.key.task, self.a.key.trial)

    @property
    def lost(self) -> bool:
        """Whether infrastructure failed in one of them."""
        return self.a.lost or self.b.lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """What pairs, and what does not."""

    k_a: int
    k_b: int
    pairs: tuple[Pair, ...]
    """By task and trial."""
    other_case: tuple[tuple[str, int], ...] = ()
    """Task and trial of what has the same name in both, but another table, goal or words."""
    only_a: tuple[tuple[str, int], ...] = ()
    only_b: tuple[tuple[str, int], ...] = ()

    @property
    def unpaired(self) -> int:
        """How many episodes of both have no partner."""
        return 2 * len(self.other_case) + len(self.only_a) + len(self.only_b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A minus B of one measure."""

    measure: str
    a: float | None
    """Mean of A over the pairs that count."""
    b: float | None
    difference: Estimate
    better: str
    """`higher` or `lower`: what is good of this measure."""
    p: float | None = None
    """Of rates: how probable a split at least this uneven is if neither is better."""
    lost: int = 0
    """How many of these pairs infrastructure decided, so that they tell nothing of A and B."""

    @property
    def excludes_0(self) -> bool:
        """Whether the interval excludes 0."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def certain(self) -> bool:
        """Whether a winner is beyond luck: by the interval, and by the test where there is one."""
        return bool(self.winner) and self.excludes_0 and (self.p is None or self.p <= GREATEST_P)

    @property
    def winner(self) -> str:
        """Who is better in these pairs, certain or not: `A`, `B`, or '' where neither is."""
        value = self.difference.value
        if not value or self.lost:
            return ''
        return 'A' if (value > 0) == (self.better == 'higher') else 'B'


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that pairs say."""

    pairing: Pairing
    differences: tuple[Difference, ...]
    """SR first; it is over all pairs. The others are over pairs in which neither was lost, and in
    which both have that figure; of them `sr_judged`, the same rate, is the first. `informed`
    follows where something had to be found out in both, over those pairs alone, and
    `false_success` where there is one, and `faithful` where a rule was broken."""
    lost_a: int
    """Pairs in which infrastructure failed in A; in SR that counts as not passed."""
    lost_b: int
    lost_pairs: int
    """Pairs in which it failed in either or both."""
    mcnemar_p: float
    """The exact test over pairs in which neither was lost."""
    only_a_passed: tuple[tuple[str, int], ...]
    """Among the same pairs."""
    only_b_passed: tuple[tuple[str, int], ...]
    other_needs: tuple[tuple[str, int], ...] = ()
    """Among the same pairs those in which something had to be found out in one only, so that their
    suites ask for other things (`needs`): `informed` leaves them out."""

    @property
    def judged(self) -> Difference:
        """The success in pairs in which neither was lost."""
        return self.differences[1]

    @property
    def verdict(self) -> Verdict:
        """
        Who passes more often, by the pairs in which neither was lost.

        `luck`: neither interval nor test shows a difference; `unclear`: only one of them does;
        `none`: there is no such pair.
        """
        success = self.judged
        if not success.difference.n:
            return 'none'
        if not success.winner:
            return 'equal'
        if success.certain:
            return 'A' if success.winner == 'A' else 'B'
        shown = success.excludes_0 or self.mcnemar_p <= GREATEST_P
        return 'unclear' if shown else 'luck'


def pair_up(
    a: Sequence[EpisodeResult], b: Sequence[EpisodeResult], *, k_a: int, k_b: int
) -> Pairing:
    """
    Pair the episodes of A with K = k_a and those of B with K = k_b by task and trial.

    Episodes pair only where the fingerprints of their cases agree. A and B may be the same run.
    """
    first, second = _of_k(a, k_a), _of_k(b, k_b)
    both = sorted(first.keys() & second.keys())
    same = [case for case in both if _same_case(first[case], second[case])]
    return Pairing(
        k_a=k_a,
        k_b=k_b,
        pairs=tuple(Pair(first[case], second[case]) for case in same),
        other_case=tuple(case for case in both if case not in set(same)),
        only_a=tuple(sorted(first.keys() - second.keys())),
        only_b=tuple(sorted(second.keys() - first.keys())),
    )


def compare(pairing: Pairing, *, times: bool = True) -> Comparison:
    """
    Say what pairs differ in.

    Args:
        pairing: At least one pair, or there is nothing but empty figures.
        times: Whether to compare wall times too, which no second run will repeat.
    """
    pairs = pairing.pairs
    judged = [pair for pair in pairs if not pair.lost]
    measures = {**MEASURES, **TIMES} if times else MEASURES
    only_a = tuple(pair.case for pair in judged if pair.a.passed and not pair.b.passed)
    only_b = tuple(pair.case for pair in judged if pair.b.passed and not pair.a.passed)
    return Comparison(
        pairing=pairing,
        differences=(
            _success('sr', pairs),
            _success('sr_judged', judged),
            *_informed(judged),
            *_false_success(judged),
            *_faithful(judged),
            *(_difference(name, judged, *measures[name]) for name in measures),
        ),
        lost_a=sum(pair.a.lost for pair in pairs),
        lost_b=sum(pair.b.lost for pair in pairs),
        lost_pairs=len(pairs) - len(judged),
        mcnemar_p=mcnemar(len(only_a), len(only_b)),
        only_a_passed=only_a,
        only_b_passed=only_b,
        other_needs=tuple(
            pair.case for pair in judged if (pair.a.informed is None) != (pair.b.informed is None)
        ),
    )


def ks_of(results: Sequence[EpisodeResult]) -> tuple[int, ...]:
    """Return which limits of feedback a run has, least first."""
    return tuple(sorted({result.key.k for result in results}))


def _of_k(results: Sequence[EpisodeResult], k: int) -> dict[tuple[str, int], EpisodeResult]:
    keys: list[EpisodeKey] = [result.key for result in results if result.key.k == k]
    if len(set(keys)) != len(keys):
        raise ValueError(f'A run holds each episode once, but one with K = {k} is there twice.')
    return {(r.key.task, r.key.trial): r for r in results if r.key.k == k}


def _same_case(a: EpisodeResult, b: EpisodeResult) -> bool:
    # Without a fingerprint nothing says that they were the same.
    return bool(a.case_hash) and a.case_hash == b.case_hash


def _informed(pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Return the difference in informed success; none where nothing had to be found out."""
    both = [p for p in pairs if p.a.informed is not None and p.b.informed is not None]
    return (_success('informed', both, lambda r: r.informed_success),) if both else ()


def _false_success(pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Return the difference in false success; none where there is no such thing."""
    if not any(pair.a.false_success or pair.b.false_success for pair in pairs):
        return ()
    return (_rate('false_success', pairs, lambda result: result.false_success, 'lower'),)


def _faithful(pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Return the difference in faithfulness; none where no rule was broken."""
    both = [p for p in pairs if None not in (p.a.faithful, p.b.faithful)]
    broken = any(not (p.a.faithful and p.b.faithful) for p in both)
    return (_success('faithful', both, lambda r: r.faithful is True),) if broken else ()


def _passed(result: EpisodeResult) -> bool:
    return result.passed


def _success(
    measure: str, pairs: Sequence[Pair], passed: Callable[[EpisodeResult], bool] = _passed
) -> Difference:
    return _rate(measure, pairs, passed, 'higher')


def _rate(
    measure: str, pairs: Sequence[Pair], passed: Callable[[EpisodeResult], bool], better: str
) -> Difference:
    counts = {(x, y): 0 for x in (True, False) for y in (True, False)}
    for pair in pairs:
        counts[passed(pair.a), passed(pair.b)] += 1
    n = len(pairs)
    return Difference(
        measure=measure,
        a=sum(passed(pair.a) for pair in pairs) / n if n else None,
        b=sum(passed(pair.b) for pair in pairs) / n if n else None,
        difference=paired_rate_difference(
            counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        ),
        better=better,
        p=mcnemar(counts[True, False], counts[False, True]),
        lost=sum(pair.lost for pair in pairs),
    )


def _difference(name: str, pairs: Sequence[Pair], measure: Measure, better: str) -> Difference:
    measured = [(measure(pair.a), measure(pair.b)) for pair in pairs]
    known = [(a, b) for a, b in measured if a is not None and b is not None]
    return Difference(
        measure=name,
        a=mean_of(a for a, _ in known).value,
        b=mean_of(b for _, b in known).value,
        difference=mean_of(a - b for a, b in known),
        better=better,
    )
