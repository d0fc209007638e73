"""Failures of skills: a code, a message for the Brain, and the controller's own text."""

import math

from bbllm.arm.driver import FollowError, FollowResult, GoalStatus, GripperResult
from bbllm.arm.stop_causes import Stop
from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.errors import BbllmError
from bbllm.core.types import Code, Outcome, Scene, SceneObject, SkillCall, Status
from bbllm.skills.containers import lies_in
from bbllm.skills.needs import IN_REACH
from bbllm.skills.placing import square, yaw_like
from bbllm.skills.segments import Glide, Rest
from bbllm.skills.shapes import is_round

EMPTY_WIDTH_M = 0.003
"""Fingers nearer together than this are empty [m]."""

BACK_OFF_CODES = frozenset(
    {
        Code.GRASP_FAILED,
        Code.WOULD_NOT_RISE,
        Code.PATH_TOLERANCE,
        Code.GOAL_TOLERANCE,
        Code.GRIPPER_FAILED,
        Code.CONTROLLER_ABORTED,
        Code.REFLEX,
    }
)
HELD_BACK_CODES = frozenset({Code.PATH_TOLERANCE, Code.GOAL_TOLERANCE})
"""Failures of an arm that may be caught on something."""
STOPPED_CODES = frozenset(
    {
        Code.CANCELLED,
        Code.NEEDS_PERSON,
        Code.USER_STOP,
        Code.COMMUNICATION_LOSS,
        Code.JOINT_LIMIT,
        Code.REFLEX,
        Code.CONTROLLER_ABORTED,
    }
)


class SkillError(BbllmError):
    """A call that cannot go on; `execute` turns it into an Outcome."""

    def __init__(self, code: Code, message: str, raw: str = '', *, moved: bool = True):
        super().__init__(message)
        self.code = code
        self.raw = raw
        self.moved = moved
        """False where a precondition was not met, so that nothing was tried."""
        self.resumed = False
        """Whether a person had to let the robot go on, who allowed no more than that."""
        self.lets_go = False
        """Whether what is gripped may be fixed, so that it is let go of before the arm rises."""

    @property
    def may_back_off(self) -> bool:
        return (self.code in BACK_OFF_CODES or self.lets_go) and not self.resumed

    @property
    def stopped(self) -> bool:
        return self.code in STOPPED_CODES

    def outcome(self, call: SkillCall) -> Outcome:
        return Outcome(
            call=call,
            status=Status.FAILED if self.moved else Status.REJECTED,
            code=self.code,
            message=str(self),
            raw=self.raw,
        )


def untouched(failure: SkillError) -> Status:
    """A cancel or stop before anything moved is still a failure; all else was not tried."""
    return Status.FAILED if failure.stopped else Status.REJECTED


class StuckError(SkillError):
    """The arm cannot move any more until something is done about it."""


class LateHandError(SkillError):
    """The arm was stopped on its way, at rest, as the fingers had not arrived in time."""


def stop_failure(stop: Stop, activity: str, raw: str = '') -> SkillError:
    """Return the failure of a call that ended because the robot stopped and was recovered."""
    resumed = ' A person has let the robot go on since.' if stop.asked else ''
    failure = SkillError(stop.code, stop.sentence(activity) + resumed, raw)
    failure.resumed = stop.asked
    return failure


def follow_failure(result: FollowResult, activity: str) -> SkillError | None:
    """Return why a trajectory goal did not succeed, None where it did."""
    if result.status is GoalStatus.SUCCEEDED:
        return None
    raw = result.error_string
    if result.status in (GoalStatus.TIMED_OUT, GoalStatus.ENDLESS):
        return _late('the controller', result.status, activity, raw)
    if result.status is GoalStatus.CANCELED:
        return SkillError(Code.CANCELLED, f'the robot was stopped while {activity}.', raw)
    if result.status is GoalStatus.REJECTED:
        return SkillError(
            Code.GOAL_REJECTED, f'the controller refused the motion for {activity}.', raw
        )
    if result.error_code is FollowError.PATH_TOLERANCE_VIOLATED:
        return SkillError(
            Code.PATH_TOLERANCE,
            f'the arm was held back while {activity}; something may be in its way.',
            raw,
        )
    if result.error_code is FollowError.GOAL_TOLERANCE_VIOLATED:
        return SkillError(
            Code.GOAL_TOLERANCE, f'the arm did not get to its goal in time while {activity}.', raw
        )
    return SkillError(Code.CONTROLLER_ABORTED, f'the controller gave up while {activity}.', raw)


def gripper_failure(result: GripperResult, activity: str) -> SkillError | None:
    """Return why a goal of the hand could not be carried out, None where it could."""
    if result.status is GoalStatus.SUCCEEDED and result.success:
        return None
    if result.status is GoalStatus.CANCELED:
        return SkillError(Code.CANCELLED, f'the robot was stopped while {activity}.', result.error)
    if result.status in (GoalStatus.TIMED_OUT, GoalStatus.ENDLESS):
        return _late('the hand', result.status, activity, result.error)
    reason = f': {result.error.rstrip(".!")}' if result.error else ' and reported no reason'
    return SkillError(
        Code.GRIPPER_FAILED, f'the hand failed while {activity}{reason}.', result.error
    )


