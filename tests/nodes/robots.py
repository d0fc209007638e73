"""What reaches a robot, and what people are asked, as tests see it."""

from __future__ import annotations

import numpy as np
from action_msgs.msg import GoalStatusArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from stacks import Running, until

from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.nodes.joint_feed import JointFeed
from bbllm.nodes.polling import Poller

ARM_GOALS = 'fr3_arm_controller/follow_joint_trajectory'
HAND_GOALS = tuple(f'franka_gripper/{name}' for name in ('grasp', 'move', 'homing'))
GOALS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Robot:
    """What reached the robot: goals that its controllers took, and how the joints stand."""

    def __init__(self, stack: Running):
        self._goals: set[bytes] = set()
        node = stack.client.node
        for name in (ARM_GOALS, *HAND_GOALS):
            node.create_subscription(
                GoalStatusArray,
                f'{name}/_action/status',
                self._hear,
                GOALS,
                callback_group=stack.client.group,
            )
        poller = Poller(node)  # type: ignore[arg-type]
        self.feed = JointFeed(node, poller, 'franka_gripper', 5.0)
        poller.start()
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        until(lambda: self.feed.newest() is not None, 'joint states')
        self._before = frozenset(self._goals)
        self._q = np.array(self.feed.newest().position_rad)

    @property
    def goals(self) -> int:
        return len(self._goals - self._before)

    def stood_still(self) -> bool:
        """Look for half a second of the robot's own time whether it stands where it stood."""
        begun_s = self.feed.newest().stamp_s
        until(lambda: self.feed.newest().stamp_s > begun_s + 0.5, 'half a second of the robot')
        off_rad = float(np.abs(self.feed.newest().position_rad - self._q).max())
        return off_rad < 0.002 and self.goals == 0

    def _hear(self, msg: GoalStatusArray) -> None:
        self._goals.update(bytes(status.goal_info.goal_id.uuid) for status in msg.status_list)


def request_of(stack: Running, kind: RequestKind = RequestKind.PLAN) -> ApprovalRequest:
    """Wait until something of a kind is asked for."""
    until(lambda: _asked(stack, kind), f'request of kind {kind.value}')
    request = stack.client.approvals.waiting
    assert request is not None
    return request


def _asked(stack: Running, kind: RequestKind) -> bool:
    request = stack.client.approvals.waiting
    return request is not None and request.kind is kind


def nothing_waits(stack: Running) -> None:
    until(lambda: stack.client.approvals.waiting is None, 'end of the request')
