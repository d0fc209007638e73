"""Base-LLM: one model writes the program at once; no Body, no feedback."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.events import PlanMade, StepBegun, StepFailed, StepPassed
from bbllm.core.protocols import PASS, Body, ChatModel, EpisodeContext, Pass, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import code_behind
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall, Task
from bbllm.planners.brain_body.household_body import HouseBody
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import Prompts, ask
from bbllm.planners.common.scene_graph import HOUSEHOLD


@dataclass(frozen=True, slots=True)
class BaseLLMOptions:
    """What of the planner can be varied."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""


class BaseLLM:
    """
    The paper's baseline without Body and without steps in plain words.

    Source: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
    section 4 (Base-LLM of Table 1). A command that cannot be carried out, or that names what
    there is not, is skipped and the program goes on. As for the other planners, a reply without
    one numbered line is asked for once more; that is about form, and not feedback on the world.

    It uses neither the Body nor K: whatever they are, no Body is asked and nothing is repaired.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        prompts: Prompts | None = None,
        options: BaseLLMOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Not used.
            k: Not used: there are no feedback loops.
            prompts: The prompts; those for the kind of the scene by default.
            options: What is varied.
        """
        self._model = brain
        self._prompts = prompts or Prompts()
        self._policy = (options or BaseLLMOptions()).grounding

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the program is through.

        Raises:
            ParseError: The model gave no program that parses.
            GaveUpError: The model said that there is none.
            BbllmError: Whatever world or model raised.
        """
        scene = world.observe()
        prompt = self._prompts.direct(task, scene)
        request = PromptRequest(kind='calls', scene=self._prompts.shown(scene))
        program = Plan(
            ask(self._model, prompt, parse_plan, request=request, on_retry=context.warn)
        )
        context.emit(PlanMade.of(program, 0))
        reader: Body = _Reader()
        if world.observe().domain == HOUSEHOLD:
            reader = HouseBody(reader, self._policy, Random(task.id), context)
        for line in program.steps:
            self._execute(line, reader, world, context)

    def _execute(
        self, line: PlanStep, reader: Body, world: World, context: EpisodeContext
    ) -> None:
        context.emit(StepBegun.of(line))
        try:
            call = reader.map(line, world.observe())
        except ParseError as error:
            cause = f'This line is no call that there is. {error}'
            context.emit(StepFailed.of(line, cause, code=code_behind(error)))
            return
        if call is PASS:
            context.emit(StepPassed.of(line))
            return
        outcome = world.execute(call)
        if not outcome.succeeded:
            cause = outcome.message or f'{call} failed with code {outcome.code.name}.'
            context.emit(StepFailed.of(line, cause))


class _Reader:
    """Takes a line of the program for what it says; nobody is asked."""

    name = 'none'

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        return parse_call(step.text, scene)


BASE_LLM = PlannerSpec(
    factory=BaseLLM,
    options=BaseLLMOptions(),
    uses_feedback=False,
    asks_body=False,
)
