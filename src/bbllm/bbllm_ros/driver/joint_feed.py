"""
The newest joint states of arm and hand, and an error that names the node that fell silent.

States of the arm with a stamp that came before are no news: a driver that hangs may go on sending
them. Silence of a robot that is stopped is none either, but no loss: its broadcasters are down
until it is recovered.
"""

import math
import threading
import time
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.arm.driver import JointState
from bbllm.core.constants import SAME_S
from bbllm.core.errors import LostNodeError, SceneError
from bbllm.robots.fr3 import FR3
from bbllm.skills.grasps import Hand
from bbllm_ros.convert.arm import width_from_msg
from bbllm_ros.convert.serialized import ArmReader, ArmReading
from bbllm_ros.driver.activity_feed import ActivityFeed
from bbllm_ros.rclpy_support.fast_subscription import DEPTH, LatestMessage, Poller

ARM_TOPIC = 'franka/joint_states'
"""The driver's own topic: the aggregated joint_states go on with frozen values when it stops."""
KEPT = 1024
"""
States of the arm that are kept: the driver publishes a thousand a second, and the pictures of a
camera come some tenths of a second late.
"""
QOS = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
FIRST_S = 3.0
"""How long the first state may take [s]."""
QUIET_S = 0.05
"""
Silence of the arm after which the controller manager is asked whether the robot is stopped [s].
"""
READ_S = 0.5
"""How long a state that has come may take to be read on a busy machine [s]."""
MANAGER_S = 4.0
"""How long the controller manager may take to answer: longer than the 3 s of `calls` [s]."""


