"""
The registry of metrics, and the figures of a group of episodes.

Definitions: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
section 4 (metrics); what exactly is counted follows ProgPrompt's evaluation (Singh et al., ICRA
2023; `run_eval.eval` of its release):

    GCR     1 - unsatisfied goal conditions / goal conditions, of one episode
    SR      share of the episodes that passed; an episode that passed has a GCR of 1
    EXEC    steps that were carried out / steps that were tried, of one episode

Three definitions are stricter here. GCR counts what was spoilt, see `goal_recall`. SR has every
episode in its denominator: one that was lost to infrastructure counts as not passed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from bbllm_bench.log.intervals import Estimate, Figure, mean_of, rate_of
from bbllm_bench.log.results import EpisodeResult, PictureResult
from bbllm_bench.suites.person import NEEDED


def goal_recall(start: Mapping[str, bool], end: Mapping[str, bool]) -> float:
    """
    Return the GCR of one episode, 0 to 1.

    Goals are the conditions that did not hold at the start (they had to be made true) and those
    that hold no longer (they were spoilt). Conditions that hold from start to end do not count:
    a planner that does nothing gets 0, unless nothing was to be done.

    In the papers goals are only what had to be made true, so that a plan is forgiven what it
    broke; GCR is lower or equal here (design/bench-verdicts.md). A condition that names an
    object of the final table, and was therefore absent at the start, did not hold then.
    """
    goals = [text for text, holds in end.items() if not (holds and start.get(text, False))]
    if not goals:
        return 1.0
    return sum(end[text] for text in goals) / len(goals)


def executability(executable: int, attempted: int) -> float | None:
    """Return the EXEC of one episode, 0 to 1; None where no step was tried."""
    return executable / attempted if attempted else None


def stable_share(result: EpisodeResult) -> float | None:
    """Return which share of the prompts began an earlier one too; None of a single prompt."""
    if result.model_calls < 2 or not result.prompt_chars:
        return None
    return result.stable_chars / result.prompt_chars


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: how to measure an episode, and how to present it."""

    key: str
    """In `summary.json` and `compare.json`."""
    label: str
    """In the heads of tables."""
    title: str
    """In words, with its unit."""
    of: Callable[[EpisodeResult], float | None]
    """The value of an episode; None where the metric does not apply to it."""
    better: Literal['higher', 'lower']
    interval: Literal['rate', 'mean'] = 'mean'
    """`rate`: values are 0 or 1, with Wilson's interval, and in pairs Newcombe's interval and
    McNemar's test. `mean`: bootstrap."""
    digits: int = 2
    counts_lost: bool = False
    """Whether episodes that were lost to infrastructure count."""
    usual: float | None = None
    """Pairs are not compared by this metric where all episodes have this value."""
    less: str = 'needs less'
    """The verb for the better one where lower is better."""

    def estimate(self, results: Iterable[EpisodeResult]) -> Estimate:
        """Return the rate or the mean over the episodes that have a value."""
        counted = (r for r in results if self.counts_lost or not r.lost)
        values = [value for r in counted if (value := self.of(r)) is not None]
        if self.interval == 'rate':
            return rate_of(round(sum(values)), len(values))
        return mean_of(values)

    @property
    def heading(self) -> str:
        return self.label[0].upper() + self.label[1:]

    def write(self, value: float | None, *, sign: bool = False) -> str:
        """Return a value in this metric's digits, '' where there is none."""
        return '' if value is None else f'{value:{"+" if sign else ""},.{self.digits}f}'


def _accepted(result: EpisodeResult) -> bool | None:
    """Return whether the judge by pictures finds the goal reached; None without one."""
    return None if result.by_pictures is None else result.by_pictures.accepted


def _of_pictures(
    value: Callable[[PictureResult], float | None],
) -> Callable[[EpisodeResult], float | None]:
    """Return what measures an episode whose scenes come from pictures; None for others."""
    return lambda result: None if result.by_pictures is None else value(result.by_pictures)


def _answered(kind: str) -> Callable[[EpisodeResult], bool | None]:
    """Return what measures whether an answer to the person is of a kind; None for other tasks."""
    return lambda result: result.answer == kind if result.answer else None


