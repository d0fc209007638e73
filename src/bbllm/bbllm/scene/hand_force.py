"""
The force on the hand for weighing: a mean while the arm rests.

A sensor at the wrist, or an estimate from the torques of the joints, includes every acceleration
of hand and arm, and its readings scatter. So readings in motion are left out, and those at rest
are averaged over a short time. Closing or opening the fingers takes longer than that time, so that
no mean mixes loads.
"""

from collections import deque
from collections.abc import Iterable

from bbllm.core.constants import SAME_S
from bbllm.core.types import HandReading, Pose
from bbllm.skills.grasps import Hand

Force = tuple[float, float, float]
"""In world axes [N]."""

WINDOW_S = 0.2
"""How long a reading counts [s]."""
REST_S = 0.25
"""How long the arm rests before a mean counts as a weight: at first the load swings [s]."""
STILL_RAD_S = 0.02
"""An arm whose fastest joint is faster than this moves [rad/s]."""
PERIOD_S = 0.01
"""The least time from one reading to the next; denser ones add hardly any information [s]."""

ALSO_Y = 0.1
"""How much y counts beside x in the sign of a hand's quaternion: x alone changes its own sign at a
yaw of 180 degrees."""


class ForceFilter:
    """The mean of the newest readings since the arm came to rest; not thread-safe."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, Force]] = deque()
        self._stamp_s = self._rests_s = float('-inf')

    def add(self, force_n: Iterable[float], stamp_s: float, fastest_rad_s: float = 0.0) -> None:
        """
        Take in a reading.

        Args:
            force_n: What the world does to the hand, in world axes, shape (3,) [N].
            stamp_s: When it was measured; a clock that goes back begins anew [s].
            fastest_rad_s: Speed of the fastest joint: while the arm moves, the reading is left
                out with all that came before [rad/s].
        """
        moving = fastest_rad_s > STILL_RAD_S
        if moving or stamp_s < self._stamp_s:
            self._readings.clear()
        elif stamp_s < self._stamp_s + PERIOD_S - SAME_S and self._readings:
            return
        self._stamp_s = stamp_s
        if not self._readings:
            self._rests_s = stamp_s
        if not moving:
            x, y, z = (float(value) for value in force_n)
            self._readings.append((stamp_s, (x, y, z)))
            while not _counts(self._readings[0][0], stamp_s):
                self._readings.popleft()

    @property
    def full(self) -> bool:
        """Whether the arm has rested for so long that it does not swing in what counts."""
        return bool(self._readings) and self._stamp_s - self._rests_s >= REST_S - SAME_S

    def force_n(self, now_s: float) -> Force | None:
        """
        Return the mean force; None where none was read at rest in the time that counts.

        That is up to *now_s*, on the same clock; readings that came later count too [s].
        """
        recent = self._recent(now_s)
        if not recent:
            return None
        x, y, z = (sum(axis) / len(recent) for axis in zip(*recent, strict=True))
        return (x, y, z)

    def count(self, now_s: float) -> int:
        """Return how many readings that mean is of."""
        return len(self._recent(now_s))

    def _recent(self, now_s: float) -> list[Force]:
        return [force for stamp_s, force in self._readings if _counts(stamp_s, now_s)]


def _counts(stamp_s: float, now_s: float) -> bool:
    return stamp_s > now_s - WINDOW_S - SAME_S


def hand_reading(hand: Hand, force_n: Force | None) -> HandReading:
    """
    Return what the hand measures; the force is None where it is not measured [N].

    Of the two quaternions of one turn it is the one whose sign is constant for yaws from about
    -169 to 191 degrees. Of a hand that points down z and w are about zero, and a rule about their
    signs would flip on every reading; so would one that changes over where hands often are, as at
    90, 135 or 180 degrees.
    """
    x, y, z, w = hand.tcp.quat_xyzw
    sign = -1.0 if x + ALSO_Y * y < 0.0 else 1.0
    quat = (sign * x, sign * y, sign * z, sign * w)
    tcp = Pose(position_m=hand.tcp.position_m, quat_xyzw=quat)
    return HandReading(tcp=tcp, width_m=hand.width_m, force_n=force_n)