def out_of_reach(target: str, raw: str = '') -> SkillError:
    """Return that the arm cannot get to a target at all."""
    far = IN_REACH.refusal({'target': target})
    return SkillError(far.code, far.message, raw, moved=False)


def missed_grasp(name: str, width_m: float, result: GripperResult) -> SkillError:
    """Return why a grasp that was carried out missed its object [m]."""
    if result.width_m < EMPTY_WIDTH_M:
        return SkillError(Code.GRASP_FAILED, f'grasp of {name} failed: fingers closed on nothing.')
    apart, wide = (f'{each_m * 100:.1f} cm' for each_m in (result.width_m, width_m))
    why = f'the fingers stopped {apart} apart, but {name} is {wide} wide'
    if apart == wide:
        why = f'the hand reported a miss, though the fingers stopped {apart} apart, as wide as it'
    return SkillError(Code.GRASP_FAILED, f'grasp of {name} failed: {why}.')


def unheld(name: str, width_m: float) -> SkillError:
    """Return why something is not in the hand after it was lifted; fingers so far apart [m]."""
    if width_m < EMPTY_WIDTH_M:
        return SkillError(
            Code.OBJECT_LOST, f'{name} slipped out of the fingers while it was lifted.'
        )
    return SkillError(
        Code.GRASP_FAILED,
        f'grasp of {name} failed: after lifting, {name} is not in the hand.',
    )


def unlifted(name: str, cap_n: float, raw: str = '') -> SkillError:
    """Return that something did not come along when it was lifted with a force [N]."""
    failure = SkillError(
        Code.WOULD_NOT_RISE,
        f'{name} did not rise: the lift took more than {cap_n:g} N, as it does of what is fixed '
        f'to the table or weighs about {cap_n / GRAVITY_M_S2:.2g} kg or more.',
        raw,
    )
    failure.lets_go = True
    return failure


def unfelt(name: str, silence: str) -> SkillError:
    """Return that the force of a lift is not reported; *silence* names the source."""
    failure = SkillError(
        Code.TIMEOUT,
        f'{name} was not lifted, as it may be fixed: the robot no longer reports the force at '
        'its hand. With its state broadcaster active and the arm away from '
        'a singularity it would be lifted.',
        silence,
    )
    failure.lets_go = True
    return failure


def let_go(failure: SkillError) -> SkillError:
    message = str(failure).rstrip('.')
    return SkillError(failure.code, f'{message}; the hand has let go of it.', failure.raw)


def unglided(glide: Glide, why: str) -> SkillError:
    """Return that the arm cannot follow a straight way; *why* is of the planner."""
    reason = why[:1].lower() + why[1:].rstrip('.')
    instead = f'; {glide.instead}' if glide.instead else ''
    return SkillError(
        Code.NO_PATH, f'{glide.activity} is not possible: {reason}{instead}.', why, moved=False
    )


def jammed(failure: SkillError, glide: Glide) -> SkillError:
    """Return the failure of a straight way, with the reason of the skill where it met a force."""
    met_force = failure.code is Code.REFLEX or failure.code in HELD_BACK_CODES
    if glide.jammed and met_force and not isinstance(failure, StuckError):
        failure.args = (f'{failure} {glide.jammed}',)
    return failure


def misplaced(scene: Scene, rest: Rest) -> SkillError | None:
    """Return why an object is not where it was to come to rest, None where it is."""
    name, target = rest.name, rest.target
    if scene.held == name:
        return SkillError(
            Code.GRIPPER_FAILED, f'{name} is still in the hand after the fingers opened.'
        )
    if name not in scene.names:
        return SkillError(Code.OBJECT_LOST, f'{name} is not seen any more.')
    if target.within in scene.names:
        if lies_in(scene.object(name), scene.object(target.within)):
            return None
        return SkillError(
            Code.MISPLACED, f'{name} was let go but does not lie in {target.within}.'
        )
    error = math.dist(scene.object(name).pose.position_m, target.centre_m)
    if error > rest.tolerance_m:
        return SkillError(
            Code.MISPLACED, f'{name} came to rest {error * 100:.1f} cm from {target.label}.'
        )
    off_rad = _turned_off(scene.object(name), target.yaw_rad)
    if rest.tolerance_rad is None or off_rad <= rest.tolerance_rad:
        return None
    return SkillError(
        Code.MISPLACED,
        f'{name} came to rest turned {math.degrees(off_rad):.0f} degrees off {target.label}.',
    )


def _turned_off(item: SceneObject, yaw_rad: float) -> float:
    """Return how far an object is turned from a yaw, as far as its outline shows it [rad]."""
    if is_round(item):
        return 0.0
    whole = math.pi / 2 if square(item) else math.pi
    return abs(math.remainder(yaw_like(item) - yaw_rad, whole))


def _late(who: str, status: GoalStatus, activity: str, raw: str) -> SkillError:
    ended = (
        'its goal was cancelled'
        if status is GoalStatus.TIMED_OUT
        else 'its goal did not even end when it was cancelled, so the driver may hang'
    )
    return SkillError(
        Code.TIMEOUT, f'{who} did not finish in time while {activity}; {ended}.', raw
    )
