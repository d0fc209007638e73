"""
ProgPrompt: the model writes a program, whose assertions are checked while it is executed.

Programs are executed call by call; no line is ever passed to Python.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

from bbllm import EpisodeContext, Scene, SkillCall, Task, World, errors, events
from bbllm.planning import (
    Code,
    ModelPlanner,
    PlannerSpec,
    Policy,
    PromptRequest,
    Referents,
    absent_text,
)
from bbllm_planners.hands import IDLE_LIMIT, GrowingPlan
from bbllm_planners.prog_prompt.grammar import parse_program, parse_rest, parse_verdict
from bbllm_planners.prog_prompt.program import (
    Program,
    ProgramCondition,
    ProgramPart,
    TriedCall,
    absent_names,
    attempt,
    written,
)
from bbllm_planners.prog_prompt.prompting import ProgPrompts, is_listed, is_true

STEPS_OF_A_SUB_GOAL = 10
"""How many calls a sub-goal may make, including recoveries; further calls are skipped."""

Check = Callable[[ProgramCondition, Scene, str | None], bool]
"""Whether a condition is true in a scene, given the object that the program last went to."""


@dataclass
class Interpreter:
    """
    Executes one program after the other, and checks their assertions.

    If `stops`, a failed call ends its program. In the paper it is skipped.
    """

    world: World
    context: EpisodeContext
    referents: Referents
    check: Check
    stops: bool = False

    def __post_init__(self) -> None:
        self.tried: list[TriedCall] = []
        """All calls so far, oldest first."""
        self._plan = GrowingPlan(self.context)

    @property
    def n_in_world(self) -> int:
        return sum(item.code is None for item in self.tried)

    def run(self, program: Program) -> None:
        """Execute a program to its end, or to the first failed call if `stops`."""
        self._plan.go_on(map(written, program.calls))
        for goal in program.sub_goals:
            if not self._work_on(goal):
                return

    def _work_on(self, goal: ProgramPart) -> bool:
        begun = self._plan.next
        for i, item in enumerate(goal.statements):
            made = self._plan.next - begun
            if goal.text and made >= STEPS_OF_A_SUB_GOAL and _calls(goal, i):
                return self._leave_out(goal, i)
            goes_on = True
            if isinstance(item, SkillCall):
                goes_on = self._act(item)
            elif not self.check(item.condition, self.world.observe(), self.referents.found):
                room = STEPS_OF_A_SUB_GOAL - made if goal.text else len(item.recoveries)
                goes_on = self._recover(item.recoveries[:room])
            if not goes_on:
                return False
        return True

    def _recover(self, calls: tuple[SkillCall, ...]) -> bool:
        """Insert the recoveries of an assertion into the plan, and execute them."""
        if calls:
            self._plan.go_on([*map(written, calls), *(step.text for step in self._plan.left)])
        return all(self._act(call) for call in calls)

    def _act(self, call: SkillCall) -> bool:
        self.context.emit(events.StepBegun.of(self._plan.left[0]))
        tried = attempt(call, self.referents, self.world)
        self.tried.append(tried)
        return self._pass(1, tried.cause, tried.code)

    def _leave_out(self, goal: ProgramPart, start: int) -> bool:
        """Skip the rest of a sub-goal that has made all its calls; return whether to continue."""
        n_left = _calls(goal, start)
        cause = (
            f'The part {goal.text[:80]!r} has made {STEPS_OF_A_SUB_GOAL} calls, which is all that '
            f'a part may; its last {n_left} are left out. A program of shorter parts is carried '
            'out whole.'
        )
        return self._pass(n_left, cause)

    def _pass(self, n_steps: int, cause: str, code: Code | None = None) -> bool:
        """Go past steps, unless the program stops at a failure; return whether it continues."""
        step = self._plan.left[0]
        if cause and self.stops:
            self.context.emit(events.RepairBegun.of(step, cause, code=code))
            return False  # the next plan replaces this step
        self._plan.next += n_steps
        if cause:
            self.context.emit(events.StepFailed.of(step, cause, code=code))
        return True


def _calls(goal: ProgramPart, start: int) -> int:
    return sum(isinstance(item, SkillCall) for item in goal.statements[start:])


NAMES_LISTED = 10
"""How many absent names an error lists."""
MAX_PROGRAMS = 150
"""How many programs an episode may have with replanning; LLM-State limits steps, to 150."""


@dataclass(frozen=True, slots=True)
class ProgPromptOptions:
    """Options of the planner."""

    comments: bool = True
    """Whether the prompt has comments."""
    feedback: bool = True
    """Whether the prompt has assertions and recoveries."""
    check: Literal['listed', 'model', 'graph'] = 'listed'
    """What decides whether an assertion is true: the facts of the scene, and the model where they
    do not list such a state; the model alone, as in the paper; or the facts alone."""
    grounding: Policy = Policy.NEAREST
    """How one of several objects of a class is chosen; in the published program at random."""
    examples: Literal[1, 2, 3, 4, 5, 6, 7] = 3
    """How many example programs the prompt shows."""
    replan: bool = False
    """Whether the model is asked to go on after a failure, and after each program."""


@dataclass(frozen=True)
class ProgPrompt(ModelPlanner):
    """
    The planning method of the paper.

    Source: Singh et al., section III; docs/planners/prog-prompt.md lists departures.
    There are no feedback loops: recoveries are part of a program, below its assertions.

    With `replan=yes` it is the baseline of LLM-State (Chen et al., section IV: ProgPrompt
    extended with a replanning procedure, without further details): a failed call ends its
    program, and the model is asked to go on, as after each program, until it reports the end. As
    in that paper's histories the prompt contains failures without reasons.
    """

    options: ProgPromptOptions = ProgPromptOptions()

    @property
    def _prompts(self) -> ProgPrompts:
        options = self.options
        return ProgPrompts(
            options.examples,
            options.comments,
            options.feedback,
            grounding=options.grounding,
            replan=options.replan,
        )

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Execute the program, or programs until the model reports the end; see `Planner`."""
        scene = world.observe()
        prompt = self._prompts.plan(task, scene)
        request = PromptRequest(kind='program', scene=scene)
        program = self.ask(prompt, _reader(scene), request, context)

        def check(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
            by = self.options.check
            if by == 'listed':
                by = 'graph' if is_listed(condition, scene) else 'model'
            if by == 'graph':
                answer = is_true(condition, scene, found)
            else:
                answer = self._judged(condition, scene, context)
            context.emit(events.ConditionChecked(str(condition), answer, by=by))
            return answer

        # Seeded by the episode, so that a replay makes the same choices.
        referents = Referents(self.options.grounding, Random(task.id), context)
        stops = self.options.replan
        interpreter = Interpreter(world, context, referents, check, stops=stops)
        interpreter.run(program)
        if stops:
            self._go_on(task, world, context, interpreter)

    def _go_on(
        self, task: Task, world: World, context: EpisodeContext, interpreter: Interpreter
    ) -> None:
        n_idle = 0
        for _ in range(MAX_PROGRAMS - 1):
            scene = world.observe()
            prompt = self._prompts.plan(task, scene, interpreter.tried)
            request = PromptRequest(kind='rest', scene=scene)
            program = self.ask(prompt, parse_rest, request, context)
            if not any(goal.statements for goal in program.sub_goals):
                context.report_done()
                return
            before = interpreter.n_in_world
            interpreter.run(program)
            n_idle = n_idle + 1 if interpreter.n_in_world == before else 0
            if n_idle >= IDLE_LIMIT:
                raise errors.GaveUpError(
                    f'{IDLE_LIMIT} programs in a row made no call that can be tried. A call with '
                    'names of the scene, or the line `done`, would have gone on.'
                )
        raise errors.GaveUpError(
            f'After {MAX_PROGRAMS} programs the model has not replied that it is done. A lower '
            'limit of steps would have ended this earlier.'
        )

    def _judged(self, condition: ProgramCondition, scene: Scene, context: EpisodeContext) -> bool:
        prompt = self._prompts.check(condition, scene)
        request = PromptRequest(kind='check', scene=scene, text=str(condition))
        try:
            return self.ask(prompt, parse_verdict, request, context)
        except errors.ParseError as error:
            context.warn(f'{condition} is taken as false, so its recovery is run. {error}')
            return False


def _reader(scene: Scene) -> Callable[[str], Program]:
    """
    Return a reader that refuses a program once for names that do not exist.

    Of the second program such calls fail one by one. In a scene that is not all in sight every
    program is accepted: a name may be of what is seen later.
    """
    refused = not scene.whole

    def read(text: str) -> Program:
        nonlocal refused
        program = parse_program(text)
        if not refused and (absent := absent_names(program, scene)):
            refused = True
            raise errors.ParseError(
                ' '.join(absent_text(word, scene) for word in absent[:NAMES_LISTED])
            )
        return program

    return read


PROG_PROMPT = PlannerSpec(
    factory=ProgPrompt, options=ProgPromptOptions(), uses_feedback=False, asks_body=False
)
