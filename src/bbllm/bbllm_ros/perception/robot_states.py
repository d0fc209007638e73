"""Where the robot was when a picture was taken; its states are read for that alone."""

import threading
from collections import deque
from functools import partial

from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.arm.driver import JointState
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.arm import arm_from_msg, width_from_msg
from bbllm_ros.convert.serialized import StampedMessage
from bbllm_ros.driver.joint_feed import ARM_TOPIC, KEPT, QOS
from bbllm_ros.rclpy_support.fast_subscription import Poller


class RobotStates:
    """
    Keeps the newest states of the arm, and the newest width of the hand.

    Unlike `JointFeed` it waits for none, and asks nobody why there are none: without a robot,
    pictures are read as they are. A robot that is stopped stays where it was.

    Args:
        poller: Takes the messages.
        gripper: Prefix of the names of the hand.
    """

    def __init__(self, poller: Poller, gripper: str) -> None:
        self._states: deque[StampedMessage[JointStateMsg]] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._width_m = FR3.hand.max_width_m
        read = partial(StampedMessage, JointStateMsg)
        poller.subscribe(JointStateMsg, ARM_TOPIC, self._take_arm, QOS, read)
        poller.subscribe(JointStateMsg, f'{gripper}/joint_states', self._take_hand, QOS)

    def at(self, stamp_s: float) -> JointState | None:
        """
        Return the state that was measured nearest to a time on the world's clock [s].

        None where there was none. Before the hand has sent its width, it counts as open.
        """
        with self._lock:
            nearest = min(
                self._states, key=lambda state: abs(state.stamp_s - stamp_s), default=None
            )
        if nearest is None:
            return None
        measured = arm_from_msg(nearest.message)
        if measured is None:
            return None
        position_rad, velocity_rad_s = measured
        return JointState(
            position_rad=position_rad,
            velocity_rad_s=velocity_rad_s,
            width_m=self._width_m,
            stamp_s=nearest.stamp_s,
        )

    def _take_arm(self, state: StampedMessage[JointStateMsg]) -> None:
        with self._lock:
            self._states.append(state)

    def _take_hand(self, msg: JointStateMsg) -> None:
        width_m = width_from_msg(msg)
        if width_m is not None:
            self._width_m = width_m
