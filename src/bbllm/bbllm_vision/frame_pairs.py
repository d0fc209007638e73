"""Colour and depth of one moment, from two streams that come separately."""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

C = TypeVar('C')
D = TypeVar('D')

KEPT = 8
"""How many unpaired frames of each stream are kept: a quarter of a second of 30 Hz."""
SET_BACK_S = 1.0
"""A stamp that is older than the one before by more is that of a clock that was set back [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FramePair(Generic[C, D]):
    """A colour frame with the depth frame that is nearest to it."""

    color: C
    depth: D
    stamp_s: float
    """When the colour frame was taken [s]."""


class FramePairs(Generic[C, D]):
    """
    Pairs frames whose stamps differ by at most *tolerance_s* [s]; keeps the newest pair only.

    A pair that is not taken before a newer one is complete is dropped. Frames may come in any
    order, but a pair that is not newer than the last one is never given, unless the clock of the
    camera was set back. Not thread-safe.
    """

    def __init__(self, tolerance_s: float) -> None:
        self.dropped = 0
        """How many pairs were replaced by a newer one before they were taken."""
        self._tolerance_s = tolerance_s
        self._colors: deque[tuple[float, C]] = deque(maxlen=KEPT)
        self._depths: deque[tuple[float, D]] = deque(maxlen=KEPT)
        self._newest: FramePair[C, D] | None = None
        self._last_s = float('-inf')

    def add_color(self, stamp_s: float, frame: C) -> bool:
        """Take in a colour frame and when it was taken [s]; return whether it made a new pair."""
        self._colors.append((stamp_s, frame))
        return self._pair(stamp_s, frame)

    def add_depth(self, stamp_s: float, frame: D) -> bool:
        """Take in a depth frame and when it was taken [s]; return whether it made a new pair."""
        self._depths.append((stamp_s, frame))
        if not self._colors:
            return False
        return self._pair(*min(self._colors, key=lambda item: abs(item[0] - stamp_s)))

    def take(self) -> FramePair[C, D] | None:
        """Return the newest pair that was not taken yet, if there is one."""
        pair, self._newest = self._newest, None
        return pair

    def _pair(self, color_s: float, color: C) -> bool:
        if not self._depths or self._last_s - SET_BACK_S <= color_s <= self._last_s:
            return False
        depth_s, depth = min(self._depths, key=lambda item: abs(item[0] - color_s))
        if abs(depth_s - color_s) > self._tolerance_s:
            return False
        self.dropped += self._newest is not None
        self._newest = FramePair(color=color, depth=depth, stamp_s=color_s)
        self._last_s = color_s
        return True
