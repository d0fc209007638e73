"""
Code as policies: the model writes a program over skills and queries of the scene.

Source: Liang et al., Code as Policies (arXiv 2209.07753): programs with control flow, arithmetic,
calls of perception and of primitives. Here a program is of a closed grammar and interpreted, never
executed as Python, and a failure that it does not catch goes back to the model, as in the other
planners. The words of the prompts are our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbllm import EpisodeContext, Skill, SkillCall, Task, World, errors, events
from bbllm.planning import (
    Code,
    ModelPlanner,
    PlannerSpec,
    PromptRequest,
    denied,
    describe_skill,
    failure_cause,
    language_of,
    one_line,
    render,
    task_text,
    text_of,
    withdrawn,
)
from bbllm_planners.code_policy.grammar import Program, parse_program
from bbllm_planners.code_policy.interpreter import (
    BUILT_IN,
    Function,
    Interpreter,
    ProgramError,
    SkillFailedError,
    Value,
    is_number,
)
from bbllm_planners.code_policy.queries import Query, Seen, function_of, queries_for
from bbllm_planners.hands import Hands

ENDED = 'The plan has ended, and the task is not done.'
SEEN_MORE = 'It came to its end. Where nothing is left to do, reply `done`.'
TRIED_SHOWN = 60
"""How many of the newest calls the prompt for a repair has."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a program ended before its end, and why."""

    program: Program
    line: int
    cause: str
    code: Code | None = None
    """What is wrong with a call that was refused before it reached the world; None otherwise."""
    remarked: bool = False
    """Whether a person's word ended it."""


def program_prompt(
    task: Task,
    hands: Hands,
    broken: Broken | None = None,
) -> str:
    """Return the prompt for a program, or for what is left after one that broke."""
    scene, names = hands.scene, hands.names
    language = language_of(scene)
    return render(
        'bbllm_planners.code_policy',
        f'{language.name}/program',
        robot=language.robot,
        actions=list(map(describe_skill, hands.actions)),
        queries=[_described(name, query) for name, query in queries_for(scene).items()],
        example='towel1' if scene.is_symbolic else 'violet_cube',
        task=task_text(task),
        scene=text_of(language.observation(scene, names)),
        failed=broken is not None,
        tried='\n'.join(_tried(hands)) or 'none',
        program='\n'.join(broken.program.lines) if broken else '',
        line=broken.line if broken else 0,
        cause=one_line(names.in_short(broken.cause)) if broken else '',
    )


def _described(name: str, query: Query) -> str:
    return f'{name}({", ".join(query.params)}): {query.means}'


def _tried(hands: Hands) -> list[str]:
    lines = [
        f'{language_of(hands.scene).as_planned(outcome.call, hands.names)}: '
        + (
            'done'
            if outcome.succeeded
            else f'{outcome.code.name}, {hands.names.in_short(outcome.message)}'
        )
        for outcome in hands.history
    ]
    return lines[-TRIED_SHOWN:]


@dataclass(frozen=True)
class CodePolicy(ModelPlanner):
    """
    The model writes a program, which is interpreted call by call.

    A failure that the program does not catch, a fault of the program, and an end of the program
    before the task is done go back to the model, K times; a person's word does so at no cost.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Run programs until one comes to its end or K is used up; see `Planner`."""
        with context.taking_remarks():
            self._run(task, Hands(world, context), context)

    def _run(self, task: Task, hands: Hands, context: EpisodeContext) -> None:
        broken: Broken | None = None
        loops = 0
        while True:
            context.take_human_feedback()
            try:
                program = self._program(context.current(task), hands, broken, context)
            except errors.SpokenError:
                continue
            if program.is_empty:
                context.report_done()
                return
            n_made = len(hands.history)
            broken = _Runner(hands, context).run(program, checks_end=loops < self.k)
            if broken is None and hands.scene.whole:
                return
            if broken is None:  # what was out of sight may be seen by now
                hands.idle(len(hands.history) == n_made)
                broken = Broken(program, len(program.lines), SEEN_MORE)
                continue
            step = hands.plan.at(broken.program.line(broken.line) or 'the end of the program')
            if not broken.remarked and loops == self.k:
                context.emit(events.StepFailed.of(step, broken.cause, code=broken.code))
                return
            loops += not broken.remarked
            begun = events.RepairBegun.of(step, broken.cause, code=broken.code)
            context.emit(replace(begun, remarked=broken.remarked))

    def _program(
        self, task: Task, hands: Hands, broken: Broken | None, context: EpisodeContext
    ) -> Program:
        words = {word for skill in hands.actions for word in (skill.name, *skill.aliases)}
        known = {*words, *queries_for(hands.scene), *BUILT_IN}
        request = PromptRequest(kind='code', scene=hands.scene)
        prompt = program_prompt(task, hands, broken)
        program = self.ask(prompt, partial(parse_program, functions=known), request, context)
        for condition, reason in program.withdrawn if broken else ():
            context.withdraw(condition, reason)
        return program


class _Runner:
    """Runs one program: its calls in the world, its queries on the scene after the last call."""

    def __init__(self, hands: Hands, context: EpisodeContext):
        self._hands, self._context = hands, context
        self._n_made = 0
        functions: dict[str, Function] = dict(BUILT_IN)
        for name, query in queries_for(hands.scene).items():
            functions[name] = function_of(name, query, lambda: Seen(hands.scene, hands.names))
        for skill in hands.actions:
            for word in (skill.name, *skill.aliases):
                functions[word] = partial(self._call, skill)
        self._interpreter = Interpreter(functions)

    def run(self, program: Program, *, checks_end: bool) -> Broken | None:
        """Return where and why a program ended early; None where it came to its end."""
        try:
            self._interpreter.run(program)
        except SkillFailedError as failure:
            return Broken(program, failure.line, str(failure), remarked=failure.final)
        except ProgramError as error:
            return Broken(program, error.line, f'The program is at fault: {error}.')
        open_ends = self._context.unfinished() if checks_end else ''
        if open_ends:
            return Broken(program, len(program.lines), f'{ENDED} {open_ends}')
        return None

    def _call(self, skill: Skill, values: Sequence[Value]) -> Value:
        if self._n_made and self._context.spoken:
            raise SkillFailedError(Code.NONE, 'Something was added to the task.', final=True)
        self._n_made += 1
        call = SkillCall(skill.name, _arguments(skill, values))
        outcome = self._hands.attempt(call)
        if outcome.succeeded:
            return True
        final = denied(outcome) is not None or withdrawn(outcome)
        raise SkillFailedError(outcome.code, failure_cause(outcome, call), final=final)


def _arguments(skill: Skill, values: Sequence[Value]) -> tuple[str, ...]:
    """Return the values of a call as text; a pose is a list of numbers, or numbers alone."""
    if len(skill.params) == 1 and len(values) > 1 and all(map(is_number, values)):
        values = [[*values]]
    if len(values) != len(skill.params):
        raise ProgramError(
            f'it is `{skill.name}({", ".join(skill.params)})`, but it has {len(values)} arguments'
        )
    return tuple(_text_of(value, skill) for value in values)


def _text_of(value: Value, skill: Skill) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not all(map(is_number, numbers)):
        raise ProgramError(
            f'{str(value)[:60]!r} is no argument of {skill.name}: the name of an object, a number '
            'or a list of numbers would be one'
        )
    return ' '.join(f'{round(float(number), 4):g}' for number in numbers)  # type: ignore[arg-type]


CODE_POLICY = PlannerSpec(factory=CodePolicy, asks_body=False)
