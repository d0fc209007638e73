"""A plan as a difference to the one that a person has read before it."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from bbllm.core.approval import ApprovalRequest


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


def marked_lines(
    request: ApprovalRequest, before: ApprovalRequest | None, done: Container[int] = ()
) -> Iterator[tuple[str, str]]:
    """
    Yield the lines of a request with their marks, its steps as a change; '' is no mark.

    *before* is the plan that was asked for last; only one of the same episode counts. A request
    that is no plan drops nothing.
    """
    same = before is not None and request.steps and before.episode_id == request.episode_id
    lines, n_about = request.lines, len(request.about)
    yield from (('', line) for line in lines[:n_about])
    for step in plan_change(request.steps, before.steps if before and same else (), done):
        yield step.mark.value, str(step)
    yield from (('', line) for line in lines[n_about + len(request.steps) :])
