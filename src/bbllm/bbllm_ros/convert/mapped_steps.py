"""What steps were mapped to, as messages and back."""

from bbllm_interfaces.msg import BodyModel
from bbllm_interfaces.msg import MappedStep as MappedStepMsg

from bbllm.core.errors import ParseError
from bbllm.core.protocols import MappedStep, Pass
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.step_grammar import call_of
from bbllm_ros.convert.records import from_msg, to_msg


def mapped_to_msg(mapped: MappedStep | None) -> MappedStepMsg:
    match mapped:
        case SkillCall():
            return MappedStepMsg(status=MappedStepMsg.CALL, call=to_msg(mapped))
        case Pass(reason):
            return MappedStepMsg(status=MappedStepMsg.PASSED, message=reason)
        case ParseError():
            return MappedStepMsg(status=MappedStepMsg.FAILED, message=str(mapped))
    return MappedStepMsg()


def mapped_from_msg(msg: MappedStepMsg) -> MappedStep | None:
    """Read what a step was mapped to; what another version adds is mapped at its turn."""
    match msg.status:
        case MappedStepMsg.CALL:
            return from_msg(SkillCall, msg.call)
        case MappedStepMsg.PASSED:
            return Pass(msg.message)
        case MappedStepMsg.FAILED:
            return ParseError(msg.message)
    return None


def read_call(step: PlanStep, scene: Scene, reported: BodyModel) -> MappedStep | None:
    """Return the call, or its error, that `body_mapper` would read in a step; None if it asks."""
    try:
        return call_of(step.text, scene) if reported.reads_calls else None
    except ParseError as error:
        return error
