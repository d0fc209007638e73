"""
What the hand feels, by the driver's estimate of the external wrench.

libfranka estimates it from the torques of the joints, without the weight of the arm and of the end
effector that is set in Desk. Its error in a pose is not documented: people report some newtons
with an empty hand, so on a real arm weights are to be compared in one pose.
"""

import math

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from bbllm.arm.force_estimator import MEAN_S, ForceEstimator, SilentForceError
from bbllm.scene.hand_force import Force, ForceFilter
from bbllm_ros.convert.serialized import ForceReading, read_force
from bbllm_ros.driver.activity_feed import STATE_BROADCASTER
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.rclpy_support.fast_subscription import DEPTH, LatestMessage, Poller

TOPIC = f'{STATE_BROADCASTER}/external_wrench_in_base_frame'
"""`robot_state` has the same wrench, with a hundred other numbers."""
QOS = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
LIVES_S = 1.0
"""A broadcaster that was silent for longer is not waited for, by the wall clock [s]."""
SILENT_S = 2.0
"""How long a force that was measured after a motion may take to come, by the wall clock [s]."""


class ForceFeed:
    """Subscribes to the wrench, and keeps what was felt while the arm rested."""

    def __init__(self, node: Node, poller: Poller, joints: JointFeed):
        self._joints = joints
        self._filter = ForceFilter()
        self._read_s = -math.inf
        """When the reading was measured that came last, world's clock [s]."""
        self._latest = LatestMessage[ForceReading](
            node, poller, WrenchStamped, TOPIC, QOS, take=self._take, read=read_force
        )

    def force_n(
        self, now_s: float, wait_s: float = 0.0, *, weighing: bool = False
    ) -> Force | None:
        """
        Return what the world does to the hand, in world axes [N]; None where it is undefined.

        *wait_s*: how long to wait for a reading, or for the full mean of one that is *weighing*,
        where the arm has only just come to rest, wall clock [s].
        """

        def is_felt() -> bool:
            return self._filter.full if weighing else self._filter.force_n(now_s) is not None

        if self._latest.age_s <= LIVES_S:
            self._latest.wait_for(is_felt, wait_s)
        with self._latest.news:
            return self._filter.force_n(now_s)

    def _take(self, reading: ForceReading) -> bool:
        stamp_s, force_n = reading
        if force_n is not None:
            fastest_rad_s = self._joints.fastest_rad_s(stamp_s, self._read_s)
            self._filter.add(force_n, stamp_s, fastest_rad_s)
            self._read_s = stamp_s
        return True


class PullFeed:
    """Subscribes to the wrench for what it is along the vertical, also while the arm moves."""

    def __init__(self, poller: Poller):
        self.meter = ForceEstimator()
        self._poller = poller
        poller.subscribe(WrenchStamped, TOPIC, self._receive, QOS, read_force)

    def settled_n(self, since_s: float) -> float | None:
        """
        Return what the world does to the hand along z of the base, a mean over 20 ms [N].

        Waits for what was measured after *since_s*, on the world's clock [s]; None where there
        never was any. Raises SilentForceError where there was one once, and none comes.
        """
        if not self.meter.known:
            return None
        with self._poller.hurrying():
            if not self.meter.wait_until(since_s, SILENT_S):
                raise SilentForceError(f'{TOPIC} has sent no force for {SILENT_S:g} s.')
            # In a simulation that is very slow less has to do.
            self.meter.wait_until(since_s + MEAN_S, SILENT_S)
        return self.meter.mean_n(since_s)

    def _receive(self, reading: ForceReading) -> None:
        if reading.force_n is not None:
            self.meter.add(reading.force_n[2], reading.stamp_s)
