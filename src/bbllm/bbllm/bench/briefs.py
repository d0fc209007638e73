"""Tells `expert` and `uninformed` the goal of each case; no other model is ever told."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from bbllm.bench.household_expert.answering import check_houses
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.goals import Contained, Corners, Hold, Needs, Tower
from bbllm.bench.suites.suite import AnyGoal, TaskSpec
from bbllm.core.errors import ConfigError
from bbllm.core.registry import find_planner, plain_name
from bbllm.llm.config import LlmConfig
from bbllm.llm.expert.brief import TOLD, ExpertBrief
from bbllm.llm.expert.containing import PLANNERS as CONTAINING
from bbllm.llm.model_factory import Models

KNOWN = ('tower', 'corners', 'hold', 'contained')
"""Goals that a brief can state."""


def brief_of(case: Case, seed: int) -> ExpertBrief:
    """
    Return what is to be told of a case.

    Args:
        case: The case; what its things weigh, and which are fixed, stays unsaid; how many
            are fixed is in its instruction where that matters.
        seed: Of guesses; other cases guess differently with the same one.

    Raises:
        ConfigError: Nothing is known of goals of that kind.
    """
    name = f'{case.suite}/{case.task}/{case.trial}/{seed}'
    brief = _brief(case.goal, case.needs, f'The task {case.task}')
    told: dict[str, object] = {'seed': zlib.crc32(name.encode())}
    if case.needs == 'movable':
        told['n_fixed'] = sum(spec.fixed for spec in case.table.objects)
    return brief.model_copy(update=told)


def with_brief(llm: LlmConfig, case: Case, *, said: str | None = None) -> LlmConfig:
    """
    Return the sections with a case's brief, where somebody has to be told.

    Args:
        llm: The sections.
        case: What is played.
        said: A provider or a model's name that wins over that of the section.

    Raises:
        ConfigError: See `brief_of`.
    """
    if (said or llm.brain.provider) not in TOLD:
        return llm
    return _with(llm, brief_of(case, case.seed))


def check_goals(tasks: Iterable[TaskSpec], models: Models, planner: str) -> None:
    """
    Refuse tasks whose goals cannot be told, before anything is started.

    Args:
        tasks: Tasks of one suite.
        models: Who is asked; only stand-ins are refused anything.
        planner: Whose prompts it gets.

    Raises:
        ConfigError: One has a goal of another kind, or needs what nobody who is told finds out
            for it; names those that are known. Or the prompts of the planner are not known in
            that world.
    """
    tasks = tuple(tasks)
    if any(task.houses for task in tasks):
        check_houses(tasks, models, planner)
        return
    if models.brain.name not in TOLD:
        return
    for task in tasks:
        # A goal of which nothing is known is so for every planner.
        _brief(task.goal, task.needs, f'The task {task.name}')
        _check_planner(models.brain.name, planner, task.goal)


def _check_planner(brain: str, planner: str, goal: AnyGoal) -> None:
    """Refuse a planner whose prompts a stand-in does not read for goals of that kind."""
    reads = plain_name(planner) in CONTAINING
    contained = isinstance(goal, Contained)
    if contained and not reads:
        raise ConfigError(
            f'The planner {planner} cannot work with `{brain}` where things go into containers: '
            'its prompts tell of blocks and of no containers. Choose one of '
            f'{", ".join(CONTAINING)}.'
        )
    # Who is not told the goal plays on tables of blocks alone.
    on_blocks = 'uninformed' in find_planner(planner).stand_ins
    if not contained and not on_blocks:
        raise ConfigError(
            f'The planner {planner} cannot work with `{brain}` on a table of blocks: there it '
            'knows the prompts of llm_pop, ft_cot and ft_vanilla. Choose one of these, one of '
            'the suites table_sorting and household, or a language model.'
        )


def with_any_brief(llm: LlmConfig) -> LlmConfig:
    """Return the sections with a brief of no case: enough to find out who would answer."""
    return _with(llm, ExpertBrief(goal='tower'))


def _with(llm: LlmConfig, brief: ExpertBrief) -> LlmConfig:
    return llm.model_copy(update={'brain': llm.brain.model_copy(update={'brief': brief})})


def _by_what_is_fixed(goal: AnyGoal) -> bool:
    """Tell whether a goal says itself where fixed blocks belong, or which ones it leaves out."""
    return (isinstance(goal, Tower) and goal.order == 'on_fixed') or (
        isinstance(goal, Corners) and goal.which == 'movable'
    )


def _brief(goal: AnyGoal, needs: Needs, label: str) -> ExpertBrief:
    if needs == 'movable' and not _by_what_is_fixed(goal):
        raise ConfigError(
            f'{label} needs movable for a goal in which what is fixed has no place of its own, '
            f'so that {" and ".join(TOLD)} would not heed it. They find out what is fixed for a '
            'tower with order: on_fixed and for corners with which: movable, whatever the number '
            'of fixed blocks; choose such tasks: --tasks.'
        )
    if isinstance(goal, Tower):
        return ExpertBrief(goal='tower', needs=needs, order=goal.order, height=goal.height)
    if isinstance(goal, Corners):
        return ExpertBrief(goal='corners', needs=needs, which=goal.which)
    if isinstance(goal, Hold):
        return ExpertBrief(goal='hold', needs=needs, which=goal.which)
    if isinstance(goal, Contained):
        return ExpertBrief(goal='contained', inside=goal.inside)
    raise ConfigError(
        f'{label} has the goal {goal.kind}, of which {" and ".join(TOLD)} know nothing. They know '
        f'{", ".join(KNOWN)}; choose tasks that have one of these: --tasks.'
    )