class JointFeed:
    """Listens to the joint states of arm and hand."""

    def __init__(self, node: Node, poller: Poller, gripper: str, timeout_s: float):
        self._timeout_s = timeout_s
        self._poller = poller
        self._news = threading.Condition()
        self._states: deque[JointState] = deque(maxlen=KEPT)
        self._width_m: float | None = None
        self.beginnings = 0
        """How often the states of the arm began, the first time or after a silence or a step
        back of their clock: then the driver may have been started anew."""
        self._repeated_s = float('-inf')
        self.activity = ActivityFeed(node, poller)
        self._arm = LatestMessage[ArmReading | None](
            node,
            poller,
            JointStateMsg,
            ARM_TOPIC,
            QOS,
            take=self._take_arm,
            read=ArmReader().read,
            news=self._news,
        )
        hand = f'{gripper}/joint_states'
        self._hand = LatestMessage[JointStateMsg](
            node, poller, JointStateMsg, hand, QOS, take=self._take_hand, news=self._news
        )

    def check(self) -> None:
        """
        Raise LostNodeError, naming the node, when arm or hand was silent for too long.

        An arm that is silent because the robot is stopped is not lost.
        """
        self.ask_if_silent()
        for part in (self._arm, self._hand):
            taken_s, silence_s = part.taken_s, part.age_s
            is_arm = part is self._arm
            if silence_s <= self._timeout_s or (is_arm and self._stopped(taken_s)):
                continue
            # Where this process was kept waiting, whoever asks may get its turn before who reads.
            if not part.wait_newer(taken_s, READ_S):
                raise LostNodeError(self._silence(part, silence_s))

    def newest(self) -> JointState:
        """
        Return the newest state of the arm with the newest width of the hand.

        Where the robot is stopped, it is the last one before. Raises LostNodeError where there is
        none, or it is too old.
        """
        self._poller.refresh()
        self._arm.wait_for(lambda: self._states and self._width_m is not None, FIRST_S)
        self.check()
        if not self._states:
            raise LostNodeError(self._silence(self._arm, FIRST_S))
        return self._with_width(self._states[-1])

    @property
    def fresh(self) -> bool:
        self.ask_if_silent()
        oldest_s = max(self._arm.age_s, self._hand.age_s)
        return oldest_s <= self._timeout_s and not self.stopped

    @property
    def came_s(self) -> float:
        """When DDS received the newest state of the arm that was taken, wall clock [s]."""
        return self._arm.came_s

    @property
    def quiet(self) -> bool:
        """Whether the newest state of the arm is older than it is while the driver is well."""
        if self._arm.age_s > QUIET_S:
            self._poller.refresh(0.0)
        return self._arm.age_s > QUIET_S

    def ask_if_silent(self) -> None:
        """Request whether the robot is stopped, where the arm is silent; answered later."""
        if self.quiet:
            self.activity.ask()

    @property
    def stopped(self) -> bool:
        return self.quiet and self.activity.states_are_down

    def wait_for_news(self, timeout_s: float, n: int = 1) -> bool:
        return self._arm.wait_for_news(timeout_s, n)

    def need_news(self) -> None:
        if not self.wait_for_news(self._timeout_s):
            self.check()

    @property
    def newest_stamp_s(self) -> float:
        """When the newest state was measured, however old it is; 0 without any [s]."""
        self._poller.refresh()
        return self._taken_stamp_s

    @property
    def _taken_stamp_s(self) -> float:
        return self._states[-1].stamp_s if self._states else 0.0

    def fastest_rad_s(self, stamp_s: float, since_s: float) -> float:
        """
        Return the speed of the fastest joint at a time on the world's clock [rad/s].

        It is its mean speed since *since_s* where that is higher: a busy machine loses states, and
        a whole motion with them [s]. Infinite without any state.

        To be called where messages are taken: it takes the state that was measured last until a
        time, or the first one after.
        """
        state, before = self._last_until(stamp_s), self._last_until(since_s)
        if state is None or before is None or state.velocity_rad_s is None:
            return math.inf
        fastest_rad_s = float(np.abs(state.velocity_rad_s).max())
        if state.stamp_s > before.stamp_s:
            turned_rad = float(np.abs(state.position_rad - before.position_rad).max())
            return max(fastest_rad_s, turned_rad / (state.stamp_s - before.stamp_s))
        return fastest_rad_s

    def _last_until(self, stamp_s: float) -> JointState | None:
        newest_first = reversed(self._states)
        first = self._states[0] if self._states else None
        return next((x for x in newest_first if x.stamp_s <= stamp_s + SAME_S), first)

    def hand(self, stamp_s: float, wait_s: float = 0.0, *, or_stopped: bool = False) -> Hand:
        state = self.at(stamp_s, wait_s, or_stopped=or_stopped)
        return FR3.hand_at(state.position_rad, state.width_m)

    def at(self, stamp_s: float, wait_s: float = 0.0, *, or_stopped: bool = False) -> JointState:
        """
        Return the state that was measured nearest to a time on the world's clock [s].

        *wait_s*: how long to wait for a state of that time or later, wall clock: on a busy machine
        the objects may come before the joint states of the same moment [s]. Raises SceneError
        where the robot is stopped (the last state with *or_stopped*), LostNodeError as `newest`.
        """
        if self.stopped:
            if or_stopped:
                return self.newest()
            raise SceneError(
                'The scene is stale: the robot is stopped, and until it is recovered '
                'the place of its arm is unknown.'
            )
        self.newest()
        if self._taken_stamp_s < stamp_s - SAME_S:
            # A poll takes one topic after the other: the objects may be as new as the last one.
            self._poller.refresh(0.0)
        with self._news:
            self._arm.wait_for(lambda: self._taken_stamp_s >= stamp_s - SAME_S, wait_s)
            return self._with_width(min(self._states, key=lambda s: abs(s.stamp_s - stamp_s)))

    def wait_for_width(self, timeout_s: float) -> float:
        """Return a width that was measured after this was called [m]."""
        self._hand.wait_for_news(timeout_s)
        return self.newest().width_m

    def wait_until(self, stamp_s: float, cancelled: threading.Event) -> None:
        """Block until the world's clock shows a time, the robot is stopped, or until cancelled."""
        while not (cancelled.is_set() or self.stopped):
            self.check()
            if self._arm.wait_for(lambda: self._taken_stamp_s >= stamp_s, 0.05):
                return

    def _take_arm(self, measured: ArmReading | None) -> bool:
        if measured is None:
            return False
        state = JointState(
            position_rad=measured.position_rad,
            velocity_rad_s=measured.velocity_rad_s,
            width_m=0.0,  # the hand has a topic of its own, see _with_width
            stamp_s=measured.stamp_s,
        )
        if self._states and state.stamp_s == self._states[-1].stamp_s:
            self._repeated_s = time.monotonic()
            return False
        if self._arm.age_s > self._timeout_s or state.stamp_s < self._states[-1].stamp_s:
            self.beginnings += 1
        self._states.append(state)
        return True

    def _take_hand(self, msg: JointStateMsg) -> bool:
        width_m = width_from_msg(msg)
        if width_m is not None:
            self._width_m = width_m
        return width_m is not None

    def _stopped(self, since_s: float) -> bool:
        """Return whether silence since a time is a stop; waits for an answer from then."""
        if self.activity.answered_s < since_s + self._timeout_s / 2:
            self.activity.wait_for_answer(MANAGER_S)
        return self.activity.states_are_down

    def _with_width(self, state: JointState) -> JointState:
        return replace(state, width_m=self._width_m or 0.0)

    def _silence(self, feed: LatestMessage[Any], silence_s: float) -> str:
        topic, part = feed.topic, 'arm' if feed is self._arm else 'hand'
        if not feed.count:
            return (
                f'The driver of the {part} is not running: there are no joint states on {topic}. '
                'See the terminal or the log of the stack, and start it again.'
            )
        name = feed.source or 'the driver'
        if part == 'arm' and time.monotonic() - self._repeated_s < self._timeout_s:
            return (
                f'The node {name} hangs: the joint states on {topic} have had the same stamp for '
                f'{silence_s:.1f} s. Start the stack again.'
            )
        return (
            f'The node {name} has gone: no joint states on {topic} for {silence_s:.1f} s. '
            'Start the stack again, or recover the robot.'
        )
