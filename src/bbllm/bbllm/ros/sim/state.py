"""The state broadcaster of the simulated robot: `robot_state` and its convenience topics."""

from typing import Any

import numpy as np
from franka_msgs.msg import FrankaRobotState
from geometry_msgs import msg as geometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.model import ARM_JOINTS
from bbllm.ros.convert.arm import BASE_FRAME
from bbllm.ros.convert.records import BEST_EFFORT, header, stamp_to_msg, vector_to_msg
from bbllm.ros.sim.loop import SimLoop
from bbllm.sim.controllers.manager import STATE_BROADCASTER
from bbllm.sim.reading import RobotReading, quat_xyzw, read_robot, read_wrenches, tool_load
from bbllm.sim.robot_settings import Load, joined

FLANGE_FRAME = 'fr3_link8'
TOOL_FRAME = 'fr3_hand_tcp'
NEWEST = QoSProfile(depth=1)
FRAMES = {
    BASE_FRAME: (
        'measured_joint_state',
        'desired_joint_state',
        'measured_joint_motor_state',
        'tau_ext_hat_filtered',
        'o_f_ext_hat_k',
        'o_t_ee',
        'o_t_ee_d',
        'o_t_ee_c',
        'o_dp_ee_d',
        'o_dp_ee_c',
        'o_ddp_ee_c',
    ),
    FLANGE_FRAME: ('f_t_ee', 'inertia_load'),
    TOOL_FRAME: ('k_f_ext_hat_k', 'ee_t_k', 'inertia_ee', 'inertia_total'),
}
"""Frame of each part of the state, as the driver writes it with a hand mounted."""
WRENCHES = ('k_f_ext_hat_k', 'o_f_ext_hat_k')
ZEROS = [0.0] * N_JOINTS


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
            head = header(self._loop.stamp_s(sim_s), frame)
            to.publish(geometry.WrenchStamped(header=head, wrench=_wrench(values)))


def state_to_msg(reading: RobotReading, tool: Load, stamp_s: float) -> FrankaRobotState:
    """
    Write a reading as the driver does.

    What a controller of torques leaves at zero there is zero here too: twist, acceleration and
    elbow of Cartesian motions, and the derivative of the torque.
    """
    msg = FrankaRobotState()
    _write_headers(msg, stamp_s)
    _write_joints(msg, reading)
    _write_indicators(msg.collision_indicators, reading)
    msg.elbow.position = list(reading.elbow)
    msg.elbow.desired_position = msg.elbow.commanded_position = list(reading.elbow_d)
    msg.k_f_ext_hat_k.wrench = _wrench(reading.k_f_ext)
    msg.o_f_ext_hat_k.wrench = _wrench(reading.o_f_ext)
    for whole, part in (
        (msg.inertia_ee, tool),
        (msg.inertia_load, reading.load),
        (msg.inertia_total, joined(tool, reading.load)),
    ):
        whole.inertia = _inertia(part)
    for pose, T in (
        (msg.o_t_ee, reading.o_t_ee),
        (msg.o_t_ee_d, reading.o_t_ee_d),
        (msg.o_t_ee_c, reading.o_t_ee_d),
        (msg.f_t_ee, reading.f_t_ee),
        (msg.ee_t_k, reading.ee_t_k),
    ):
        x, y, z = T[:3, 3].tolist()
        quat = quat_xyzw(T)
        pose.pose = geometry.Pose(
            position=geometry.Point(x=x, y=y, z=z),
            orientation=geometry.Quaternion(x=quat[0], y=quat[1], z=quat[2], w=quat[3]),
        )
    msg.o_dp_ee_d.twist = geometry.Twist(
        linear=vector_to_msg(reading.o_dp_ee_d[:3]), angular=vector_to_msg(reading.o_dp_ee_d[3:])
    )
    msg.time = reading.stamp_s
    msg.control_command_success_rate = 1.0
    msg.robot_mode = int(reading.mode)
    for errors, names in (
        (msg.current_errors, reading.errors),
        (msg.last_motion_errors, reading.last_errors),
    ):
        for name in names:
            setattr(errors, name, True)
    return msg


def _write_joints(msg: FrankaRobotState, reading: RobotReading) -> None:
    for part, values in (
        (msg.measured_joint_state, (reading.q, reading.dq, reading.torque_nm)),
        (msg.desired_joint_state, (reading.q_d, reading.dq_d, reading.torque_d_nm)),
        (msg.measured_joint_motor_state, (reading.q, reading.dq, np.zeros(N_JOINTS))),
    ):
        part.name = list(ARM_JOINTS)
        part.position, part.velocity, part.effort = (value.tolist() for value in values)
    external = msg.tau_ext_hat_filtered
    external.name, external.position, external.velocity = list(ARM_JOINTS), ZEROS, ZEROS
    external.effort = reading.external_torque_nm.tolist()
    msg.ddq_d = reading.ddq_d


def _write_headers(msg: FrankaRobotState, stamp_s: float) -> None:
    stamp = stamp_to_msg(stamp_s)
    msg.header.stamp = stamp
    for frame, parts in FRAMES.items():
        for part in parts:
            head = getattr(msg, part).header
            head.stamp, head.frame_id = stamp, frame


def _write_indicators(msg: Any, reading: RobotReading) -> None:
    for kind, flags in (('contact', reading.contacts), ('collision', reading.collisions)):
        numbers = flags.astype(float).tolist()
        setattr(msg, f'is_joint_{kind}', numbers[:7])
        setattr(msg, f'is_cartesian_linear_{kind}', vector_to_msg(numbers[7:10]))
        setattr(msg, f'is_cartesian_angular_{kind}', vector_to_msg(numbers[10:]))


def _wrench(values: Array) -> geometry.Wrench:
    return geometry.Wrench(force=vector_to_msg(values[:3]), torque=vector_to_msg(values[3:]))


def _inertia(load: Load) -> geometry.Inertia:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = load.inertia_kg_m2.tolist()
    return geometry.Inertia(
        m=float(load.mass_kg),
        com=vector_to_msg(load.centre_m),
        ixx=xx,
        ixy=xy,
        ixz=xz,
        iyy=yy,
        iyz=yz,
        izz=zz,
    )
