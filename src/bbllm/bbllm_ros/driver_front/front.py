"""The whole ROS side of a driver: what `mujoco_sim` and `franka_direct` have in common."""

from collections.abc import Callable, Sequence

from geometry_msgs.msg import TransformStamped

from bbllm_ros.driver_front.arm import TrajectoryServer
from bbllm_ros.driver_front.backend import Backend
from bbllm_ros.driver_front.base import RobotServer
from bbllm_ros.driver_front.controller_manager import ManagerServer
from bbllm_ros.driver_front.hand import HandServer
from bbllm_ros.driver_front.topics import DriverTopics
from bbllm_ros.rclpy_support.stack_node import StackNode


class DriverFront:
    """Serves what franka_ros2 serves, for the robot of a backend."""

    def __init__(
        self,
        node: StackNode,
        backend: Backend,
        frames: Sequence[TransformStamped] = (),
        more: Callable[[float], None] = lambda now_s: None,
    ) -> None:
        """Create the topics; see `DriverTopics` for *frames* and *more*."""
        self._node, self._backend = node, backend
        self._topics = DriverTopics(node, backend, frames, more)

    def serve(self) -> None:
        """Create the services and actions."""
        node, backend = self._node, self._backend
        self._manager = ManagerServer(node, backend)
        self._servers = (
            TrajectoryServer(node, backend),
            RobotServer(node, backend),
            HandServer(node, backend),
        )

    def publish(self, now_s: float) -> None:
        """Publish what is due; called by the backend's own thread."""
        self._topics.publish(now_s)
        self._manager.publish_changes(now_s)
