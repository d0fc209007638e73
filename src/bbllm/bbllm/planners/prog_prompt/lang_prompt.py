"""LangPrompt: the model lists steps in plain words, and a Body makes calls of them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import PlanMade, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import PASS, Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Plan, PlanStep, SkillCall, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import Call
from bbllm.planners.common.program_referents import Referents, carry_out
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.scene_graph import HOUSEHOLD, class_scene
from bbllm.planners.prog_prompt.lang_prompting import LangPrompts

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
    stand_ins=frozenset({'expert'}),
)
