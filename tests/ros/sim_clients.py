"""What tests ask `mujoco_sim` for, over the interfaces of the driver."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from control_msgs.action import FollowJointTrajectory
from controller_manager_msgs.srv import SetHardwareComponentState, SwitchController
from franka_msgs.action import PTPMotion
from lifecycle_msgs.msg import State
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bbllm.arm.driver import GoalStatus
from bbllm.robots.fr3 import FR3
from bbllm_ros.rclpy_support.calls import ActionCall, nothing
from tests.ros.stacks import Running

ARM = 'fr3_arm_controller'
STATE = 'franka_robot_state_broadcaster'
JOINTS = 'joint_state_broadcaster'


def run(
    sim: Running, kind: Any, name: str, goal: Any, on_accepted: Callable[[], None] = nothing
) -> tuple[GoalStatus, Any]:
    """Send a goal to the driver; return how it ended and its result."""
    client = sim.client
    call = ActionCall(client.node, kind, name, 'of the test', client.group)
    return call.run(goal, 30.0, on_accepted=on_accepted)


@contextmanager
def received_on(sim: Running, kind: Any, topic: str, qos: Any = 10) -> Iterator[list[Any]]:
    messages: list[Any] = []
    node = sim.client.node
    subscription = node.create_subscription(kind, topic, messages.append, qos)
    try:
        yield messages
    finally:
        node.destroy_subscription(subscription)


def switch(sim: Running, up: tuple[str, ...] = (), down: tuple[str, ...] = ()) -> Any:
    return sim.ask(
        SwitchController,
        'controller_manager/switch_controller',
        activate_controllers=up,
        deactivate_controllers=down,
        strictness=SwitchController.Request.STRICT,
    )


def set_hardware(sim: Running, label: str) -> Any:
    return sim.ask(
        SetHardwareComponentState,
        'controller_manager/set_hardware_component_state',
        name='FrankaHardwareInterface',
        target_state=State(label=label),
    )


def stay(velocities: int = 7) -> FollowJointTrajectory.Goal:
    """Return a goal that keeps the arm at its start; bad where a velocity is missing."""
    point = JointTrajectoryPoint(positions=FR3.home_rad.tolist(), velocities=[0.0] * velocities)
    point.time_from_start.sec = 1
    return FollowJointTrajectory.Goal(
        trajectory=JointTrajectory(joint_names=list(FR3.joints), points=[point])
    )


def ptp(way: float, speed: float = 1.0) -> PTPMotion.Goal:
    return PTPMotion.Goal(
        goal_joint_configuration=[float(q) + way for q in FR3.home_rad],
        maximum_joint_velocities=[speed] * 7,
        goal_tolerance=0.001,
    )
