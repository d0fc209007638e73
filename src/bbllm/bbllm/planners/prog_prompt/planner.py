"""ProgPrompt: the model writes a program, which is interpreted line by line and never executed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import ConditionChecked
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Scene, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.program import ProgramCondition, Referents
from bbllm.planners.common.prompting import ask
from bbllm.planners.prog_prompt.grammar import parse_program, parse_rest
from bbllm.planners.prog_prompt.interpreter import Check, Interpreter
from bbllm.planners.prog_prompt.prompting import ProgPrompts, holds, parse_verdict

MAX_PROGRAMS = 150
"""How many programs an episode may have where it is planned anew. LLM-State, whose baseline that
is, limits steps alone, at most 150."""
IDLE_LIMIT = 3
"""How many programs in a row may make no call that the world hears of, such as those that only
assert what holds; no limit of steps counts them."""


@dataclass(frozen=True, slots=True)
class ProgPromptOptions:
    """What of the planner can be varied."""

    comments: bool = True
    """Whether the prompt has comments."""
    feedback: bool = True
    """Whether the prompt has assertions and recoveries."""
    check: Literal['model', 'graph'] = 'model'
    """What decides whether an assertion holds: the model, or the facts of the scene."""
    grounding: Policy = Policy.RANDOM
    """How one of several objects of a class is chosen."""
    examples: Literal[1, 2, 3, 4, 5, 6, 7] = 3
    """How many example programs the prompt shows."""
    replan: bool = False
    """Whether the model is asked to go on after a failure, and after each program."""


class ProgPrompt:
    """
    The planning method of the paper.

    Source: Singh et al., ProgPrompt: Generating Situated Robot Task Plans using Large Language
    Models, section III. Where it departs from the published program, and why, is in
    docs/design/prog-prompt.md. There are no feedback loops: what a program can repair stands
    in it, below its assertions. The Body is not asked: a program has calls already.

    With `replan=yes` it is the baseline of LLM-State (Chen et al., section IV: ProgPrompt
    extended with a replanning procedure, of which no more is said): a call that fails ends its
    program, and the model is asked to go on, as after each program, until it says that all is
    done. As in that paper's histories it is told that a call failed, and not why.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: ProgPromptOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Not used.
            k: Not used: there are no feedback loops.
            options: What is varied.
        """
        self._model = brain
        options = options or ProgPromptOptions()
        self._by_graph = options.check == 'graph'
        self._policy = options.grounding
        self._replan = options.replan
        self._prompts = ProgPrompts(
            examples=options.examples, comments=options.comments, feedback=options.feedback
        )

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the program is through, or the model says that all is done.

        Raises:
            ParseError: The model gave no program that parses.
            GaveUpError: It said that there is none, or went on and on.
            BbllmError: Whatever world or model raised.
        """
        scene = world.observe()
        prompt = self._prompts.plan(task, scene)
        request = PromptRequest(kind='program', scene=scene)
        program = ask(self._model, prompt, parse_program, request=request, on_retry=context.warn)
        # Seeded by the episode, so that one that is played again goes the same way.
        referents = Referents(self._policy, Random(task.id), context)
        check = self._checker(context)
        interpreter = Interpreter(world, context, referents, check, stops=self._replan)
        interpreter.run(program)
        if self._replan:
            self._go_on(task, world, context, interpreter)

    def _go_on(
        self, task: Task, world: World, context: EpisodeContext, interpreter: Interpreter
    ) -> None:
        """Ask for what is left, and do it, until nothing is."""
        n_idle = 0
        for _ in range(MAX_PROGRAMS - 1):
            scene = world.observe()
            prompt = self._prompts.plan(task, scene, interpreter.tried)
            request = PromptRequest(kind='rest', scene=scene)
            program = ask(self._model, prompt, parse_rest, request=request, on_retry=context.warn)
            if not any(goal.statements for goal in program.sub_goals):
                context.report_done()
                return
            before = interpreter.n_heard
            interpreter.run(program)
            n_idle = n_idle + 1 if interpreter.n_heard == before else 0
            if n_idle >= IDLE_LIMIT:
                raise GaveUpError(
                    f'{IDLE_LIMIT} programs in a row made no call that can be tried. A call with '
                    'names of the scene, or the line `done`, would have gone on.'
                )
        raise GaveUpError(
            f'After {MAX_PROGRAMS} programs the model still does not say that it is done. A lower '
            'limit of steps would have ended this earlier.'
        )

    def _checker(self, context: EpisodeContext) -> Check:
        def check(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
            if self._by_graph:
                so = holds(condition, scene, found)
            else:
                so = self._judged(condition, scene, context)
            context.emit(
                ConditionChecked(str(condition), so, by='graph' if self._by_graph else 'model')
            )
            return so

        return check

    def _judged(self, condition: ProgramCondition, scene: Scene, context: EpisodeContext) -> bool:
        prompt = self._prompts.check(condition, scene)
        try:
            request = PromptRequest(kind='check', scene=scene, text=str(condition))
            return ask(self._model, prompt, parse_verdict, request=request, on_retry=context.warn)
        except ParseError as error:
            context.warn(f'{condition} is taken not to hold, so its recovery is run. {error}')
            return False


PROG_PROMPT = PlannerSpec(
    factory=ProgPrompt,
    options=ProgPromptOptions(),
    uses_feedback=False,
    asks_body=False,
)
