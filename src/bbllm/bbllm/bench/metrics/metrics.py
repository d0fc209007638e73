"""
SR, GCR and EXEC as the papers define them, and the figures of a group of episodes.

Definitions: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
section 4 (metrics); what exactly is counted follows ProgPrompt's evaluation (Singh et al., ICRA
2023; `run_eval.eval` of its release):

    GCR     1 - unsatisfied goal conditions / goal conditions, of one episode
    SR      share of the episodes that passed; an episode that passed has a GCR of 1
    EXEC    steps that were carried out / steps that were tried, of one episode

Three things are stricter here. GCR counts what was spoilt, see `goal_recall`. SR has every
episode in its denominator: a disputed one and one that was lost to infrastructure count as not
passed, and stand in columns of their own. And what passed is said by a checker's verdict, not by
GCR: it may demand more than its conditions name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.bench.log.intervals import Estimate, mean_of, rate_of
from bbllm.bench.log.results import EpisodeResult


def goal_recall(start: Mapping[str, bool], end: Mapping[str, bool]) -> float:
    """
    Return the GCR of one episode, 0 to 1.

    Goals are the conditions that did not hold at the start (they had to be made true) and those
    that hold no longer (they were spoilt). What holds from start to end is nobody's merit: a
    planner that does nothing gets 0, unless nothing was to be done.

    That departs from the papers: there, goals are only what had to be made true, so that a plan
    is forgiven what it broke. Here a spoilt condition is an unsatisfied goal as well, and GCR is
    lower or equal (docs/design/bench-verdicts.md).

    Args:
        start: Whether each condition held before the episode.
        end: Whether it holds now. A condition that names something of the final table, and
            was therefore none at the start, did not hold then.
    """
    goals = [text for text, holds in end.items() if not (holds and start.get(text, False))]
    if not goals:
        return 1.0
    return sum(end[text] for text in goals) / len(goals)


def executability(executable: int, attempted: int) -> float | None:
    """Return the EXEC of one episode, 0 to 1; None where no step was tried."""
    return executable / attempted if attempted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a group of episodes comes to; nothing in it depends on the speed of a machine."""

    n: int
    """Episodes, those that were lost included."""
    passed: int
    disputed: int
    infrastructure_failures: int
    sr: Estimate
    """Over all n."""
    gcr: Estimate
    """Over the episodes that were judged: what was lost has no table to judge."""
    exec: Estimate
    """Over the episodes that were judged and tried a step."""
    loops: Estimate
    """Feedback loops used, over the episodes that were judged."""
    least_loops: float | None
    """Mean of the loops that the tasks demand, over the episodes that were judged."""
    least_loops_met: int
    """Episodes that passed with no more loops than the task demands."""
    passes: int
    """Steps that the Body passed on, in all."""
    model_calls: int
    """In all, those of lost episodes included, as tokens and cost: they are on the bill."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """None where the cost of one episode is not known."""
    robot_s: float
    """Time that passed in the worlds [s]."""
    unsafe: int | None
    """Commands that left the limits; None where they were counted in no episode."""
    unsafe_measured: int
    """In how many episodes they were counted."""
    codes: Mapping[str, int]
    """How often a step did not succeed, by error code."""
    endings: Mapping[str, int]
    """How many episodes ended so."""
    errors: Mapping[str, int]
    """How many episodes an error of this type ended."""
    lost_errors: Mapping[str, int]
    """The same of those that were lost, by ending where there was no error."""
    needing: int
    """Episodes in which something had to be found out."""
    needing_sr: Estimate
    """Share of those that passed, knowingly or not."""
    needing_informed: Estimate
    """Share of those that passed, with all that was needed found out in time."""
    false_success: int
    """Episodes that the planner ended as done although they did not pass."""
    faithful: Estimate
    """Share of the episodes that broke no rule, over those in which that was judged; see
    bench.faithfulness."""
    faithful_two_hands: Estimate
    """The same where holding two things breaks no rule."""
    broken_rules: Mapping[str, int]
    """How often each rule was broken."""
    discarded: int
    """Lines of models' replies that were left out, of both kinds."""
    malformed: int
    """Those that fit no grammar."""
    refused: int
    """Those that can be read but name missing objects or fail a check."""
    held_once: Estimate
    """Share of the episodes in which all of the goal was so at some moment, over all n as SR;
    over none where one was judged without looking at that."""


def figures_of(results: Iterable[EpisodeResult]) -> Figures:
    """Sum up episodes; their order does not matter."""
    group = sorted(results, key=lambda result: result.key)
    judged = [result for result in group if not result.lost]
    tried = [executability(result.executable, result.attempted) for result in judged]
    unsafe = [result.unsafe for result in group if result.unsafe is not None]
    passed = [result for result in group if result.passed]
    needing = [result for result in group if result.informed is not None]
    ruled = [result for result in judged if result.faithful is not None]
    return Figures(
        n=len(group),
        passed=len(passed),
        disputed=sum(result.verdict == 'disputed' for result in group),
        infrastructure_failures=len(group) - len(judged),
        sr=rate_of(len(passed), len(group)),
        gcr=mean_of(result.gcr for result in judged),
        exec=mean_of(share for share in tried if share is not None),
        loops=mean_of(result.loops for result in judged),
        least_loops=mean_of(result.least_loops for result in judged).value,
        least_loops_met=sum(result.loops <= result.least_loops for result in passed),
        passes=sum(result.passes for result in group),
        model_calls=sum(result.model_calls for result in group),
        prompt_tokens=sum(result.prompt_tokens for result in group),
        completion_tokens=sum(result.completion_tokens for result in group),
        cost=_total([result.cost for result in group]),
        robot_s=math.fsum(result.robot_s for result in group),
        unsafe=sum(unsafe) if unsafe else None,
        unsafe_measured=len(unsafe),
        codes=_added(result.codes for result in group),
        endings=_added({result.ending: 1} for result in group),
        errors=_added({result.error: 1} for result in group if result.error),
        lost_errors=_added({result.error or result.ending: 1} for result in group if result.lost),
        needing=len(needing),
        needing_sr=rate_of(sum(result.passed for result in needing), len(needing)),
        needing_informed=rate_of(sum(r.informed_success for r in needing), len(needing)),
        false_success=sum(result.false_success for result in group),
        faithful=rate_of(sum(bool(result.faithful) for result in ruled), len(ruled)),
        faithful_two_hands=rate_of(
            sum(bool(result.faithful_two_hands) for result in ruled), len(ruled)
        ),
        broken_rules=_added(result.broken_rules or {} for result in ruled),
        discarded=sum(result.discarded for result in group),
        malformed=sum(result.malformed for result in group),
        refused=sum(result.refused for result in group),
        held_once=_held_once(group, judged),
    )


def _total(costs: Sequence[float | None]) -> float | None:
    """Add up, but never give a part of the cost for the whole."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if costs and len(known) == len(costs) else None


def _held_once(group: Sequence[EpisodeResult], judged: Sequence[EpisodeResult]) -> Estimate:
    """Return in how many episodes the goal was held; in those that were lost nobody saw it."""
    known = all(result.held_once is not None for result in judged)
    if not judged or not known:
        return rate_of(0, 0)
    return rate_of(sum(result.held_once is True for result in group), len(group))


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add counts by name, the most frequent first."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
