"""LangPrompt: the model lists steps in plain words, and a Body makes calls of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import PlanMade, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import PASS, Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import Call, Referents, carry_out
from bbllm.planners.common.prompting import ask, declared, one_line, source, templates
from bbllm.planners.common.scene_graph import HOUSEHOLD, class_scene, classes
from bbllm.planners.prog_prompt.prompting import moves_to_containers, offered

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
        self._templates = templates('bbllm.planners.prog_prompt')

    def examples(self, scene: Scene) -> tuple[Example, ...]:
        """Return the examples for a scene, in the order in which they are shown."""
        name = 'containers' if moves_to_containers(scene) else scene.domain
        text = source(self._templates, f'steps/{name}.md')
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
            self._templates.get_template('steps/plan.md.j2')
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


EXAMPLES = 3
"""As many as in the paper."""


@dataclass(frozen=True, slots=True)
class LangPromptOptions:
    """What of the planner can be varied."""

    grounding: Policy = Policy.RANDOM
    """How one of several objects of a class is chosen."""


class LangPrompt:
    """
    The paper's baseline whose prompt is in plain words.

    Source: Singh et al., ProgPrompt, section V-A and row 7 of Table I: objects and example plans
    in words, and nothing is asserted. There a small model was trained on 400 annotated steps to
    make actions of them; it was not published, and here the Body does that. It answers in classes
    where the world is a household, which are grounded as those of a program are.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: LangPromptOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The model that lists the steps.
            body: Makes calls of them.
            k: Not used: there are no feedback loops.
            options: What is varied.
        """
        self._brain = brain
        self._body = body
        self._policy = (options or LangPromptOptions()).grounding
        self._prompts = LangPrompts()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the steps are through.

        Raises:
            ParseError: The model gave no steps that can be read.
            GaveUpError: The model said that there are none.
            BbllmError: Whatever world, model or Body raised.
        """
        scene = world.observe()
        examples = self._prompts.examples(scene)[:EXAMPLES]
        prompt = self._prompts.whole(task, scene, examples)
        request = PromptRequest(kind='steps', scene=scene)
        plan = Plan(ask(self._brain, prompt, parse_plan, request=request, on_retry=context.warn))
        context.emit(PlanMade.of(plan, 0))
        referents = Referents(self._policy, Random(task.id), context)
        for step in plan.steps:
            self._attempt(step, referents, world, context)

    def _attempt(
        self, step: PlanStep, referents: Referents, world: World, context: EpisodeContext
    ) -> None:
        context.emit(StepBegun.of(step))
        scene = world.observe()
        shown = class_scene(scene) if scene.domain == HOUSEHOLD else scene
        try:
            call = self._body.map(step, shown)
        except ParseError as error:
            cause = f'This step could not be turned into a call. {error}'
            context.emit(StepFailed.of(step, cause, code=code_behind(error)))
            return
        if call is PASS:
            context.emit(StepPassed.of(step))
            return
        assert isinstance(call, SkillCall)
        carry_out(Call(call.skill, call.args), step, referents, world, context)


LANG_PROMPT = PlannerSpec(
    factory=LangPrompt,
    options=LangPromptOptions(),
    uses_feedback=False,
)
