"""The state broadcaster of the simulated robot: `robot_state` and its convenience topics."""

from functools import partial
from typing import Any

import numpy as np
from franka_msgs.msg import CollisionIndicators, Elbow, Errors, FrankaRobotState
from geometry_msgs import msg as geometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.model import ARM_JOINTS
from bbllm.core.types import Pose
from bbllm.ros.convert.arm import BASE_FRAME, joint_state_to_msg
from bbllm.ros.convert.records import BEST_EFFORT, header, pose_to_msg, vector_to_msg
from bbllm.ros.sim.loop import SimLoop
from bbllm.sim.controllers.manager import STATE_BROADCASTER
from bbllm.sim.reading import RobotReading, quat_xyzw, read_robot, read_wrenches, tool_load
from bbllm.sim.robot_settings import Load, joined

FLANGE_FRAME = 'fr3_link8'
TOOL_FRAME = 'fr3_hand_tcp'
NEWEST = QoSProfile(depth=1)
WRENCHES = ('k_f_ext_hat_k', 'o_f_ext_hat_k')
ZEROS = np.zeros(N_JOINTS)


class SimState:
    """Publishes what the driver's state broadcaster does, as far as anything subscribes."""

    def __init__(self, node: Node, loop: SimLoop):
        self._loop = loop
        self._whole = node.create_publisher(
            FrankaRobotState, f'{STATE_BROADCASTER}/robot_state', NEWEST
        )
        self._parts = [
            (node.create_publisher(kind, f'{STATE_BROADCASTER}/{name}', BEST_EFFORT), part)
            for kind, name, part in (
                (geometry.PoseStamped, 'current_pose', 'o_t_ee'),
                (geometry.PoseStamped, 'last_desired_pose', 'o_t_ee_d'),
                (geometry.TwistStamped, 'desired_end_effector_twist', 'o_dp_ee_d'),
                (geometry.WrenchStamped, 'external_wrench_in_base_frame', 'o_f_ext_hat_k'),
                (geometry.WrenchStamped, 'external_wrench_in_stiffness_frame', 'k_f_ext_hat_k'),
                (JointStateMsg, 'measured_joint_states', 'measured_joint_state'),
                (JointStateMsg, 'external_joint_torques', 'tau_ext_hat_filtered'),
                (JointStateMsg, 'desired_joint_states', 'desired_joint_state'),
            )
        ]
        self._tool: Load | None = None

    def publish(self) -> None:
        robot = self._loop.robot
        wanted = [(to, part) for to, part in self._parts if to.get_subscription_count()]
        whole = self._whole.get_subscription_count()
        if robot.hangs or not robot.controllers.is_active(STATE_BROADCASTER):
            return
        if not (wanted or whole):
            return
        if self._tool is None:
            with robot.paused() as simulation:
                self._tool = tool_load(simulation)
        reading = read_robot(robot)
        state = state_to_msg(reading, self._tool, self._loop.stamp_s(reading.stamp_s))
        if whole:
            self._whole.publish(state)
        for to, part in wanted:
            to.publish(getattr(state, part))

    def publish_wrenches(self) -> None:
        """Publish the wrench alone, which clients that weigh need as often as it comes."""
        robot = self._loop.robot
        wanted = [(to, part) for to, part in self._parts if part in WRENCHES]
        wanted = [(to, part) for to, part in wanted if to.get_subscription_count()]
        if not wanted or robot.hangs or not robot.controllers.is_active(STATE_BROADCASTER):
            return
        sim_s, k_f_ext, o_f_ext = read_wrenches(robot)
        told = {'k_f_ext_hat_k': (TOOL_FRAME, k_f_ext), 'o_f_ext_hat_k': (BASE_FRAME, o_f_ext)}
        for to, part in wanted:
            frame, values = told[part]
            to.publish(_wrench(header(self._loop.stamp_s(sim_s), frame), values))


