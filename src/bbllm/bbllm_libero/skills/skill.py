"""
A skill of the Panda of robosuite: signature, and a run over the interface.

A skill refuses a call whose preconditions are not met before anything moves, with a code and a
sentence that ends with what would have worked, as the skills of bbllm's own arm do.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bbllm.core.types import Code, Skill, Status
from bbllm_libero.panda import LiberoTask, Panda, Result

Run = Callable[[Panda, tuple[str, ...], str | None], Result]


@dataclass(frozen=True, slots=True)
class PandaSkill:
    """A `LiberoSkill` from a function."""

    signature: Skill
    function: Run

    def run(self, panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
        return self.function(panda, args, held)


def done(held: str | None = None) -> Result:
    return Result(status=Status.SUCCEEDED, held=held)


def refused(code: Code, message: str, held: str | None = None) -> Result:
    """Return a refusal: nothing moved."""
    return Result(status=Status.REJECTED, code=code, message=message, held=held)


def failed(code: Code, message: str, held: str | None = None) -> Result:
    return Result(status=Status.FAILED, code=code, message=message, held=held)


def movable_names(task: LiberoTask) -> list[str]:
    return [name for name, info in task.objects.items() if not info.fixture]
