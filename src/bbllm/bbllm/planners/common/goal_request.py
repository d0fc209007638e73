"""The request for the goal of a task: one prompt to the Brain, before there is a plan."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from bbllm.core.errors import ModelError, NoGoalError, ParseError
from bbllm.core.goals import TaskGoal, kinds_for, parse_goal_reply
from bbllm.core.protocols import ChatModel, EpisodeContext, PromptRequest
from bbllm.core.text import cut
from bbllm.core.types import Scene, Task
from bbllm.planners.common.prompting import ask, environment, render, task_text
from bbllm.planners.domains.languages import language_of

GOAL_REQUEST = 'goal'
"""Kind of the request."""
WHY_CHARACTERS = 400
"""So much of why no reply can be used is told [characters]."""


def goal_prompt(task: Task, scene: Scene) -> str:
    """Return the prompt for the conditions that a task asks for."""
    return render(
        'bbllm.planners.common',
        f'{language_of(scene).name}/goal',
        kinds=_kinds(scene.domain),
        environment=environment(scene),
        task=task_text(replace(task, constraints=())),
        added=bool(task.added),
    )


def _kinds(domain: str) -> Iterator[str]:
    """Yield a line for each meaning; kinds without one share that of the next."""
    forms: list[str] = []
    for kind in kinds_for(domain):
        forms.append(kind.form)
        if kind.meaning:
            yield f'{", ".join(forms)}: {kind.meaning}'
            forms.clear()


def ask_goal(brain: ChatModel, task: Task, scene: Scene, context: EpisodeContext) -> TaskGoal:
    """
    Ask a model which conditions a task asks for.

    Raises:
        NoGoalError: Conditions cannot express the task, or no reply could be used.
    """
    request = PromptRequest(kind=GOAL_REQUEST, scene=scene)
    read = partial(parse_goal_reply, scene=scene)
    try:
        goal = ask(brain, goal_prompt(task, scene), read, request=request, on_retry=context.warn)
    except (ModelError, ParseError) as error:
        why = cut(str(error), WHY_CHARACTERS)
        raise NoGoalError(f'the model gave no goal that can be used. {why}') from error
    if goal is None:
        raise NoGoalError('what the task asks for cannot be checked by conditions on the scene')
    return goal
