"""A plan as a difference to the one that a person has read before it."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum


class Mark(StrEnum):
    """What has become of a step."""

    DONE = 'done'
    KEPT = 'kept'
    """It is to be done, as before."""
    NEW = 'new'
    DROPPED = 'dropped'
    """It was in the plan before, and is not in this one."""


@dataclass(frozen=True, slots=True)
class ChangedStep:
    """A step of this plan, or one that it no longer has."""

    mark: Mark
    index: int
    """In the plan that has it: this one, or the one before where it is dropped."""
    text: str

    def __str__(self) -> str:
        return f'{self.index}: {self.text}'


def plan_change(
    steps: Sequence[str], before: Sequence[str], done: Container[int] = ()
) -> tuple[ChangedStep, ...]:
    """
    Return every step of a plan in order, and where they were, those that were dropped.

    Args:
        steps: Texts of the plan.
        before: Texts of the plan that was read before; empty where this is the first.
        done: Indices of steps of the plan that are done.
    """
    if not before:
        before = steps
    found: list[ChangedStep] = []
    matcher = SequenceMatcher(a=before, b=steps, autojunk=False)
    for tag, old, old_end, new, new_end in matcher.get_opcodes():
        mark = Mark.KEPT if tag == 'equal' else Mark.NEW
        if tag != 'equal':
            found += [ChangedStep(Mark.DROPPED, i, before[i]) for i in range(old, old_end)]
        found += [
            ChangedStep(Mark.DONE if i in done else mark, i, steps[i]) for i in range(new, new_end)
        ]
    return tuple(found)
