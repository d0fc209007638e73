"""Base-LLM: one model writes the program at once, without Body and without feedback."""

from dataclasses import dataclass
from functools import partial

from bbllm.core.events import PlanMade, StepFailed
from bbllm.core.protocols import EpisodeContext, Pass, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall, Task
from bbllm.planners.brain_body.planner import body_in
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.low_level_hands import failure_cause, map_step
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.plan_grammar import parse_plan, program_form
from bbllm.planners.common.prompting import Prompts


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
        prompts, scene = Prompts(reach=self.options.reach), world.observe()
        request = PromptRequest(kind='calls', scene=prompts.shown(scene))
        read = partial(parse_plan, form=program_form(scene))
        program = Plan(self.ask(prompts.direct(task, scene), read, request, context))
        context.emit(PlanMade.of(program, 0))
        reader = body_in(world, _Reader(), self.options.grounding, task, context)
        for line in program.steps:
            problem = 'This line is no call that there is.'
            call = map_step(reader, line, world.observe(), context, problem)
            if call is not None and not (outcome := world.execute(call)).succeeded:
                context.emit(StepFailed.of(line, failure_cause(outcome, call)))


class _Reader:
    """Parses a line of the program; no model is asked."""

    name = 'none'

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        return parse_call(step.text, scene)


BASE_LLM = PlannerSpec(
    factory=BaseLLM, options=BaseLLMOptions(), uses_feedback=False, asks_body=False
)
