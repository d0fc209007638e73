"""Where blocks are and shall be, as `expert` thinks it through: moves on a table in its mind."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from bbllm.core.observation import Seven
from bbllm.llm.expert.belief import held_in
from bbllm.llm.expert.sight import Move, Sight

Point = tuple[float, float]

ON_ASIDE_M = 0.015
"""How far apart two centres may be for one block to stand well on the other [m]."""
ON_HEIGHT_M = 0.01
"""How far a block may be from where it would touch the one below [m]."""
APART_M = 0.09
"""What the centres of two blocks side by side keep, so that the fingers fit in [m]."""
TOUCHING_M = 0.057
"""The same where a block stood before, so that it fits in somehow [m]."""
GRIP_BELOW_TOP_M = 0.008
"""How far below the top of a block the middle between the finger tips is where nothing has shown
it: as this arm grips (skills.grasps) [m]."""
FAILED_SPOT_M = 0.03
"""Places so near to one that failed are not tried again [m]."""


class Table:
    """The blocks as they are now, and as they will be after the moves decided so far."""

    def __init__(self, sight: Sight, held: str | None):
        self._sight = sight
        self._poses = dict(sight.now.blocks)
        self._homes = _homes(sight)
        self._bad = tuple(_failed_spots(sight))
        self.corners = sight.corners
        self.held = held
        self.moves: list[Move] = []

    def pick(self, name: str) -> None:
        """Take a block; what is in the hand, or stands on the block, goes home before."""
        if self.held == name:
            return
        self.empty_hand()
        for above in self.standing_on(name):
            self.put_home(above)
        self.moves.append(Move('pick', name))
        self.held = name

    def wait(self, times: int) -> None:
        """Stand still, to feel once more what is in the hand."""
        self.moves += [Move('wait')] * times

    def empty_hand(self) -> None:
        """Put what is in the hand back where it was, or beside."""
        if self.held is not None:
            self.put(self.held, self._free(self.held), 0.0)

    def put(self, name: str, at: Point, bottom_m: float, *, like: str | None = None) -> None:
        """
        Set a block down.

        Args:
            name: Which; it is taken first where it is not in the hand.
            at: Where its centre shall be, seen from above [m].
            bottom_m: Height of what it is set on [m].
            like: The block whose edges it shall be along; its own turn where none is given.
        """
        self.pick(name)
        half = self._sight.half_m(name)
        yaw = _yaw(self._poses[like or name])
        x, y, z = at[0], at[1], bottom_m + half
        dx, dy, dz = self._in_hand(name, yaw)
        pose = (x + dx, y + dy, z + dz, math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0)
        self.moves.append(Move('place', name, pose))
        self._poses[name] = (x, y, z, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
        self.held = None

    def put_on(self, name: str, below: str) -> None:
        """Set a block on another."""
        x, y, _ = self._poses[below][:3]
        self.put(name, (x, y), self.top_m(below), like=below)

    def put_home(self, name: str) -> None:
        """Set a block down where it was at first, or beside."""
        self.put(name, self._free(name), 0.0)

    def at(self, name: str) -> Point:
        """Return where a block is, seen from above [m]."""
        x, y, _ = self._poses[name][:3]
        return x, y

    def top_m(self, name: str) -> float:
        """Return how high the top of a block is [m]."""
        return self._poses[name][2] + self._sight.half_m(name)

    def on(self, name: str, below: str) -> bool:
        """Tell whether a block stands on another, and well."""
        if self.held in (name, below):
            return False
        aside_m = math.dist(self.at(name), self.at(below))
        bottom_m = self._poses[name][2] - self._sight.half_m(name)
        return aside_m <= ON_ASIDE_M and abs(bottom_m - self.top_m(below)) <= ON_HEIGHT_M

    def standing_on(self, below: str) -> list[str]:
        """Return what rests on a block in any way, the highest first."""
        half_m = self._sight.half_m(below)
        found = [
            name
            for name in self._poses
            if name not in (below, self.held)
            and math.dist(self.at(name), self.at(below)) < 2 * half_m
            and self._poses[name][2] > self._poses[below][2] + half_m
        ]
        return sorted(found, key=lambda name: -self._poses[name][2])

    def low(self, name: str) -> bool:
        """Tell whether a block stands on the table itself."""
        return self.held != name and self._poses[name][2] <= 1.5 * self._sight.half_m(name)

    def failed(self, at: Point) -> bool:
        """Tell whether to place something there has failed before."""
        return any(math.dist(at, spot) < FAILED_SPOT_M for spot in self._bad)

    def clear(self, at: Point, besides: Collection[str], apart_m: float = APART_M) -> bool:
        """Tell whether there is room for a block at a place, some blocks aside."""
        others = (name for name in self._poses if name not in besides and name != self.held)
        return all(math.dist(at, self.at(name)) >= apart_m for name in others)

    def _free(self, name: str) -> Point:
        """Return a place on the table for a block: its first one, or one that is free."""
        home = self._homes[name]
        if self.clear(home, {name}, TOUCHING_M) and not self.failed(home):
            return home
        for spot in (*self._homes.values(), *_around(home)):
            if self.clear(spot, {name}) and not self.failed(spot):
                return spot
        return home

    def _in_hand(self, name: str, yaw: float) -> tuple[float, float, float]:
        """Return from the centre of a block to the tool centre point that holds it [m]."""
        looks = [look for look in self._sight.looks() if held_in(look, self._sight) == name]
        if not looks:
            return 0.0, 0.0, max(0.0, self._sight.half_m(name) - GRIP_BELOW_TOP_M)
        held = looks[-1]
        assert held.eef is not None  # only then is anything known to be held
        dx, dy, dz = (held.eef[axis] - held.blocks[name][axis] for axis in range(3))
        if held is not self._sight.now or self.moves:
            # The next grip will be another one; only its height will be the same.
            return 0.0, 0.0, dz
        turn = yaw - _tool_yaw(held.eef)
        cos, sin = math.cos(turn), math.sin(turn)
        return cos * dx - sin * dy, sin * dx + cos * dy, dz


def _homes(sight: Sight) -> dict[str, Point]:
    """Return where each block stood when it was first seen to stand."""
    homes: dict[str, Point] = {}
    for look in sight.looks():
        held = held_in(look, sight)
        for name, pose in look.blocks.items():
            if name != held:
                homes.setdefault(name, (pose[0], pose[1]))
    # One that was never seen to stand was lifted straight up.
    return {name: homes.get(name, (pose[0], pose[1])) for name, pose in sight.now.blocks.items()}


def _failed_spots(sight: Sight) -> Iterable[Point]:
    for deed in sight.deeds:
        pose = deed.move.pose
        if deed.move.verb == 'place' and deed.done is False and deed.tried and pose is not None:
            yield pose[0], pose[1]


def _around(point: Point) -> Iterable[Point]:
    for radius_m in (0.1, 0.14, 0.18):
        for index in range(8):
            turn = index * math.pi / 4
            yield point[0] + radius_m * math.cos(turn), point[1] + radius_m * math.sin(turn)


def _yaw(pose: Seven) -> float:
    """Return by how much a cube is turned, the least of four ways to say it [rad]."""
    x, y, z, w = pose[3:]
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return math.remainder(yaw, math.pi / 2)


def _tool_yaw(pose: Seven) -> float:
    """Return by how much a tool that points down is turned [rad]."""
    return 2 * math.atan2(pose[4], pose[3])
