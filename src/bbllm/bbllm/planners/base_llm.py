"""Base-LLM: one model writes the program at once; no Body, no feedback."""

from __future__ import annotations

from bbllm.core.errors import ParseError
from bbllm.core.protocols import PASS, Body, ChatModel, EpisodeContext, World
from bbllm.core.types import Plan, PlanStep, Task
from bbllm.planners.call_parsing import parse_call
from bbllm.planners.parsing import parse_plan
from bbllm.planners.prompting import Prompts, ask


class BaseLLM:
    """
    The paper's baseline without Body and without steps in plain words.

    Source: Bhat et al., Grounding LLMs For Robot Task Planning Using Closed-loop State Feedback,
    section 4 (Base-LLM of Table 1). A command that cannot be carried out, or that names what
    there is not, is skipped and the program goes on. As for the other planners, a reply without
    one numbered line is asked for once more; that is about form, and not feedback on the world.

    It uses neither the Body nor K: whatever they are, no Body is asked and nothing is repaired.
    """

    uses_feedback = False
    asks_body = False
    """This and those above: see `core.registry.PlannerFactory`."""

    def __init__(
        self, brain: ChatModel, body: Body, *, k: int = 3, prompts: Prompts | None = None
    ):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Not used.
            k: Not used: there are no feedback loops.
            prompts: The prompts; those of the tabletop by default.
        """
        self._model = brain
        self._prompts = prompts or Prompts()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the program is through.

        Raises:
            ParseError: The model gave no program that parses.
            GaveUpError: The model said that there is none.
            BbllmError: Whatever world or model raised.
        """
        prompt = self._prompts.direct(task, world.observe())
        program = Plan(ask(self._model, prompt, parse_plan, on_retry=context.warn))
        context.tell_plan(program, 0)
        for line in program.steps:
            self._execute(line, world, context)

    def _execute(self, line: PlanStep, world: World, context: EpisodeContext) -> None:
        context.tell_step(line)
        try:
            call = parse_call(line.text, world.observe())
        except ParseError as error:
            context.tell_failed(line, f'This line is no call that there is. {error}')
            return
        if call is PASS:
            context.tell_pass(line)
            return
        outcome = world.execute(call)
        if not outcome.succeeded:
            cause = outcome.message or f'{call} failed with code {outcome.code.name}.'
            context.tell_failed(line, cause)
