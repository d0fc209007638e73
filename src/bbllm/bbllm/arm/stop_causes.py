"""
Causes of a stop, derived from the state of the robot: cause, message and remedy.

The names of errors are the fields of `franka::Errors` of libfranka 0.21, which explains them;
franka_msgs/Errors of franka_ros2 3.4.0 has 36 of these 41.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bbllm.arm.driver import RobotCondition, RobotMode
from bbllm.core.types import Code


class StopCause(Enum):
    """Why the robot's controllers went down."""

    UNKNOWN = 'unknown'
    REFLEX = 'reflex'
    MOTION_LIMIT = 'motion limit'
    """A motion that the robot will not make: too fast, too sudden, or not to be computed."""
    USER_STOP = 'user stop'
    COMMUNICATION_LOSS = 'communication loss'
    JOINT_LIMIT = 'joint limit'
    SENSOR = 'sensor'
    """The robot does not know the acceleration of its base, and with it which way is down."""


NEED_A_PERSON = frozenset(
    {StopCause.USER_STOP, StopCause.COMMUNICATION_LOSS, StopCause.JOINT_LIMIT, StopCause.SENSOR}
)
"""Causes that a program must not recover from by itself."""

CODES = {
    StopCause.UNKNOWN: Code.CONTROLLER_ABORTED,
    StopCause.REFLEX: Code.REFLEX,
    StopCause.MOTION_LIMIT: Code.CONTROLLER_ABORTED,
    StopCause.USER_STOP: Code.USER_STOP,
    StopCause.COMMUNICATION_LOSS: Code.COMMUNICATION_LOSS,
    StopCause.JOINT_LIMIT: Code.JOINT_LIMIT,
    StopCause.SENSOR: Code.CONTROLLER_ABORTED,
}

_BY_CAUSE = {
    StopCause.JOINT_LIMIT: ('joint_position_limits_violation', 'joint_move_in_wrong_direction'),
    StopCause.COMMUNICATION_LOSS: ('communication_constraints_violation',),
    StopCause.REFLEX: (
        'joint_reflex',
        'cartesian_reflex',
        'self_collision_avoidance_violation',
        'cartesian_position_limits_violation',
        'joint_velocity_violation',
        'cartesian_velocity_violation',
        'force_control_safety_violation',
        'cartesian_velocity_profile_safety_violation',
        'power_limit_violation',
        'tau_j_range_violation',
        'instability_detected',
    ),
    StopCause.SENSOR: (
        'base_acceleration_initialization_timeout',
        'base_acceleration_invalid_reading',
    ),
    StopCause.MOTION_LIMIT: (
        'max_goal_pose_deviation_violation',
        'max_path_pose_deviation_violation',
        'joint_position_motion_generator_start_pose_invalid',
        'joint_motion_generator_position_limits_violation',
        'joint_motion_generator_velocity_limits_violation',
        'joint_motion_generator_velocity_discontinuity',
        'joint_motion_generator_acceleration_discontinuity',
        'cartesian_position_motion_generator_start_pose_invalid',
        'cartesian_motion_generator_elbow_limit_violation',
        'cartesian_motion_generator_velocity_limits_violation',
        'cartesian_motion_generator_velocity_discontinuity',
        'cartesian_motion_generator_acceleration_discontinuity',
        'cartesian_motion_generator_elbow_sign_inconsistent',
        'cartesian_motion_generator_start_elbow_invalid',
        'cartesian_motion_generator_joint_position_limits_violation',
        'cartesian_motion_generator_joint_velocity_limits_violation',
        'cartesian_motion_generator_joint_velocity_discontinuity',
        'cartesian_motion_generator_joint_acceleration_discontinuity',
        'cartesian_position_motion_generator_invalid_frame',
        'force_controller_desired_force_tolerance_violation',
        'controller_torque_discontinuity',
        'start_elbow_sign_inconsistent',
        'joint_p2p_insufficient_torque_for_planning',
        'cartesian_spline_motion_generator_violation',
        'joint_via_motion_generator_planning_joint_limit_violation',
    ),
}
"""In the order of what matters most, where several are set at once."""
CAUSES = {error: cause for cause, errors in _BY_CAUSE.items() for error in errors}
"""The cause of a stop by each field of `franka::Errors`."""

_REASONS = {
    'self_collision_avoidance_violation': 'it came too near to itself',
    'cartesian_position_limits_violation': 'the hand left the space that the robot allows',
    'joint_velocity_violation': 'a joint was faster than it may',
    'cartesian_velocity_violation': 'the hand was faster than it may',
    'power_limit_violation': 'it needed more power than it may',
    'tau_j_range_violation': 'a joint needed more torque than it has (too heavy)',
    'instability_detected': 'its control became unstable',
}
"""Why a reflex came that was not a matter of force."""
_FORCE = 'it met more force than it may (too heavy, fixed, or a collision)'