# fmt: off
_METRICS = (
    Metric('sr', 'SR', 'success rate', lambda r: r.passed, 'higher', 'rate', counts_lost=True),
    Metric('sr_judged', 'SR, none lost', 'success, none lost', lambda r: r.passed, 'higher',
           'rate'),
    Metric('state', 'State', 'success where something had to be found out',
           lambda r: None if r.informed is None else r.passed, 'higher', 'rate', counts_lost=True),
    Metric('informed', 'Informed', 'informed success',
           lambda r: None if r.informed is None else r.informed_success, 'higher', 'rate',
           counts_lost=True),
    Metric('asked_needed', 'asked', 'asked before moving, of the tasks that are unclear',
           lambda r: r.asked if r.ask == NEEDED else None, 'higher', 'rate', counts_lost=True),
    Metric('asked_needless', 'needless', 'asked, of the tasks in which nothing had to be asked',
           lambda r: r.asked if r.ask not in ('', NEEDED) else None, 'lower', 'rate',
           less='has fewer'),
    Metric('wrong_unasked', 'wrong unasked', 'ended as done without a question, and wrong',
           lambda r: r.false_success and not r.asked if r.ask else None, 'lower', 'rate',
           less='has fewer'),
    Metric('answer_right', 'right', 'right answers, of the questions of the person',
           _answered('right'), 'higher', 'rate'),
    Metric('answer_wrong', 'wrong', 'wrong answers', _answered('wrong'), 'lower', 'rate'),
    Metric('answer_refused', 'refused', 'questions without an answer that there is',
           _answered('refused'), 'lower', 'rate'),
    Metric('false_success', 'False success', 'false success', lambda r: r.false_success, 'lower',
           'rate', usual=0, less='has fewer'),
    Metric('gcr', 'GCR', 'goal conditions', lambda r: r.gcr, 'higher'),
    Metric('exec', 'EXEC', 'executable steps', lambda r: executability(r.executable, r.attempted),
           'higher'),
    Metric('loops', 'loops', 'feedback loops', lambda r: r.loops, 'lower'),
    Metric('repaired', 'repaired', 'success where a feedback loop was used',
           lambda r: r.passed if r.loops else None, 'higher', 'rate'),
    Metric('model_calls', 'calls', 'model calls', lambda r: r.model_calls, 'lower', digits=1),
    Metric('tokens', 'tokens', 'tokens', lambda r: r.tokens, 'lower', digits=0),
    Metric('robot_s', 'robot, s', 'robot time, s', lambda r: r.robot_s, 'lower', digits=1),
    Metric('model_s', 'model, s', 'model time, s', lambda r: r.model_s, 'lower'),
    Metric('wall_s', 'wall, s', 'wall time, s', lambda r: r.wall_s, 'lower'),
    Metric('steps', 'steps', 'steps', lambda r: r.attempted, 'lower'),
    Metric('judge', 'judge agrees', 'agreement of the judge by pictures with the checker',
           lambda r: r.judge_agrees, 'higher', 'rate'),
    Metric('false_accept', 'false accept', 'accepted by pictures, of what the checker denies',
           lambda r: None if r.passed else _accepted(r), 'lower', 'rate'),
    Metric('false_refuse', 'false refuse', 'refused by pictures, of what the checker passes',
           lambda r: None if not r.passed or r.by_pictures is None else not _accepted(r),
           'lower', 'rate'),
    Metric('recall', 'recall', 'share of the objects that scenes from pictures have',
           _of_pictures(lambda seen: seen.recall), 'higher', digits=4),
    Metric('precision', 'precision', 'share of the objects of these scenes that are there',
           _of_pictures(lambda seen: seen.precision), 'higher', digits=4),
    Metric('position_mm', 'position, mm', 'median position error, mm',
           _of_pictures(lambda seen: seen.position_mm), 'lower'),
    Metric('position_p95_mm', 'p95, mm', '95th percentile of the position error, mm',
           _of_pictures(lambda seen: seen.position_p95_mm), 'lower'),
    Metric('turned_deg', 'turn, deg', 'median orientation error of boxes, degrees',
           _of_pictures(lambda seen: seen.turned_deg), 'lower'),
    Metric('stable_share', 'stable', 'share of the prompts that an earlier began', stable_share,
           'higher'),
)
# fmt: on
METRICS: Mapping[str, Metric] = {metric.key: metric for metric in _METRICS}

