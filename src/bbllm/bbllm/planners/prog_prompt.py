"""ProgPrompt: the model writes a program, which is interpreted line by line and never executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
from bbllm.core.types import Plan, PlanStep, Scene, Task
from bbllm.planners.grounding import Policy
from bbllm.planners.parsing import plan_on
from bbllm.planners.prog_checking import holds, parse_verdict
from bbllm.planners.prog_parsing import parse_program
from bbllm.planners.prog_program import Call, Condition, Program, SubGoal
from bbllm.planners.prog_prompting import ProgPrompts
from bbllm.planners.prog_referents import Referents, carry_out
from bbllm.planners.prompting import ask

STEPS_OF_A_SUB_GOAL = 10
"""How many calls a sub-goal may make, recoveries among them; what comes after is left out."""

Check = Callable[[Condition, Scene, str | None], bool]
"""Tells whether a condition holds in a scene, by what the program has gone to last."""


class ProgPrompt:
    """
    The planning method of the paper.

    Source: Singh et al., ProgPrompt: Generating Situated Robot Task Plans using Large Language
    Models, section III. Where it departs from the published program, and why, is in
    docs/design/prog-prompt.md. There are no feedback loops: what a program can repair stands
    in it, below its assertions. The Body is not asked: a program has calls already.
    """

    uses_feedback = False
    asks_body = False
    stand_ins = frozenset({'expert'})
    options: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {
            'comments': ('yes', 'no'),
            'feedback': ('yes', 'no'),
            'check': ('model', 'graph'),
            'grounding': tuple(policy.value for policy in Policy),
            'examples': ('3', '1', '2', '4', '5', '6', '7'),
        }
    )
    """This and those above: see `core.registry.PlannerFactory`."""

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        comments: str = 'yes',
        feedback: str = 'yes',
        check: str = 'model',
        grounding: str = Policy.RANDOM.value,
        examples: str = '3',
    ):
        """
        Make a planner; `options` lists what each of the words can be.

        Args:
            brain: The one model.
            body: Not used.
            k: Not used: there are no feedback loops.
            comments: Whether the prompt has comments.
            feedback: Whether the prompt has assertions and recoveries.
            check: Who says whether an assertion holds: the model, or the scene's own facts.
            grounding: How one of several things of a class is chosen, see `grounding.Policy`.
            examples: How many example programs the prompt shows.
        """
        self._model = brain
        self._by_graph = check == 'graph'
        self._policy = Policy(grounding)
        self._prompts = ProgPrompts(
            examples=int(examples), comments=comments == 'yes', feedback=feedback == 'yes'
        )

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the program is through.

        Raises:
            ParseError: The model gave no program that parses.
            BbllmError: Whatever world or model raised.
        """
        prompt = self._prompts.plan(task, world.observe())
        program = ask(self._model, prompt, parse_program, on_retry=context.warn)
        # Seeded by the episode, so that one that is played again goes the same way.
        referents = Referents(self._policy, Random(task.id), context)
        Interpreter(program, world, context, referents, self._checker(context)).run()

    def _checker(self, context: EpisodeContext) -> Check:
        def check(condition: Condition, scene: Scene, found: str | None) -> bool:
            if self._by_graph:
                so = holds(condition, scene, found)
            else:
                so = self._judged(condition, scene, context)
            context.tell_checked(str(condition), so, by='graph' if self._by_graph else 'model')
            return so

        return check

    def _judged(self, condition: Condition, scene: Scene, context: EpisodeContext) -> bool:
        prompt = self._prompts.check(condition, scene)
        try:
            return ask(self._model, prompt, parse_verdict, on_retry=context.warn)
        except ParseError as error:
            context.warn(f'{condition} is taken not to hold, so its recovery is run. {error}')
            return False


class Interpreter:
    """Carries out one program, call by call, and looks at what it asserts on the way."""

    def __init__(
        self,
        program: Program,
        world: World,
        context: EpisodeContext,
        referents: Referents,
        check: Check,
    ):
        self._program = program
        self._world = world
        self._context = context
        self._referents = referents
        self._check = check
        self._plan = Plan(_steps(program.calls))
        self._next = 0
        """Number of the plan's step that is next; recoveries that are run become steps too."""

    def run(self) -> None:
        """Carry out the program to its end; a call that fails is skipped, as in the paper."""
        self._context.tell_plan(self._plan, 0)
        for goal in self._program.sub_goals:
            self._work_on(goal)

    def _work_on(self, goal: SubGoal) -> None:
        begun = self._next
        for i, item in enumerate(goal.statements):
            made = self._next - begun
            if goal.text and made >= STEPS_OF_A_SUB_GOAL and _calls(goal, i):
                self._leave_out(goal, i)
                return
            if isinstance(item, Call):
                self._act(item)
            elif not self._check(item.condition, self._world.observe(), self._referents.found):
                room = STEPS_OF_A_SUB_GOAL - made if goal.text else len(item.recoveries)
                self._recover(item.recoveries[:room])

    def _recover(self, calls: tuple[Call, ...]) -> None:
        """Put what an assertion wants done into the plan, and do it."""
        if not calls:
            return
        left = [step.text for step in self._plan.steps[self._next :]]
        texts = [*map(str, calls), *left]
        start = self._next
        new = [PlanStep(start + i, text) for i, text in enumerate(texts)]
        self._plan = plan_on(self._plan, start, new)
        self._context.tell_plan(self._plan, start)
        for call in calls:
            self._act(call)

    def _act(self, call: Call) -> None:
        step = self._plan.steps[self._next]
        self._next += 1
        self._context.tell_step(step)
        carry_out(call, step, self._referents, self._world, self._context)

    def _leave_out(self, goal: SubGoal, start: int) -> None:
        """Go on behind a sub-goal that has made all the calls it may."""
        step = self._plan.steps[self._next]
        n_left = _calls(goal, start)
        self._context.tell_failed(
            step,
            f'The part {goal.text[:80]!r} has made {STEPS_OF_A_SUB_GOAL} calls, which is all that '
            f'a part may; its last {n_left} are left out. A program of shorter parts is carried '
            'out whole.',
        )
        self._next += n_left


def _steps(calls: Sequence[Call]) -> tuple[PlanStep, ...]:
    return tuple(PlanStep(i, str(call)) for i, call in enumerate(calls))


def _calls(goal: SubGoal, start: int) -> int:
    """Count the calls of a sub-goal from a statement on."""
    return sum(isinstance(item, Call) for item in goal.statements[start:])
