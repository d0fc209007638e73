"""What the simulated robot publishes, at rates that rclpy keeps up with at any speed."""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np
from bbllm_interfaces.msg import ObjectStates
from control_msgs.msg import JointTrajectoryControllerState
from franka_msgs.msg import FrankaRobotState
from geometry_msgs.msg import Quaternion, TransformStamped, Vector3, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.arm.driver import Array, JointState
from bbllm.arm.model import ARM_JOINTS, FLANGE_SITE, TCP_SITE
from bbllm.arm.urdf import FRAMES, robot_description
from bbllm.nodes.convert import WORLD_FRAME, header, objects_to_msg
from bbllm.nodes.convert_arm import FINGERS, joint_state_to_msg
from bbllm.nodes.qos import LATCHED
from bbllm.nodes.sim_arm import CONTROLLER, controller_state
from bbllm.nodes.sim_hand import GRIPPER
from bbllm.nodes.sim_loop import SimLoop

FLANGE_FRAME = 'fr3_link8'
STATE = 'franka_robot_state_broadcaster'
FAST_S = 0.01
"""Wall time between states of the arm [s]."""
HAND_EVERY = 3
SLOW_EVERY = 3
"""Every so many states of the arm, those of the hand and everything else are published."""
FRAMES_OF_SITES = {FLANGE_SITE: FLANGE_FRAME, TCP_SITE: 'fr3_hand_tcp'}
"""The driver's names of frames that are no bodies here."""


class SimTopics:
    """Publishes from the physics thread; limited by the wall clock, whatever the speed."""

    def __init__(self, node: Node, loop: SimLoop):
        self._loop = loop
        publisher = node.create_publisher
        self._arm = publisher(JointStateMsg, 'franka/joint_states', 10)
        self._hand = publisher(JointStateMsg, f'{GRIPPER}/joint_states', 10)
        self._all = publisher(JointStateMsg, 'joint_states', 10)
        self._state = publisher(FrankaRobotState, f'{STATE}/robot_state', 1)
        self._wrench = publisher(WrenchStamped, f'{STATE}/external_wrench_in_stiffness_frame', 1)
        self._objects = publisher(ObjectStates, 'objects', 1)
        self._controller = publisher(
            JointTrajectoryControllerState, f'{CONTROLLER}/controller_state', 10
        )
        self._tf = publisher(TFMessage, '/tf', 10)
        self._description = publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=robot_description()))
        self._due_s = 0.0
        self._count = 0
        self._busy = False

    def publish(self, now_s: float) -> None:
        """Publish whatever is due."""
        wall_s = time.monotonic()
        # What ended a goal is shown at once, so that who waits for its effect need not wait.
        busy, self._busy = self._busy, self._loop.busy
        ended = busy and not self._busy
        if wall_s < self._due_s and not ended:
            return
        self._due_s = max(self._due_s + FAST_S, wall_s)
        robot = self._loop.robot
        state = robot.joint_state()
        effort = np.zeros(len(ARM_JOINTS))
        torque = robot.simulation.data.actuator_force[: len(ARM_JOINTS)]
        effort[:] = torque
        stamp_s = self._loop.stamp_s(state.stamp_s)
        arm = (state.position_rad, state.velocity_rad_s, effort)
        self._arm.publish(joint_state_to_msg(ARM_JOINTS, *arm, stamp_s))
        self._count += 1
        if self._count % SLOW_EVERY == 0 or ended:
            self._publish_slow(state, effort, stamp_s, now_s)

    def _publish_slow(
        self, state: JointState, effort: Array, stamp_s: float, now_s: float
    ) -> None:
        """Everything at a third of the arm's rate, all of the same moment."""
        robot = self._loop.robot
        fingers = np.full(2, state.width_m / 2)
        still = np.zeros(2)
        self._hand.publish(joint_state_to_msg(FINGERS, fingers, still, still, stamp_s))
        whole = (
            np.concatenate([state.position_rad, fingers]),
            np.concatenate([state.velocity_rad_s, still]),
            np.concatenate([effort, still]),
        )
        self._all.publish(joint_state_to_msg((*ARM_JOINTS, *FINGERS), *whole, stamp_s))
        self._objects.publish(objects_to_msg(robot.objects(), now_s))
        wrench = WrenchStamped(header=header(stamp_s, FLANGE_FRAME))
        force = robot.flange_wrench().tolist()
        wrench.wrench.force = Vector3(x=force[0], y=force[1], z=force[2])
        wrench.wrench.torque = Vector3(x=force[3], y=force[4], z=force[5])
        self._wrench.publish(wrench)
        self._state.publish(self._robot_state(state, effort, wrench, stamp_s))
        if self._tf.get_subscription_count():
            self._tf.publish(TFMessage(transforms=self._transforms(now_s)))
        if self._controller.get_subscription_count():
            self._controller.publish(controller_state(robot.set_point(), state, stamp_s))

    def _robot_state(
        self, state: JointState, effort: Array, wrench: WrenchStamped, stamp_s: float
    ) -> FrankaRobotState:
        robot = self._loop.robot
        msg = FrankaRobotState(header=header(stamp_s), k_f_ext_hat_k=wrench)
        measured = (state.position_rad, state.velocity_rad_s, effort)
        msg.measured_joint_state = joint_state_to_msg(ARM_JOINTS, *measured, stamp_s)
        still = np.zeros(len(ARM_JOINTS))
        external = (still, still, robot.monitor.external_torque_nm)
        msg.tau_ext_hat_filtered = joint_state_to_msg(ARM_JOINTS, *external, stamp_s)
        msg.robot_mode = int(robot.mode)
        msg.time = stamp_s
        msg.control_command_success_rate = 1.0
        for errors, names in (
            (msg.current_errors, robot.monitor.errors),
            (msg.last_motion_errors, robot.monitor.last_errors),
        ):
            for name in names:
                setattr(errors, name, True)
        return msg

    def _transforms(self, now_s: float) -> list[Any]:
        """Return where the links are; a real robot's come from robot_state_publisher."""
        frames = []
        with self._loop.robot.paused() as simulation:
            model, data = simulation.model, simulation.data
            for i in range(1, model.nbody):
                name = str(model.body(i).name)
                if name.startswith('fr3_') and name != WORLD_FRAME:
                    frames.append((name, data.xpos[i].copy(), data.xquat[i].copy()))
            for site, name in FRAMES.items():
                quat_wxyz = np.empty(4)
                mujoco.mju_mat2Quat(quat_wxyz, data.site(site).xmat)
                frames.append((name, data.site(site).xpos.copy(), quat_wxyz))
        return [_transform(*frame, now_s) for frame in frames]


def _transform(name: str, position_m: Array, quat_wxyz: Array, now_s: float) -> TransformStamped:
    x, y, z = position_m.tolist()
    qw, qx, qy, qz = quat_wxyz.tolist()
    transform = TransformStamped(header=header(now_s), child_frame_id=name)
    transform.transform.translation = Vector3(x=x, y=y, z=z)
    transform.transform.rotation = Quaternion(x=qx, y=qy, z=qz, w=qw)
    return transform