SUMMARY = (*('sr', 'state', 'informed', 'gcr', 'exec', 'loops'),)
"""Estimated for every group of episodes of a run."""
OF_TALK = (
    *('asked_needed', 'asked_needless', 'wrong_unasked'),
    *('answer_right', 'answer_wrong', 'answer_refused'),
)
"""The same where a person gives the tasks."""
BY_PICTURES = (
    *('judge', 'false_accept', 'false_refuse'),
    *('recall', 'precision', 'position_mm', 'position_p95_mm', 'turned_deg'),
)
"""The same where scenes come from pictures."""
COSTS = ('repaired', 'model_calls', 'tokens', 'steps', 'stable_share')
"""Estimated for each planner of a comparison too."""
PAIRED = (
    *('sr', 'sr_judged', 'informed', 'false_success', 'gcr', 'exec', 'loops'),
    *('model_calls', 'tokens', 'robot_s', 'repaired'),
)
"""By what the episodes of a pair are compared, in the order of the tables."""
TIMES = ('model_s', 'wall_s')
"""The same for what depends on machines and servers."""


class SummaryRecord(BaseModel):
    """A record that is written to and read from a JSON file."""

    model_config = ConfigDict(frozen=True)


F = TypeVar('F', bound='Figures')
_SUMS = (
    *('passed', 'passes', 'false_success', 'discarded', 'malformed', 'refused'),
    *('model_calls', 'prompt_tokens', 'completion_tokens', 'tokens'),
)


class Figures(SummaryRecord):
    """The figures of a group of episodes; nothing in it depends on the speed of a machine."""

    n: int
    """Episodes, those that were lost included."""
    passed: int
    infrastructure_failures: int
    metrics: Mapping[str, Estimate]
    least_loops: Figure | None
    """Mean of the loops that the tasks demand, over the episodes that were judged."""
    passes: int
    model_calls: int
    """In all, those of lost episodes included, as tokens: they are on the bill."""
    prompt_tokens: int
    completion_tokens: int
    tokens: int
    """Of all episodes; those of prompts as estimated where a server did not count."""
    tokens_estimated: bool
    """Whether tokens of some prompts are estimated."""
    robot_s: Figure
    """Time that passed in the worlds [s]."""
    unsafe: int | None
    """Commands that left the limits; None where they were counted in no episode."""
    unsafe_measured: int
    codes: Mapping[str, int]
    endings: Mapping[str, int]
    errors: Mapping[str, int]
    lost_errors: Mapping[str, int]
    """The same of those that were lost, by ending where there was no error."""
    limits: Mapping[str, int] = {}
    """What unreached goals are due to (scorers.limits), where that is found out."""
    false_success: int
    discarded: int
    malformed: int
    refused: int

    @classmethod
    def of(
        cls: type[F],
        results: Iterable[EpisodeResult],
        metrics: Sequence[str] = SUMMARY,
        **more: Any,
    ) -> F:
        """
        Sum up episodes, whose order does not matter, and estimate some metrics by their keys.

        *more* are fields of a subclass, or values in place of the sums.
        """
        group = sorted(results, key=lambda result: result.key)
        judged = [result for result in group if not result.lost]
        unsafe = [result.unsafe for result in group if result.unsafe is not None]
        estimates = {key: METRICS[key].estimate(group) for key in metrics}
        values = {
            **{key: sum(getattr(result, key) for result in group) for key in _SUMS},
            'n': len(group),
            'infrastructure_failures': len(group) - len(judged),
            'metrics': estimates,
            'least_loops': mean_of(result.least_loops for result in judged).value,
            'tokens_estimated': any(result.sent_tokens > result.prompt_tokens for result in group),
            'robot_s': math.fsum(result.robot_s for result in group),
            'unsafe': sum(unsafe) if unsafe else None,
            'unsafe_measured': len(unsafe),
            'codes': _added(result.codes for result in group),
            'endings': _added({result.ending: 1} for result in group),
            'errors': _added({result.error: 1} for result in group if result.error),
            'limits': _added({result.limit: 1} for result in group if result.limit),
            'lost_errors': _added({r.error or r.ending: 1} for r in group if r.lost),
        }
        return cls(**{**values, **more})

    @property
    def needing(self) -> int:
        """Episodes in which something had to be found out."""
        return self.rate('state').n

    @property
    def tokens_text(self) -> str:
        """The tokens in all, marked where they are estimated; '' where there are none."""
        return f'{"~" * self.tokens_estimated}{self.tokens:,}' if self.tokens else ''

    def rate(self, key: str) -> Estimate:
        """Return the estimate of a metric, an empty one where it was not estimated."""
        return self.metrics.get(key) or Estimate(None, None, None, 0)

    def value(self, key: str) -> float | None:
        return self.rate(key).value


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
