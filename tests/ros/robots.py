"""What reaches a robot, and what people are asked, as tests see it."""

import time

import numpy as np
from action_msgs.msg import GoalStatusArray
from numpy.typing import NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile

from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.rclpy_support.fast_subscription import Poller
from tests.ros.stacks import Running, until

ARM_GOALS = 'fr3_arm_controller/follow_joint_trajectory'
HAND_GOALS = tuple(f'franka_gripper/{name}' for name in ('grasp', 'move', 'homing'))
GOALS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def feed_of(stack: Running, timeout_s: float = 5.0) -> JointFeed:
    """Return the joint states as the client of a stack receives them."""
    poller = Poller(stack.client.node)  # type: ignore[arg-type]  # it only subscribes
    feed = JointFeed(stack.client.node, poller, 'franka_gripper', timeout_s)
    poller.start()
    return feed


def speed_rad_s(feed: JointFeed) -> float:
    """Return the speed of the fastest joint [rad/s]."""
    return float(np.abs(feed.newest().velocity_rad_s).max())


class Robot:
    """What reached the robot: goals that its controllers took, and how the joints stand."""

    def __init__(self, stack: Running):
        self._taken_s: dict[bytes, float] = {}
        node = stack.client.node
        self._statuses = [
            node.create_subscription(
                GoalStatusArray,
                f'{name}/_action/status',
                self._receive,
                GOALS,
                callback_group=stack.client.group,
            )
            for name in (ARM_GOALS, *HAND_GOALS)
        ]
        self.feed = feed_of(stack)
        self.begin()

    def begin(self) -> None:
        """
        Count from now on, once the arm rests.

        The status of a goal that was taken before may still be on its way here, behind the result
        of that very goal; so what counts is when a goal was taken, not when it was heard of.
        """
        for status in self._statuses:
            until(status.get_publisher_count, f'publisher of {status.topic_name}')
        self._since_s = time.time()
        until(self._rests, 'rest of the arm')
        self._q = self._position_rad()

    @property
    def goals(self) -> int:
        return sum(taken_s > self._since_s for taken_s in self._taken_s.values())

    def stood_still(self) -> bool:
        """Look for half a second of the robot's own time whether it stands where it stood."""
        self._pass(0.5)
        off_rad = float(np.abs(self._position_rad() - self._q).max())
        assert off_rad < 0.002, f'a joint stands {off_rad:.4f} rad from where it stood'
        assert self.goals == 0, f'{self.goals} goals were taken'
        return True

    def _rests(self) -> bool:
        before = self._position_rad()
        self._pass(0.2)
        return float(np.abs(self._position_rad() - before).max()) < 1e-3

    def _pass(self, seconds: float) -> None:
        """Let time pass, as the robot counts it."""
        begun_s = self.feed.newest().stamp_s
        until(lambda: self.feed.newest().stamp_s > begun_s + seconds, f'{seconds} s of the robot')

    def _position_rad(self) -> NDArray[np.float64]:
        return np.array(self.feed.newest().position_rad)

    def _receive(self, msg: GoalStatusArray) -> None:
        for status in msg.status_list:
            info = status.goal_info
            self._taken_s[bytes(info.goal_id.uuid)] = stamp_from_msg(info.stamp)


def request_of(
    stack: Running,
    kind: RequestKind = RequestKind.PLAN,
    *,
    after: ApprovalRequest | None = None,
) -> ApprovalRequest:
    """Wait until something of a kind is asked for that is not what was asked before."""
    approvals = stack.client.approvals

    def asked() -> bool:
        request = approvals.waiting
        return request is not None and request.kind is kind and request != after

    until(asked, f'request of kind {kind.value}')
    request = approvals.waiting
    assert request is not None
    return request


def nothing_waits(stack: Running) -> None:
    until(lambda: stack.client.approvals.waiting is None, 'end of the request')
