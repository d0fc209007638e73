"""A call that geometry rules out, before anything moves."""

from dataclasses import dataclass

from bbllm.core.types import Code, Outcome, SkillCall, Status


@dataclass(frozen=True, slots=True)
class Rejection:
    """A precondition that is not met; nothing moved."""

    code: Code
    message: str
    """One plain sentence, for the Brain."""

    def outcome(self, call: SkillCall) -> Outcome:
        return Outcome(call=call, status=Status.REJECTED, code=self.code, message=self.message)