def state_to_msg(reading: RobotReading, tool: Load, stamp_s: float) -> FrankaRobotState:
    """
    Write a reading as the driver does, in the frames that it has with a hand mounted.

    What a controller of torques leaves at zero there is zero here too: twist, acceleration and
    elbow of Cartesian motions, and the derivative of the torque.
    """
    joints = partial(joint_state_to_msg, ARM_JOINTS, stamp_s=stamp_s)
    base, flange, hand = (
        header(stamp_s, frame) for frame in (BASE_FRAME, FLANGE_FRAME, TOOL_FRAME)
    )
    both = joined(tool, reading.load)
    desired = list(reading.elbow_d)
    return FrankaRobotState(
        header=header(stamp_s, ''),
        collision_indicators=_indicators(reading),
        measured_joint_state=joints(reading.q, reading.dq, reading.torque_nm),
        desired_joint_state=joints(reading.q_d, reading.dq_d, reading.torque_d_nm),
        measured_joint_motor_state=joints(reading.q, reading.dq, ZEROS),
        tau_ext_hat_filtered=joints(ZEROS, ZEROS, reading.external_torque_nm),
        ddq_d=reading.ddq_d,
        elbow=Elbow(
            position=list(reading.elbow), desired_position=desired, commanded_position=desired
        ),
        k_f_ext_hat_k=_wrench(hand, reading.k_f_ext),
        o_f_ext_hat_k=_wrench(base, reading.o_f_ext),
        inertia_ee=geometry.InertiaStamped(header=hand, inertia=_inertia(tool)),
        inertia_load=geometry.InertiaStamped(header=flange, inertia=_inertia(reading.load)),
        inertia_total=geometry.InertiaStamped(header=hand, inertia=_inertia(both)),
        o_t_ee=_pose(base, reading.o_t_ee),
        o_t_ee_d=_pose(base, reading.o_t_ee_d),
        o_t_ee_c=_pose(base, reading.o_t_ee_d),
        f_t_ee=_pose(flange, reading.f_t_ee),
        ee_t_k=_pose(hand, reading.ee_t_k),
        o_dp_ee_d=geometry.TwistStamped(
            header=base,
            twist=geometry.Twist(
                linear=vector_to_msg(reading.o_dp_ee_d[:3]),
                angular=vector_to_msg(reading.o_dp_ee_d[3:]),
            ),
        ),
        o_dp_ee_c=geometry.TwistStamped(header=base),
        o_ddp_ee_c=geometry.AccelStamped(header=base),
        time=reading.stamp_s,
        control_command_success_rate=1.0,
        robot_mode=int(reading.mode),
        current_errors=Errors(**dict.fromkeys(reading.errors, True)),
        last_motion_errors=Errors(**dict.fromkeys(reading.last_errors, True)),
    )


def _indicators(reading: RobotReading) -> CollisionIndicators:
    parts: dict[str, Any] = {}
    for kind, flags in (('contact', reading.contacts), ('collision', reading.collisions)):
        numbers = flags.astype(float).tolist()
        parts[f'is_joint_{kind}'] = numbers[:7]
        parts[f'is_cartesian_linear_{kind}'] = vector_to_msg(numbers[7:10])
        parts[f'is_cartesian_angular_{kind}'] = vector_to_msg(numbers[10:])
    return CollisionIndicators(**parts)


def _pose(head: Header, T: Array) -> geometry.PoseStamped:
    (x, y, z), (qx, qy, qz, qw) = T[:3, 3].tolist(), quat_xyzw(T)
    pose = Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))
    return geometry.PoseStamped(header=head, pose=pose_to_msg(pose))


def _wrench(head: Header, values: Array) -> geometry.WrenchStamped:
    force, torque = vector_to_msg(values[:3]), vector_to_msg(values[3:])
    return geometry.WrenchStamped(header=head, wrench=geometry.Wrench(force=force, torque=torque))


def _inertia(load: Load) -> geometry.Inertia:
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = load.inertia_kg_m2.tolist()
    return geometry.Inertia(
        m=float(load.mass_kg),
        com=vector_to_msg(load.centre_m),
        **{'ixx': ixx, 'ixy': ixy, 'ixz': ixz, 'iyy': iyy, 'iyz': iyz, 'izz': izz},
    )
