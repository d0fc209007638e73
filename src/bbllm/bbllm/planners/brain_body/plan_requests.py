"""The requests to a Brain: for the plan of a task, and for the plan from a failure on."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from bbllm.core.errors import SpokenError
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    PromptRequest,
    ScenePicture,
    StepFailure,
    World,
)
from bbllm.core.text import count_of
from bbllm.core.types import Plan, PlanStep, Scene, Task
from bbllm.planners.brain_body.options import BrainBodyOptions
from bbllm.planners.brain_body.prompting import Prompts
from bbllm.planners.common.model_planner import (
    ModelPlanner,
    images,
    picture_for,
    picture_sentence,
)
from bbllm.planners.common.plan_grammar import (
    PartialPlan,
    first_steps,
    parse_partial_plan,
    plan_form,
)
from bbllm.planners.common.step_grammar import check_names
from bbllm.planners.common.written_plan import Read, WrittenPlan

FEW_CALLS = 20
"""From so many on prompts have how many requests to models are left. More would be noise, and
differ between an episode and its replay, as the goal is requested beside the plan."""


@dataclass
class PlanRequests:
    """
    Asks a Brain for plans, with beliefs and pictures as the options say.

    A remark before the first step of a reply begins its request anew.
    """

    planner: ModelPlanner
    options: BrainBodyOptions
    task: Task
    world: World
    """The world that the prompts show."""
    context: EpisodeContext
    stream: ChatModel | None
    """The Brain, if steps may begin while it writes."""
    _failures: list[StepFailure] = field(default_factory=list, init=False)
    """All failures that were repaired, as the prompts state them."""
    _under_way: ExitStack = field(default_factory=ExitStack, init=False)

    def first(self) -> WrittenPlan:
        """Return the first plan, of the task and what was added to it until it was written."""
        while True:
            with suppress(SpokenError):
                if self.context.spoken:
                    self.context.take_human_feedback()
                scene, prompts = self.world.observe(), self._prompts
                picture = picture_for(self.world, self.options.image, moved=False)
                prompt = prompts.planning(
                    self.context.current(self.task),
                    scene,
                    picture=picture_sentence(picture),
                    left=self._left(self.planner.k),
                )
                request = PromptRequest(kind='plan', scene=prompts.shown(scene))
                return self._begun(self._written(prompt, request, scene, picture))

    def repaired(self, failure: StepFailure, plan: WrittenPlan, loops_left: int) -> WrittenPlan:
        """Return the plan from a failure on, given what was said until it was written."""
        self._failures.append(failure)
        while True:
            try:
                scene = self.world.observe()
                self._failures[-1] = self._prompts.reported(failure)
                picture = picture_for(self.world, self.options.image, moved=True)
                return self._begun(self._repair(plan.whole(), scene, picture, loops_left))
            except SpokenError:
                human = (*failure.human, *self.context.take_human_feedback())
                failure = replace(failure, human=human)

    def after_rehearsal(self, failure: StepFailure, plan: Plan, scene: Scene) -> WrittenPlan:
        """Return the plan from a step on that failed in a rehearsal, in the scene before it."""
        self._failures.append(failure)
        new = self._repair(plan, scene)
        new.begin(self.planner.brain, None)
        return new

    def close(self) -> None:
        """End the requests under way."""
        self._under_way.close()

    @property
    def _prompts(self) -> Prompts:
        options, believed = self.options, self.options.open_state != 'no'
        return Prompts(
            believed=believed,
            reach=options.reach,
            grounding=options.grounding,
            form=options.feedback,
        )

    def _begun(self, plan: WrittenPlan) -> WrittenPlan:
        self._under_way.callback(plan.close)
        plan.begin(self.planner.brain, self.stream)
        return plan

    def _repair(
        self,
        plan: Plan,
        scene: Scene,
        picture: ScenePicture | None = None,
        loops_left: int | None = None,
    ) -> WrittenPlan:
        """Return the request for the plan from the newest failure on."""
        *earlier, failure = self._failures
        start, prompts = failure.step.index, self._prompts
        prompt = prompts.feedback(
            self.context.current(self.task),
            scene,
            plan,
            failure,
            earlier,
            picture=picture_sentence(picture),
            left=self._left(loops_left),
            before=self.context.before,
        )
        request = PromptRequest(
            kind='repair',
            scene=prompts.shown(scene),
            start=start,
            plan=tuple(step.text for step in plan.steps),
            failures=tuple(self._failures),
        )
        return self._written(prompt, request, scene, picture, plan.steps[:start])

    def _left(self, loops: int | None) -> str:
        """Return what is left after this request; *loops* is None in a rehearsal."""
        calls, parts = self.context.calls_left, []
        if loops is not None:
            parts.append(count_of(loops, 'repair') + ' of a step that fails')
        if calls is not None and calls <= FEW_CALLS:
            parts.append(count_of(max(0, calls - 1), 'request') + ' to a model')
        return f'Left after this reply: {", ".join(parts)}.' if parts else ''

    def _written(
        self,
        prompt: str,
        request: PromptRequest,
        scene: Scene,
        picture: ScenePicture | None,
        kept: Sequence[PlanStep] = (),
    ) -> WrittenPlan:
        """Return the request for a plan that goes on after other steps."""
        form = plan_form(scene)

        def read(text: str) -> PartialPlan:
            found = parse_partial_plan(text, request.start, form=form)
            if self.options.read_calls and scene.whole:
                check_names(found.steps, scene)
            return found

        def ask(brain: ChatModel, read: Read) -> PartialPlan:
            asking = replace(self.planner, brain=brain)
            found = asking.ask(prompt, read, request, self.context, images(picture))
            for condition, reason in found.withdrawn if request.failures else ():
                self.context.withdraw(condition, reason)
            return found

        return WrittenPlan(
            ask,
            read,
            partial(first_steps, start=request.start, form=form, headed=bool(request.failures)),
            self.context,
            kept,
        )
