"""Programs of ProgPrompt's model as records, and the objects that their words mean."""

import re
from dataclasses import dataclass

from bbllm import EpisodeContext, PlanStep, Scene, SkillCall, World, events
from bbllm.planning import (
    CallError,
    Code,
    Referents,
    failure_cause,
    lost_names,
    meant_by,
    meant_text,
)


def written(call: SkillCall) -> str:
    """Return a call as programs have it: `grab('salmon')`."""
    return f'{call.skill}({", ".join(map(repr, call.args))})'


@dataclass(frozen=True, slots=True)
class ProgramCondition:
    """The condition of an assertion, such as `'salmon' in 'hands'`."""

    subject: str
    relation: str
    """`close`, `is`, `in` or `on`."""
    object: str = ''
    """A state for `is`, another object or `hands` for `in`; empty for `close`."""
    negated: bool = False

    def __str__(self) -> str:
        no = 'not ' if self.negated else ''
        if self.relation == 'close':
            return f"{no}'close' to {self.subject!r}"
        relation = f'{self.relation} {no}' if self.relation == 'is' else f'{no}{self.relation} '
        return f'{self.subject!r} {relation}{self.object!r}'

    @property
    def words(self) -> tuple[str, ...]:
        if self.relation in ('close', 'is') or self.object == HANDS:
            return (self.subject,)
        return (self.subject, self.object)


HANDS = 'hands'
"""Stands for the hands in a condition."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition, and the calls to make if it is false."""

    condition: ProgramCondition
    recoveries: tuple[SkillCall, ...] = ()


Statement = SkillCall | Assertion


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A comment and the statements up to the next one."""

    text: str
    """The comment; empty for statements before the first."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The sub-goals of a program, in order; two may have the same comment."""

    sub_goals: tuple[ProgramPart, ...] = ()

    @property
    def calls(self) -> tuple[SkillCall, ...]:
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(item for item in statements if isinstance(item, SkillCall))

    @property
    def recoveries(self) -> tuple[SkillCall, ...]:
        """All calls below assertions, in order."""
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(
            call for item in statements if isinstance(item, Assertion) for call in item.recoveries
        )


_NUMBER = re.compile(r'[-+.\d\s,]*')


def absent_names(program: Program, scene: Scene) -> list[str]:
    """Return the arguments of a program's calls that name no object, each once."""
    known = (*scene.names, *lost_names(scene))
    words = [word for call in (*program.calls, *program.recoveries) for word in call.args]
    return [
        word
        for word in dict.fromkeys(words)
        if not _NUMBER.fullmatch(word) and not meant_by(word, known)
    ]


@dataclass(frozen=True, slots=True)
class TriedCall:
    """One call of a program and its result."""

    call: SkillCall
    meant: str = ''
    """Which objects its words meant, where there are several; '' if none had to be chosen."""
    cause: str = ''
    """Why it failed, in one sentence; '' if it succeeded."""
    code: Code | None = None
    """What is wrong with the call, if it was refused before it reached the world."""


def attempt(call: SkillCall, referents: Referents, world: World) -> TriedCall:
    scene = world.observe()
    try:
        made = referents.resolve(call, scene)
    except CallError as error:
        return TriedCall(call, cause=str(error), code=error.code)
    outcome = world.execute(made)
    cause = '' if outcome.succeeded else failure_cause(outcome, made)
    return TriedCall(call, meant_text(call, made, scene), cause)


def carry_out(
    call: SkillCall, step: PlanStep, referents: Referents, world: World, context: EpisodeContext
) -> None:
    """Ground a call and execute it; a failure is reported, and the plan continues."""
    tried = attempt(call, referents, world)
    if tried.cause:
        context.emit(events.StepFailed.of(step, tried.cause, code=tried.code))
