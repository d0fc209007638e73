"""Scores of inspect_ai, from the bench's own judgement of the table."""

from collections.abc import Callable
from typing import TypeVar

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    mean,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from bbllm.core.records import from_json, to_json
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.metrics.metrics import executability

Made = TypeVar('Made', bound=Callable[..., object])
RESULT = 'bbllm:result'
"""Where the solver leaves the EpisodeResult in the store of a sample."""
TASK = 'task'
"""Metadata of a sample by which figures are grouped."""
VALUES = {'passed': CORRECT, 'failed': INCORRECT, 'lost': NOANSWER}
SHOWN = (
    *('conditions', 'ending', 'message', 'codes', 'least_loops', 'unsafe', 'robot_s'),
    *('case_hash', 'informed', 'information', 'false_success'),
)
"""What the log has of a result beside verdict and reason."""
NOT_PLAYED = 'The episode did not come to an end, so there is no table to judge.'


def as_bbllm(function: Made) -> Made:
    """
    Have inspect_ai list a function as `bbllm/NAME`.

    It takes the first word of the function's module and checks whether that is installed, so that
    users would have to type the name of the import package, and not that of the distribution. A
    file that is named by its path has no such word, and its tasks have no package in their names.
    """
    if function.__module__.startswith('bbllm_bench.'):
        function.__module__ = 'bbllm'
    return function


def keep_result(state: TaskState, result: EpisodeResult) -> None:
    """Leave a result where the scorers find it."""
    state.store.set(RESULT, to_json(result))


def kept_result(state: TaskState) -> EpisodeResult | None:
    """Return what `keep_result` left."""
    data = state.store.get(RESULT)
    return None if data is None else from_json(EpisodeResult, data)


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), TASK, all=False)])
@as_bbllm
def goal() -> Scorer:
    """Whether the table is as the goal wants it; accuracy is the success rate SR."""
    return _scorer(
        Score(value=NOANSWER, explanation=NOT_PLAYED),
        lambda result: Score(
            value=VALUES[result.verdict],
            answer=result.verdict,
            explanation=result.reason or 'Every condition of the goal is true.',
            metadata={name: data for name, data in to_json(result).items() if name in SHOWN},
        ),
    )


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), TASK, all=False)])
@as_bbllm
def informed() -> Scorer:
    """Whether it passed with all found out that was needed; of tasks that need something."""

    def of(result: EpisodeResult) -> Score:
        if result.informed is None:
            return Score.unscored(explanation='Nothing had to be found out.')
        guessed = result.passed and not result.informed
        return Score(
            value=INCORRECT if guessed else VALUES[result.verdict],
            answer='informed' if result.informed else 'not informed',
            explanation=result.information or result.reason,
        )

    return _scorer(Score(value=NOANSWER, explanation=NOT_PLAYED), of)


@scorer(metrics=[mean(), stderr(), grouped(mean(), TASK, all=False)])
@as_bbllm
def goal_conditions() -> Scorer:
    return _figure(lambda result: result.gcr)


@scorer(metrics=[mean(), stderr(), grouped(mean(), TASK, all=False)])
@as_bbllm
def executable_steps() -> Scorer:
    """Share of the steps tried that were carried out (EXEC), 0 to 1."""
    return _figure(lambda result: executability(result.executable, result.attempted))


@scorer(metrics=[mean(), grouped(mean(), TASK, all=False)])
@as_bbllm
def feedback_loops() -> Scorer:
    return _figure(lambda result: float(result.loops))


def _figure(of: Callable[[EpisodeResult], float | None]) -> Scorer:
    """Score a figure as the bench's summary does: lost or untried episodes are unscored."""

    def score(result: EpisodeResult) -> Score:
        value = None if result.lost else of(result)
        if value is None:
            return Score.unscored(explanation=result.reason or 'No step was tried.')
        return Score(value=value)

    return _scorer(Score.unscored(explanation=NOT_PLAYED), score)


def _scorer(missing: Score, of: Callable[[EpisodeResult], Score]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        result = kept_result(state)
        return missing if result is None else of(result)

    return score
