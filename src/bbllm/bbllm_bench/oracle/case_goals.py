"""Hands the goal of each case to the models that need it; no other model ever gets it."""

import itertools
import math
import zlib
from collections.abc import Iterable

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.errors import ConfigError
from bbllm.core.goals import kinds_in
from bbllm.core.protocols import refusal
from bbllm.core.registry import needs_goal
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models
from bbllm.scene.hand_force import PERIOD_S, WINDOW_S
from bbllm_bench.oracle.goal_brief import GoalBrief, KnownGoal
from bbllm_bench.oracle.hidden_search import READING_SD_N
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Conditions, Corners, Hold, Needs, Tower
from bbllm_bench.suites.suite import AnyGoal, TaskSpec

SAMPLES = round(WINDOW_S / PERIOD_S) + 1
"""How many samples of the sensor one reading is the mean of."""
CERTAIN_SDS = 2.8
"""So many deviations apart, two weights are in the wrong order once in 390 times."""
ODD_SDS = 3.4
"""The same where one of five weighs other than the rest, heavier or lighter: eight ways to err."""
MOST_WEIGHED = 23
"""Two blocks with so many readings each are one plan of 50 actions."""


def brief_of(case: Case, seed: int) -> GoalBrief:
    """
    Return what is handed over of a case: neither weights, nor which objects are fixed.

    Cases guess differently with the same seed.

    Raises:
        ConfigError: Goals of that kind are not known.
    """
    name = f'{case.suite}/{case.task}/{case.trial}/{seed}'
    given: dict[str, object] = {'seed': zlib.crc32(name.encode()), 'solution': case.solution}
    if case.needs == 'movable':  # then the instruction has how many are fixed
        given['n_fixed'] = sum(spec.fixed for spec in case.table.objects)
    if case.needs == 'weights':
        given['readings'] = readings_for(case)
    given['off_centre'] = case.goal.kind == 'tower' and case.table.grip_offset_m != 0.0
    return _brief(case.goal, case.needs, case.task).model_copy(update=given)


def readings_for(case: Case) -> int:
    """
    Return how often each block has to be weighed so that the order is right with CERTAIN_SDS.

    Two means of n readings differ with a deviation of s * sqrt(2 / n), s that of one reading, so
    n = 2 (CERTAIN_SDS * s / gap)^2 for the smallest gap between two weights. One, where that is
    less than the reading of an exact sensor is off; no more than MOST_WEIGHED.
    """
    scene = case.table
    odd = isinstance(case.goal, Hold) and case.goal.which == 'odd'
    weights = sorted({spec.mass * GRAVITY_M_S2 for spec in scene.objects if not spec.fixed})
    sd_n = scene.force_noise_n.sd / math.sqrt(SAMPLES)
    if len(weights) < 2 or sd_n <= READING_SD_N:
        return 1
    gap_n = min(b - a for a, b in itertools.pairwise(weights))
    sds = ODD_SDS if odd else CERTAIN_SDS
    return min(MOST_WEIGHED, math.ceil(2 * (sds * sd_n / gap_n) ** 2))


def with_goal(llm: LlmConfig, case: Case) -> LlmConfig:
    """
    Return the sections with the goal of a case, where the provider of the Brain needs it.

    Raises:
        ConfigError: See `brief_of`.
    """
    return _with(llm, brief_of(case, case.seed)) if needs_goal(llm.brain.provider) else llm


def with_goal_of(llm: LlmConfig, tasks: Iterable[TaskSpec]) -> LlmConfig:
    """Return the sections with a goal of the kind that a run has: enough to build the models."""
    task = next(iter(tasks))
    return llm if task.houses else _with(llm, _brief(task.goal, task.needs, task.name))


def check_goals(tasks: Iterable[TaskSpec], models: Models, planner: str) -> None:
    """
    Refuse tasks on the table whose goals cannot be handed over, before anything is started.

    Raises:
        ConfigError: A goal is of another kind, or the model cannot answer the planner.
    """
    if not needs_goal(models.brain.name):
        return
    for task in tasks:
        _brief(task.goal, task.needs, task.name)
    if why := refusal(models.brain, planner):
        raise ConfigError(why)


def _with(llm: LlmConfig, brief: GoalBrief) -> LlmConfig:
    goal = brief.model_dump(mode='json', exclude_defaults=True)
    return llm.model_copy(update={'brain': llm.brain.model_copy(update={'goal': goal})})


def _brief(goal: AnyGoal, needs: Needs, task: str) -> GoalBrief:
    elsewhere = isinstance(goal, Conditions) and not {*kinds_in(goal.texts[0])} <= {'in'}
    if not isinstance(goal, KnownGoal) or elsewhere:
        raise ConfigError(
            f'The task {task} has the goal {goal.kind}, which `expert` and `uninformed` cannot '
            'reach. They reach tower, corners, hold, layout, those of benchmarks, and conditions '
            'such as `in(a, b)`; choose tasks that have one of these: --tasks.'
        )
    by_what_is_fixed = (isinstance(goal, Tower) and goal.order == 'on_fixed') or (
        isinstance(goal, Corners) and goal.which == 'movable'
    )
    if needs == 'movable' and not by_what_is_fixed:
        raise ConfigError(
            f'The task {task} needs movable for a goal in which what is fixed has no place of its '
            'own, so that `expert` and `uninformed` would ignore it. They find out what is fixed '
            'for a tower with order: on_fixed and for corners with which: movable, for any number '
            'of fixed blocks; choose such tasks: --tasks.'
        )
    return GoalBrief(goal=goal, needs=needs)
