"""The parts of a program that ProgPrompt's model writes, as records; nothing is ever executed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """A call such as `grab('salmon')`."""

    verb: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f'{self.verb}({", ".join(map(repr, self.args))})'


@dataclass(frozen=True, slots=True)
class Condition:
    """What an assertion asserts, such as `'salmon' in 'hands'`."""

    subject: str
    """For `close`, what is to be close."""
    relation: str
    """`close`, `is`, `in` or `on`."""
    object: str = ''
    """A state for `is`, another thing or `hands` for `in`; empty for `close`."""
    negated: bool = False

    def __str__(self) -> str:
        no = 'not ' if self.negated else ''
        if self.relation == 'close':
            return f"{no}'close' to {self.subject!r}"
        relation = f'{self.relation} {no}' if self.relation == 'is' else f'{no}{self.relation} '
        return f'{self.subject!r} {relation}{self.object!r}'

    @property
    def words(self) -> tuple[str, ...]:
        """The things that it is about."""
        if self.relation in ('close', 'is') or self.object == HANDS:
            return (self.subject,)
        return (self.subject, self.object)


HANDS = 'hands'
"""Stands for the hands in a condition."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition, and what is done where it does not hold."""

    condition: Condition
    recoveries: tuple[Call, ...] = ()


Statement = Call | Assertion


@dataclass(frozen=True, slots=True)
class SubGoal:
    """A comment and what stands below it up to the next one."""

    text: str
    """The comment; empty for what stands before the first."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The sub-goals of a program, in order; two may have the same comment."""

    sub_goals: tuple[SubGoal, ...] = field(default=())

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in order, without those that only repair."""
        statements = [item for goal in self.sub_goals for item in goal.statements]
        return tuple(item for item in statements if isinstance(item, Call))
