"""Prompts of tasks and steps in plain words, for the baselines of ProgPrompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.types import PlanStep, Scene, Task
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import one_line
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes
from bbllm.planners.common.templates import source, templates
from bbllm.planners.prog_prompt.prompting import declared, moves_to_containers, offered

_TASK = 'Task: '


@dataclass(frozen=True, slots=True)
class Example:
    """A task whose steps are known."""

    task: str
    steps: tuple[PlanStep, ...]

    def __str__(self) -> str:
        return '\n'.join([f'{_TASK}{self.task}', *map(str, self.steps)])


class LangPrompts:
    """Renders the prompts in words."""

    def __init__(self) -> None:
        self._templates = templates('lang_prompt')

    def examples(self, scene: Scene) -> tuple[Example, ...]:
        """Return the examples for a scene, in the order in which they are shown."""
        name = 'containers' if moves_to_containers(scene) else scene.domain
        text = source(self._templates, f'{name}.md')
        return tuple(_example(block) for block in text.strip().split('\n\n'))

    def whole(self, task: Task, scene: Scene, examples: Sequence[Example]) -> str:
        """Write the prompt for all steps, which tells what there is and what can be done."""
        things = classes(scene) if scene.domain == HOUSEHOLD else list(scene.names)
        return self._render(
            task, examples, objects=things, actions=[declared(skill) for skill in offered(scene)]
        )

    def steps(self, task: Task, example: Example) -> str:
        """Write the prompt for all steps that tells nothing but one example."""
        return self._render(task, [example])

    def next_step(self, task: Task, example: Example, so_far: Sequence[PlanStep]) -> str:
        """Write the prompt for one more step."""
        return self._render(task, [example], so_far=so_far, n_so_far=len(so_far))

    def _render(
        self,
        task: Task,
        examples: Sequence[Example],
        *,
        objects: Sequence[str] = (),
        actions: Sequence[str] = (),
        so_far: Sequence[PlanStep] = (),
        n_so_far: int | None = None,
    ) -> str:
        return (
            self._templates.get_template('plan.md.j2')
            .render(
                task=one_line(task.instruction),
                examples=[str(example) for example in examples],
                objects=objects,
                actions=actions,
                so_far=[str(step) for step in so_far],
                n_so_far=n_so_far,
            )
            .rstrip()
        )


def _example(block: str) -> Example:
    head, _, rest = block.partition('\n')
    return Example(head.removeprefix(_TASK), parse_plan(rest))
