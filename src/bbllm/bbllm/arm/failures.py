"""How a skill fails: a code, one plain sentence for the Brain, and the controller's own text."""

from __future__ import annotations

from bbllm.arm.driver import (
    FollowError,
    FollowResult,
    GoalStatus,
    GripperResult,
    Recovery,
    StopCause,
)
from bbllm.core.errors import BbllmError
from bbllm.core.types import Code, Outcome, SkillCall, Status

EMPTY_WIDTH_M = 0.003
"""Fingers nearer together than this hold nothing [m]."""


class SkillError(BbllmError):
    """A call that cannot go on; `execute` turns it into an Outcome."""

    def __init__(self, code: Code, message: str, raw: str = '', *, moved: bool = True):
        super().__init__(message)
        self.code = code
        self.raw = raw
        self.moved = moved
        """False where a precondition did not hold, so that nothing was tried."""

    def outcome(self, call: SkillCall) -> Outcome:
        """Return the same as an Outcome."""
        return Outcome(
            call=call,
            status=Status.FAILED if self.moved else Status.REJECTED,
            code=self.code,
            message=str(self),
            raw=self.raw,
        )


class StuckError(SkillError):
    """The arm cannot move any more until something is done about it."""


def stopped(failure: SkillError, recovery: Recovery, doing: str) -> SkillError:
    """
    Return a failure of the controller with what had stopped the robot.

    Args:
        failure: What the controller told, which does not know why.
        recovery: How the recovery from it went.
        doing: What the arm was about.
    """
    if recovery.cause is StopCause.USER_STOP:
        if recovery.recovered:
            message = f'the user stop of the robot was pressed while {doing}.'
            return SkillError(Code.USER_STOP, message, failure.raw)
        message = 'the user stop is pressed; release it, then say it again.'
        return StuckError(Code.USER_STOP, message, failure.raw)
    if not recovery.recovered:
        message = f'{failure} The robot did not recover; a person must look.'
        return StuckError(failure.code, message, failure.raw)
    if recovery.cause is StopCause.REFLEX:
        message = (
            f'a reflex stopped the arm while {doing}: it met more force than it may '
            '(too heavy, fixed, or a collision).'
        )
        return SkillError(failure.code, message, failure.raw)
    return failure


def follow_failure(result: FollowResult, doing: str) -> SkillError | None:
    """
    Return why a trajectory goal did not succeed, None where it did.

    Args:
        result: How the goal ended.
        doing: What the arm was about, for the sentence: `moving above red_cube`.
    """
    if result.status is GoalStatus.SUCCEEDED:
        return None
    raw = result.error_string
    if result.status is GoalStatus.ABORTED and _names_timeout(raw):
        return SkillError(
            Code.TIMEOUT, f'the controller did not answer in time while {doing}.', raw
        )
    if result.status is GoalStatus.CANCELED:
        return SkillError(Code.CANCELLED, f'the robot was stopped while {doing}.', raw)
    if result.status is GoalStatus.REJECTED:
        return SkillError(
            Code.GOAL_REJECTED, f'the controller refused the motion for {doing}.', raw
        )
    if result.error_code is FollowError.PATH_TOLERANCE_VIOLATED:
        return SkillError(
            Code.PATH_TOLERANCE,
            f'the arm was held back while {doing}; something may be in its way.',
            raw,
        )
    if result.error_code is FollowError.GOAL_TOLERANCE_VIOLATED:
        return SkillError(
            Code.GOAL_TOLERANCE, f'the arm did not get to its goal in time while {doing}.', raw
        )
    return _aborted(raw, doing)


def gripper_failure(result: GripperResult, doing: str) -> SkillError | None:
    """Return why a goal of the hand could not be carried out, None where it could."""
    if result.status is GoalStatus.SUCCEEDED and result.success:
        return None
    if result.status is GoalStatus.CANCELED:
        return SkillError(Code.CANCELLED, f'the robot was stopped while {doing}.', result.error)
    if _names_timeout(result.error):
        return SkillError(
            Code.TIMEOUT, f'the hand did not answer in time while {doing}.', result.error
        )
    return SkillError(Code.GRIPPER_FAILED, f'the hand failed while {doing}.', result.error)


def missed_grasp(name: str, width_m: float, result: GripperResult) -> SkillError:
    """Return why a grasp that was carried out did not hold what it should [m]."""
    if result.width_m < EMPTY_WIDTH_M:
        return SkillError(Code.GRASP_FAILED, f'grasp of {name} failed: fingers closed on nothing.')
    return SkillError(
        Code.GRASP_FAILED,
        f'grasp of {name} failed: the fingers stopped {result.width_m * 100:.1f} cm apart, '
        f'but {name} is {width_m * 100:.1f} cm wide.',
    )


def _aborted(raw: str, doing: str) -> SkillError:
    if 'user stop' in raw.lower():
        return SkillError(
            Code.USER_STOP, f'the user stop of the robot was pressed while {doing}.', raw
        )
    return SkillError(Code.CONTROLLER_ABORTED, f'the controller gave up while {doing}.', raw)


def _names_timeout(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in ('timeout', 'time-out', 'timed out', 'no result'))
