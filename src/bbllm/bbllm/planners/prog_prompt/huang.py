"""The zero-shot planner of Huang et al.: free text, and for each step the nearest action."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from bbllm.core.errors import ConfigError
from bbllm.core.events import PlanMade, StepBegun
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Plan, PlanStep, Scene, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import Call
from bbllm.planners.common.program_referents import Referents, carry_out
from bbllm.planners.common.prompting import ask
from bbllm.planners.prog_prompt.admissible import Actions
from bbllm.planners.prog_prompt.lang_prompting import Example, LangPrompts

MAX_STEPS = 20
"""How many steps are asked for one by one, for a model that never says that it is done."""


@dataclass(frozen=True, slots=True)
class HuangOptions:
    """What of the planner can be varied."""

    correction: bool = True
    """Whether steps are asked for one by one, after the actions of those before."""
    grounding: Policy = Policy.RANDOM
    """How one of several objects of a class is chosen."""


class Huang:
    """
    The baseline of row 8 of ProgPrompt's Table I.

    Source: Huang et al., Language Models as Zero-Shot Planners, as Singh et al. describe it in
    section II of ProgPrompt. The one example is that whose task is nearest to this one. The model
    is told neither what there is nor what can be done; a step that it writes becomes the
    admissible action whose words are nearest, and with `correction` it is shown that action in
    place of its own words before it writes the next step. All steps are known before the first
    is carried out. Left out is what needs the probabilities of a completion: several samples for
    a step, ranked, and ending early where none is likely.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: HuangOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The model that writes steps.
            body: One that matches by embedding; its embedder is used.
            k: Not used: there are no feedback loops.
            options: What is varied.

        Raises:
            ConfigError: The Body does not match by embedding.
        """
        if not isinstance(body, MatchingBody):
            raise ConfigError(
                f'The planner huang matches steps with actions by embedding, but its Body is '
                f'{body.name}. Use --mapping embedding, and --body lexical or the name of an '
                'embedding model.'
            )
        self._brain = brain
        self._embedder = body.embedder
        options = options or HuangOptions()
        self._corrects = options.correction
        self._policy = options.grounding
        self._prompts = LangPrompts()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the actions are through.

        Raises:
            ParseError: The model gave no step that can be read.
            GaveUpError: The model said that there is none.
            BbllmError: Whatever world, model or embedder raised.
        """
        calls, plan = self._write(task, world.observe(), context)
        context.emit(PlanMade.of(plan, 0))
        referents = Referents(self._policy, Random(task.id), context)
        for call, step in zip(calls, plan.steps, strict=True):
            context.emit(StepBegun.of(step))
            carry_out(call, step, referents, world, context)

    def _write(self, task: Task, scene: Scene, context: EpisodeContext) -> tuple[list[Call], Plan]:
        actions = Actions(scene, self._embedder)
        examples = {item.task: item for item in self._prompts.examples(scene)}
        example = examples[actions.nearest_of(task.instruction, [*examples])]
        if self._corrects:
            return self._write_one_by_one(task, scene, example, actions, context)
        prompt = self._prompts.steps(task, example)
        request = PromptRequest(kind='steps', scene=scene)
        texts = ask(self._brain, prompt, parse_plan, request=request, on_retry=context.warn)
        calls = [actions.nearest(step.text) for step in texts]
        steps = [PlanStep(i, actions.phrase(call)) for i, call in enumerate(calls)]
        return calls, Plan(tuple(steps))

    def _write_one_by_one(
        self, task: Task, scene: Scene, example: Example, actions: Actions, context: EpisodeContext
    ) -> tuple[list[Call], Plan]:
        calls: list[Call] = []
        steps: list[PlanStep] = []
        while len(steps) < MAX_STEPS:
            prompt = self._prompts.next_step(task, example, steps)
            read = partial(parse_plan, start=len(steps))
            request = PromptRequest(kind='next_step', scene=scene, start=len(steps))
            new = ask(self._brain, prompt, read, request=request, on_retry=context.warn)
            if not new:
                break
            call = actions.nearest(new[0].text)
            calls.append(call)
            steps.append(PlanStep(len(steps), actions.phrase(call)))
        else:
            context.warn(
                f'The model was not done after {MAX_STEPS} steps; no more were asked for.'
            )
        return calls, Plan(tuple(steps))


HUANG = PlannerSpec(
    factory=Huang,
    options=HuangOptions(),
    uses_feedback=False,
    needs_embedder=True,
    stand_ins=frozenset({'expert'}),
)
