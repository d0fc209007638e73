"""The state broadcaster over ROS: `robot_state` and its convenience topics."""

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
from franka_msgs.msg import CollisionIndicators, Elbow, Errors, FrankaRobotState
from geometry_msgs import msg as geometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header

from bbllm.arm.controllers.manager import STATE_BROADCASTER
from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.robot_settings import Load, joined
from bbllm.arm.robot_state import Mounted, RobotState
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import FLANGE
from bbllm.sim.reading import elbow_of, quat_xyzw, tool_twist
from bbllm_ros.convert.arm import BASE_FRAME, joint_state_to_msg
from bbllm_ros.convert.records import (
    BEST_EFFORT,
    header,
    pose_to_msg,
    stamp_to_msg,
    vector_to_msg,
)
from bbllm_ros.driver_front.backend import Backend

FLANGE_FRAME = FR3.flange_link
TOOL_FRAME = FR3.tcp_link
NEWEST = QoSProfile(depth=1)
TOPICS = (
    (FrankaRobotState, 'robot_state', '', NEWEST),
    (geometry.PoseStamped, 'current_pose', 'o_t_ee', BEST_EFFORT),
    (geometry.PoseStamped, 'last_desired_pose', 'o_t_ee_d', BEST_EFFORT),
    (geometry.TwistStamped, 'desired_end_effector_twist', 'o_dp_ee_d', BEST_EFFORT),
    (geometry.WrenchStamped, 'external_wrench_in_base_frame', 'o_f_ext_hat_k', BEST_EFFORT),
    (geometry.WrenchStamped, 'external_wrench_in_stiffness_frame', 'k_f_ext_hat_k', BEST_EFFORT),
    (JointStateMsg, 'measured_joint_states', 'measured_joint_state', BEST_EFFORT),
    (JointStateMsg, 'external_joint_torques', 'tau_ext_hat_filtered', BEST_EFFORT),
    (JointStateMsg, 'desired_joint_states', 'desired_joint_state', BEST_EFFORT),
)
"""Type, name, field of the robot state (the whole without one), and quality of each topic."""
WRENCH_FRAMES = {'k_f_ext_hat_k': TOOL_FRAME, 'o_f_ext_hat_k': BASE_FRAME}
"""Fields of the wrenches with their frames, in the order of `Backend.wrenches`."""
ZEROS = np.zeros(N_JOINTS)
NO_ERRORS = Errors()


class StatePublisher:
    """Publishes what the driver's state broadcaster does, as far as anything subscribes."""

    def __init__(self, node: Node, backend: Backend):
        self._backend = backend
        self._topics = [
            (node.create_publisher(kind, f'{STATE_BROADCASTER}/{name}', qos), field)
            for kind, name, field, qos in TOPICS
        ]
        self._state = FrankaRobotState()
        self._wrenches = {
            field: geometry.WrenchStamped(header=header(0.0, frame))
            for field, frame in WRENCH_FRAMES.items()
        }

    def publish(self, *, wrenches_only: bool = False) -> None:
        """*wrenches_only*: the topics that clients which weigh need as often as they come."""
        robot = self._backend.robot
        if robot.hangs or not robot.controllers.is_active(STATE_BROADCASTER):
            return
        wanted = [
            (topic, field)
            for topic, field in self._topics
            if ('_f_ext_' in field or not wrenches_only) and topic.get_subscription_count()
        ]
        if not wanted:
            return
        with robot.paused():
            self._write_wrenches(self._backend.now_s)
            if not wrenches_only:  # a whole state has fifty messages within it
                write_state(self._state, *self._backend.state(), self._wrenches)
        for topic, field in wanted:
            topic.publish(
                self._wrenches.get(field)
                or (getattr(self._state, field) if field else self._state)
            )

    def _write_wrenches(self, stamp_s: float) -> None:
        stamp = stamp_to_msg(stamp_s)
        for msg, read in zip(self._wrenches.values(), self._backend.wrenches(), strict=True):
            msg.header.stamp = stamp
            force, torque = msg.wrench.force, msg.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = read.tolist()


