"""
The prompts of LLM-POP: one for its evaluator, one for its planner.

Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
Robotics Tasks, appendix A.1 and A.2: the same parts in the same order, in other words. The labels
in brackets and the words before a colon at the start of a line are a contract: models
find their way by them. So text from outside is put on one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from bbllm.core.missing_objects import lost_names, lost_text
from bbllm.core.observation import observed
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject, Task
from bbllm.planners.common.prompting import one_line, templates


class PopPrompts:
    """Renders both prompts."""

    def __init__(self) -> None:
        # Without its last line break an included part would run into what follows it.
        self._templates = templates('bbllm.planners.llm_pop', keep_trailing_newline=True)

    def evaluator(self, task: Task, scene: Scene, history: str) -> str:
        """
        Write the prompt that asks how far the task has come.

        Args:
            task: What was asked for.
            scene: As it is now.
            history: What `pop_history.History.text` returns.
        """
        return self._render('evaluator', task, scene, history)

    def planner(self, task: Task, scene: Scene, history: str, evaluation: str | None) -> str:
        """
        Write the prompt that asks what to do next.

        Args:
            task: What was asked for.
            scene: As it is now.
            history: What `pop_history.History.text` returns.
            evaluation: The evaluator's reason; None where there is no evaluator, so that the
                planner has to say itself when the task is done.
        """
        return self._render(
            'planner',
            task,
            scene,
            history,
            blocks=[item.name for item in scene.objects if item.kind in MOVABLE],
            evaluated=evaluation is not None,
            evaluation=one_line(evaluation or ''),
        )

    def _render(self, name: str, task: Task, scene: Scene, history: str, **values: object) -> str:
        template = self._templates.get_template(f'{name}.md.j2')
        common: dict[str, object] = {
            'task': one_line(task.instruction),
            'history': history,
            'situation': [*situation(scene)],
        }
        return template.render(common | values).rstrip()


def situation(scene: Scene) -> Iterator[str]:
    """Yield what can be seen and felt now, a line each, in metres and newtons."""
    for item in scene.objects:
        if item.kind is Kind.FIXTURE:
            yield table_line(item)
    for item in scene.objects:
        if item.kind in MOVABLE:
            size = ' '.join(f'{value:.3f}' for value in item.size_m)
            color = item.color or 'no colour'
            yield f'Block: {item.name}, {item.kind.value}, {color}, size {size}'
    for item in scene.objects:
        if item.kind is Kind.LOCATION:
            x, y, _ = item.pose.position_m
            yield f'Location: {item.name}, centre {x:.3f} {y:.3f}'
    for name in lost_names(scene):
        yield f'Lost: {lost_text(scene, name)}'
    yield f'Observation: {observed(scene)}'


def table_line(item: SceneObject) -> str:
    """Write what a piece of furniture is to the blocks: where its top is [m]."""
    x, y, z = item.pose.position_m
    along, across, height = item.size_m
    top = round(z + height / 2, 3) + 0.0  # adding zero turns the -0.0 of rounding into 0.0
    return f'Table: centre {x:.3f} {y:.3f}, size {along:.3f} {across:.3f}, top {top:.3f}'