_SENTENCES = {
    StopCause.UNKNOWN: 'the robot stopped while {doing} and reported no reason.',
    StopCause.REFLEX: 'a reflex stopped the arm while {doing}: {reason}.',
    StopCause.MOTION_LIMIT: (
        'the robot refused the motion and stopped while {doing}: {errors}{late}.'
    ),
    StopCause.USER_STOP: 'the user stop of the robot was pressed while {doing}.',
    StopCause.COMMUNICATION_LOSS: (
        'the robot lost the packets of its controller and stopped while {doing}.'
    ),
    StopCause.JOINT_LIMIT: 'a joint passed its limit and the robot stopped while {doing}.',
    StopCause.SENSOR: (
        'the robot could not measure the acceleration of its base and stopped while {doing}.'
    ),
}
_OUTSIDE = (
    'the robot was stopped from outside while {doing}, without an error of its own: most likely '
    'its user stop was pressed.'
)
_LATE = ', as where commands come late'
_NETWORK = 'Check the network between computer and robot (bbllm doctor --fr3 or --real does).'
_ADVICE = {
    StopCause.UNKNOWN: (
        'Check the robot and Desk: is the user stop pressed, are the joints locked, is a '
        'joint beyond its limit, is the network up?'
    ),
    StopCause.REFLEX: 'See what the arm met, and free it.',
    StopCause.MOTION_LIMIT: 'See whether the arm can move freely from where it is.',
    StopCause.USER_STOP: (
        'Make sure that nobody is in reach of the arm, then release the user stop.'
    ),
    StopCause.COMMUNICATION_LOSS: _NETWORK,
    StopCause.JOINT_LIMIT: 'Guide the joint back into its range by hand.',
    StopCause.SENSOR: 'Keep the base of the robot still, and restart its control in Desk.',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What is known of a stop of the robot."""

    cause: StopCause = StopCause.UNKNOWN
    errors: tuple[str, ...] = ()
    reported: bool = True
    """False where the cause was only concluded, from a stop without any error."""
    asked: bool = False
    """Whether a person has allowed to recover from it."""

    @property
    def code(self) -> Code:
        return CODES[self.cause]

    @property
    def needs_person(self) -> bool:
        return self.cause in NEED_A_PERSON

    @property
    def advice(self) -> str:
        return _NETWORK if self.is_discontinuity else _ADVICE[self.cause]

    @property
    def is_discontinuity(self) -> bool:
        """
        Whether the robot stopped since a command differed too much from the one before.

        Lost packets have this effect, too (Troubleshooting of Franka's documentation of its FCI):
        the robot extrapolates the motion over them.
        """
        steps = (error.endswith('_discontinuity') for error in self.errors)
        return self.cause is StopCause.MOTION_LIMIT and any(steps)

    def sentence(self, activity: str) -> str:
        """Return what happened, for the Brain; *activity* as in `lifting red_cube`."""
        text = _SENTENCES[self.cause] if self.reported else _OUTSIDE
        reason = next((_REASONS[error] for error in self.errors if error in _REASONS), _FORCE)
        errors = ', '.join(error.replace('_', ' ') for error in self.errors)
        late = _LATE if self.is_discontinuity else ''
        return text.format(doing=activity, reason=reason, errors=errors, late=late)

    def or_known(self, later: Stop) -> Stop:
        """Return the cause that a later diagnosis found, or this where it found no more."""
        if later.cause is StopCause.UNKNOWN or (self.needs_person and not later.needs_person):
            return self
        return later if later.reported or self.cause is StopCause.UNKNOWN else self


def hardware_is_up(*, shown: bool, answered: bool, controllers_active: bool) -> bool:
    """
    Return whether the hardware component counts as active.

    The cause of a stop depends on it: with the hardware up, a client has deactivated the
    controller. Without an answer since the request the state is unknown, and a person has to be
    asked; only active controllers prove it.
    """
    return shown and (answered or controllers_active)


def diagnose(condition: RobotCondition, *, hardware_was_down: bool) -> Stop:
    """
    Return why the robot stopped, as far as its state after the stop shows.

    A mode MOVE, and the errors with it, are from before it. A robot that shows no error after its
    hardware component went down was stopped from outside.
    """
    if condition.mode is RobotMode.USER_STOPPED:
        return Stop(cause=StopCause.USER_STOP)
    if condition.mode in (None, RobotMode.MOVE):
        return Stop()
    errors = condition.current_errors or condition.last_errors
    found = {CAUSES.get(error, StopCause.UNKNOWN) for error in errors}
    for cause in _BY_CAUSE:
        if cause in found:
            return Stop(cause=cause, errors=errors)
    if condition.mode is RobotMode.REFLEX:
        return Stop(cause=StopCause.REFLEX, errors=errors)
    if hardware_was_down and not errors:
        return Stop(cause=StopCause.USER_STOP, reported=False)
    return Stop(errors=errors)