def write_state(
    into: FrankaRobotState,
    state: RobotState,
    mounted: Mounted,
    stamp_s: float,
    wrenches: dict[str, geometry.WrenchStamped],
) -> None:
    """
    Write a state as the driver does, in its frames with a hand mounted.

    What a controller of torques leaves at zero there is zero here too: twist, acceleration and
    elbow of Cartesian motions, and the derivative of the torque.
    """
    q, dq = state.position_rad, state.velocity_rad_s
    q_d, dq_d = state.set_point_rad, state.set_point_rad_s
    T_flange_ee = mounted.T_flange_ee
    flange, flange_d = FR3.kinematics.link_frames(np.array([q, q_d]))[:, FLANGE]
    twist = tool_twist(FR3, q_d, dq_d, flange_d, T_flange_ee)
    both, elbow_d = joined(mounted.tool, mounted.load), elbow_of(FR3, q_d)
    joints = partial(joint_state_to_msg, FR3.joints, stamp_s=stamp_s)
    base_head, flange_head, hand_head = (
        header(stamp_s, frame) for frame in (BASE_FRAME, FLANGE_FRAME, TOOL_FRAME)
    )
    fields = dict[str, Any](
        header=header(stamp_s, ''),
        collision_indicators=_indicators(state),
        measured_joint_state=joints(q, dq, state.torque_nm),
        desired_joint_state=joints(q_d, dq_d, state.desired_nm),
        measured_joint_motor_state=joints(q, dq, ZEROS),
        tau_ext_hat_filtered=joints(ZEROS, ZEROS, state.external_nm),
        ddq_d=state.set_point_rad_s2,
        elbow=Elbow(
            position=elbow_of(FR3, q), desired_position=elbow_d, commanded_position=elbow_d
        ),
        inertia_ee=geometry.InertiaStamped(header=hand_head, inertia=_inertia(mounted.tool)),
        inertia_load=geometry.InertiaStamped(header=flange_head, inertia=_inertia(mounted.load)),
        inertia_total=geometry.InertiaStamped(header=hand_head, inertia=_inertia(both)),
        o_t_ee=_pose(base_head, flange @ T_flange_ee),
        o_t_ee_d=_pose(base_head, flange_d @ T_flange_ee),
        o_t_ee_c=_pose(base_head, flange_d @ T_flange_ee),
        f_t_ee=_pose(flange_head, T_flange_ee),
        ee_t_k=_pose(hand_head, mounted.T_ee_stiffness),
        o_dp_ee_d=geometry.TwistStamped(
            header=base_head,
            twist=geometry.Twist(
                linear=vector_to_msg(twist[:3]), angular=vector_to_msg(twist[3:])
            ),
        ),
        o_dp_ee_c=geometry.TwistStamped(header=base_head),
        o_ddp_ee_c=geometry.AccelStamped(header=base_head),
        time=state.robot_s,
        control_command_success_rate=state.success_rate,
        robot_mode=int(state.mode),
        current_errors=_errors(state.current_errors),
        last_motion_errors=_errors(state.last_errors),
        **wrenches,
    )
    for field, value in fields.items():
        setattr(into, field, value)


FIELDS_OF_ERRORS = frozenset(Errors.get_fields_and_field_types())


def _errors(names: Collection[str]) -> Errors:
    """Return the message, which lacks the newest errors of libfranka."""
    known = FIELDS_OF_ERRORS.intersection(names)
    return Errors(**dict.fromkeys(known, True)) if known else NO_ERRORS


def _indicators(state: RobotState) -> CollisionIndicators:
    parts: dict[str, Any] = {}
    for kind, flags in (('contact', state.contacts), ('collision', state.collisions)):
        numbers = flags.astype(float).tolist()
        parts[f'is_joint_{kind}'] = numbers[:7]
        parts[f'is_cartesian_linear_{kind}'] = vector_to_msg(numbers[7:10])
        parts[f'is_cartesian_angular_{kind}'] = vector_to_msg(numbers[10:])
    return CollisionIndicators(**parts)


def _pose(head: Header, T: Array) -> geometry.PoseStamped:
    (x, y, z), (qx, qy, qz, qw) = T[:3, 3].tolist(), quat_xyzw(T)
    pose = Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))
    return geometry.PoseStamped(header=head, pose=pose_to_msg(pose))


def _inertia(load: Load) -> geometry.Inertia:
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = load.inertia_kg_m2.tolist()
    return geometry.Inertia(
        m=float(load.mass_kg),
        com=vector_to_msg(load.centre_m),
        **{'ixx': ixx, 'ixy': ixy, 'ixz': ixz, 'iyy': iyy, 'iyz': iyz, 'izz': izz},
    )
