"""Base-LLM: one model writes the program at once, without Body and without feedback."""

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from bbllm.core.events import StepFailed
from bbllm.core.protocols import ChatModel, EpisodeContext, Pass, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.planners.brain_body.house_body import body_in
from bbllm.planners.brain_body.prompting import Prompts
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.plan_grammar import (
    PartialPlan,
    first_steps,
    parse_plan,
    program_form,
)
from bbllm.planners.common.steps import failure_cause, map_step
from bbllm.planners.common.written_plan import Read, WrittenPlan, plan_stream


@dataclass(frozen=True, slots=True)
class BaseLLMOptions:
    """Options of the planner; see `BrainBodyOptions`."""

    grounding: Policy = Policy.NEAREST
    reach: bool = True


@dataclass(frozen=True)
class BaseLLM(ModelPlanner):
    """
    The paper's baseline without Body and without steps in plain words.

    Source: Bhat et al., section 4 (Base-LLM of Table 1). A command that fails or names an unknown
    object is skipped; only a reply without a numbered line is requested once more.
    """

    options: BaseLLMOptions = BaseLLMOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        prompts = Prompts(reach=self.options.reach, grounding=self.options.grounding)
        scene = world.observe()
        request = PromptRequest(kind='calls', scene=prompts.shown(scene))
        prompt, form = prompts.direct(task, scene), program_form(scene)

        def ask(brain: ChatModel, read: Read) -> PartialPlan:
            return replace(self, brain=brain).ask(prompt, read, request, context)

        def read(text: str) -> PartialPlan:
            return PartialPlan(parse_plan(text, form=form))

        program = WrittenPlan(ask, read, partial(first_steps, form=form), context)
        with closing(program):
            program.begin(self.brain, plan_stream(self.brain, world))
            reader = body_in(world, _Reader(), self.options.grounding, task, context)
            i = 0
            while program.has(i):
                line = program.plan.steps[i]
                problem = 'This line is no call that there is.'
                call = map_step(reader, line, world.observe(), context, problem)
                if call is not None and not (outcome := world.execute(call)).succeeded:
                    context.emit(StepFailed.of(line, failure_cause(outcome, call)))
                i += 1


class _Reader:
    """Parses a line of the program; no model is asked."""

    name, reads_calls = 'none', True

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        return parse_call(step.text, scene)


BASE_LLM = PlannerSpec(
    factory=BaseLLM, options=BaseLLMOptions(), uses_feedback=False, asks_body=False
)
