"""
Relative poses of frames: composition along a tree of transforms, and equivalent orientations.

The tree is what ROS calls tf: every frame but the root has one parent. Static links are valid for
all time; the others are kept for some seconds and interpolated between two measurements.

Plain floats: scipy's `Rotation` takes 87 us to compose two poses, `compose` 7 us.
"""

import bisect
import itertools
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from bbllm.core.errors import BbllmError
from bbllm.core.types import Kind, Pose, Quat
from bbllm.skills.shapes import Vector

KEPT_S = 10.0
"""How long measured links are kept [s]."""
HOLD_S = 0.2
"""How far beyond its newest measurement, or before its oldest, a link is taken as it was [s]."""
IDENTITY = Pose(position_m=(0.0, 0.0, 0.0))


SAME_EDGE_M = 0.002
"""Edges that differ by less are taken for equal [m]."""
_HALF = math.sqrt(0.5)
_NEAREST_RAD = math.radians(45.0)
"""Alike orientations of a box are a quarter turn apart or more: one that is nearer than half of
that is the nearest."""


class FrameError(BbllmError):
    """Two frames that nothing joins at the time that was asked for; names the frames."""


def multiply(a: Quat, b: Quat) -> Quat:
    """Return the rotation that turns by *b* first and by *a* then."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def conjugate(quat: Quat) -> Quat:
    """Return the opposite rotation of a unit quaternion."""
    x, y, z, w = quat
    return (-x, -y, -z, w)


def rotate(quat: Quat, vector: Vector) -> Vector:
    """Return a vector turned by a unit quaternion."""
    x, y, z, _ = multiply(multiply(quat, (*vector, 0.0)), conjugate(quat))
    return (x, y, z)


def normalized(quat: Sequence[float]) -> Quat:
    """Return a quaternion of length 1; raises ValueError where it has no direction."""
    length = math.sqrt(sum(part * part for part in quat))
    if not math.isfinite(length) or length < 1e-6:
        raise ValueError('a quaternion without length')
    x, y, z, w = (part / length for part in quat)
    return (x, y, z, w)


def compose(a: Pose, b: Pose) -> Pose:
    """Return *b*, given in the frame of *a*, in the frame that *a* is given in."""
    moved = rotate(a.quat_xyzw, b.position_m)
    x, y, z = (p + q for p, q in zip(a.position_m, moved, strict=True))
    return Pose(position_m=(x, y, z), quat_xyzw=normalized(multiply(a.quat_xyzw, b.quat_xyzw)))


def inverse(pose: Pose) -> Pose:
    """Return where the parent is in the frame of the pose."""
    quat = conjugate(pose.quat_xyzw)
    x, y, z = rotate(quat, pose.position_m)
    return Pose(position_m=(-x, -y, -z), quat_xyzw=quat)


def angle_between(a: Quat, b: Quat) -> float:
    """Return by how much two rotations differ, from 0 to pi [rad]."""
    x, y, z, w = multiply(conjugate(a), b)
    return 2.0 * math.atan2(math.sqrt(x * x + y * y + z * z), abs(w))


def between(a: Pose, b: Pose, share: float) -> Pose:
    """Return the pose at a share of the way from *a* (0) to *b* (1)."""
    x, y, z = (p + share * (q - p) for p, q in zip(a.position_m, b.position_m, strict=True))
    quat = mean((a.quat_xyzw, b.quat_xyzw), (1.0 - share, share))
    return Pose(position_m=(x, y, z), quat_xyzw=quat)


@dataclass(slots=True)
class _Link:
    parent: str
    static: bool
    stamps_s: list[float] = field(default_factory=list)
    poses: list[Pose] = field(default_factory=list)


class TransformTree:
    """The tree of all frames; thread-safe."""

    def __init__(self) -> None:
        self.newest_stamp_s = -math.inf
        """The latest stamp of a link that moves [s]."""
        self._links: dict[str, _Link] = {}
        self._lock = threading.Lock()

    def add(self, parent: str, child: str, pose: Pose, stamp_s: float, static: bool) -> None:
        """
        Set the pose of a frame in its parent.

        Args:
            parent: Name of the frame that the pose is given in; a new one replaces an old one.
            child: Name of the frame whose pose it is.
            pose: Of the child.
            stamp_s: When it was measured [s].
            static: Whether it is valid for all time.

        Raises FrameError for a frame without a name, its own parent, or a pose that is none.
        """
        parent, child = plain_frame(parent), plain_frame(child)
        if not parent or not child or parent == child:
            raise FrameError(f'A transform from {parent!r} to {child!r} joins no two frames.')
        if not all(map(math.isfinite, (*pose.position_m, stamp_s))):
            raise FrameError(
                f'The transform from {parent} to {child} has numbers that are not finite.'
            )
        try:
            pose = Pose(position_m=pose.position_m, quat_xyzw=normalized(pose.quat_xyzw))
        except ValueError as error:
            raise FrameError(f'The transform from {parent} to {child} has {error}.') from error
        with self._lock:
            link = self._links.get(child)
            if link is None or link.parent != parent or link.static or static:
                link = self._links[child] = _Link(parent, static)
            index = bisect.bisect_left(link.stamps_s, stamp_s)
            again = link.stamps_s[index : index + 1] == [stamp_s]
            link.stamps_s[index : index + again] = [stamp_s]
            link.poses[index : index + again] = [pose]
            if not static:
                self.newest_stamp_s = max(self.newest_stamp_s, stamp_s)
            old = bisect.bisect_left(link.stamps_s, link.stamps_s[-1] - KEPT_S)
            del link.stamps_s[:old], link.poses[:old]

    def lookup(self, target: str, source: str, stamp_s: float) -> Pose:
        """
        Return where the frame *source* is in the frame *target*, at a time [s].

        Raises FrameError where nothing joins them, a link is too old or new, or they form a loop.
        """
        target, source = plain_frame(target), plain_frame(source)
        with self._lock:
            up_source = self._way_up(source)
            up_target = self._way_up(target)
            common = next((frame for frame in up_source if frame in up_target), None)
            if common is None:
                known = {*self._links, *(link.parent for link in self._links.values())}
                names = ', '.join(sorted(known)[:20]) or 'none'
                raise FrameError(
                    f'Nothing joins {source!r} to {target!r}: a transform from {up_target[-1]!r} '
                    f'to {up_source[-1]!r} is missing. Known frames: {names}.'
                )
            in_common = self._climb(up_source[: up_source.index(common)], stamp_s)
            target_in_common = self._climb(up_target[: up_target.index(common)], stamp_s)
        return compose(inverse(target_in_common), in_common)

    def is_fixed(self, target: str, source: str) -> bool:
        """Return whether static links alone join two frames; also where nothing joins them."""
        with self._lock:
            try:
                ways = [self._way_up(plain_frame(frame)) for frame in (source, target)]
            except FrameError:  # a loop, which the look-up reports
                return True
            between = set(ways[0]).symmetric_difference(ways[1])
            return all(self._links[frame].static for frame in between if frame in self._links)

    def _way_up(self, frame: str) -> list[str]:
        """Return the frame, its parent, and so on to the root."""
        way = [frame]
        while (link := self._links.get(way[-1])) is not None:
            if link.parent in way:
                loop = ' -> '.join([*way[way.index(link.parent) :], link.parent])
                raise FrameError(
                    f'Frames form a loop, each in the next: {loop}. Two publishers give one of '
                    'them different parents.'
                )
            way.append(link.parent)
        return way

    def _climb(self, frames: Sequence[str], stamp_s: float) -> Pose:
        """Return the pose of the first of these frames in the parent of the last."""
        pose = IDENTITY
        for frame in frames:
            pose = compose(self._at(frame, stamp_s), pose)
        return pose

    def _at(self, frame: str, stamp_s: float) -> Pose:
        link = self._links[frame]
        if link.static:
            return link.poses[-1]
        stamps_s = link.stamps_s
        index = bisect.bisect_left(stamps_s, stamp_s)
        if 0 < index < len(stamps_s):
            span_s = stamps_s[index] - stamps_s[index - 1]
            share = (stamp_s - stamps_s[index - 1]) / span_s
            return between(link.poses[index - 1], link.poses[index], share)
        nearest = min(index, len(stamps_s) - 1)
        off_s = abs(stamps_s[nearest] - stamp_s)
        if off_s > HOLD_S:
            raise FrameError(
                f'Where {frame} is in {link.parent} is not known at that time: the nearest '
                f'transform is {off_s:.2f} s from it, and at most {HOLD_S:g} s will do.'
            )
        return link.poses[nearest]


def plain_frame(name: str) -> str:
    """Return a frame's name without the leading slash that ROS 1 allowed."""
    return name.strip().lstrip('/')


# Equivalent orientations: 24 of a cube, a whole circle of a cylinder.


def nearest_alike(quat: Quat, reference: Quat, kind: Kind, size_m: Vector) -> Quat:
    """
    Return the orientation nearest to a reference among those that cannot be distinguished.

    A box and a cylinder of full extent *size_m* [m] have symmetries; other kinds count as none.
    """
    if kind is Kind.CYLINDER:
        return _turned_onto(quat, reference)
    if kind is not Kind.CUBE or angle_between(quat, reference) < _NEAREST_RAD:
        return quat
    a, b, c = size_m
    equal = (_same(b, c), _same(a, c), _same(a, b))
    alike = (multiply(quat, turn) for turn in _box_turns(equal))
    return min(alike, key=lambda turned: angle_between(turned, reference))


def difference(quat: Quat, reference: Quat, kind: Kind, size_m: Vector) -> float:
    """Return by how much an object has turned, as far as that can be seen [rad]."""
    return angle_between(nearest_alike(quat, reference, kind, size_m), reference)


def mean(quats: Sequence[Quat], weights: Iterable[float] = itertools.repeat(1.0)) -> Quat:
    """Return the mean of orientations that are near to each other."""
    first = quats[0]
    sums = [0.0, 0.0, 0.0, 0.0]
    for quat, weight in zip(quats, weights):
        sign = 1.0 if sum(p * q for p, q in zip(quat, first, strict=True)) >= 0.0 else -1.0
        for i, part in enumerate(quat):
            sums[i] += sign * weight * part
    return normalized(sums)


def shortest_turn(a: Vector, b: Vector) -> Quat:
    """Return the smallest rotation that turns one unit vector onto another."""
    x, y, z = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    dot = sum(p * q for p, q in zip(a, b, strict=True))
    if dot < -1.0 + 1e-9:  # opposite: half a turn about anything that stands across
        across = (0.0, -a[2], a[1]) if abs(a[0]) < 0.9 else (-a[1], a[0], 0.0)
        return normalized((*across, 0.0))
    return normalized((x, y, z, 1.0 + dot))


def _turned_onto(quat: Quat, reference: Quat) -> Quat:
    """Turn the reference by as little as makes its z axis that of *quat*, or its opposite."""
    axis, wanted = rotate(reference, (0.0, 0.0, 1.0)), rotate(quat, (0.0, 0.0, 1.0))
    if sum(p * q for p, q in zip(axis, wanted, strict=True)) < 0.0:
        wanted = (-wanted[0], -wanted[1], -wanted[2])
    return normalized(multiply(shortest_turn(axis, wanted), reference))


def _same(a: float, b: float) -> bool:
    return abs(a - b) < SAME_EDGE_M


@cache
def _box_turns(equal: tuple[bool, bool, bool]) -> tuple[Quat, ...]:
    """Return the rotations that map a box onto itself; *equal[i]*: the other two edges agree."""
    generators: list[Quat] = [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)]
    for axis, quarter in enumerate(equal):
        if quarter:
            x, y, z = (_HALF if i == axis else 0.0 for i in range(3))
            generators.append((x, y, z, _HALF))
    found: list[Quat] = [(0.0, 0.0, 0.0, 1.0)]
    for turn, generator in ((t, g) for t in found for g in generators):
        new = multiply(turn, generator)
        if all(angle_between(new, known) > 0.01 for known in found):
            found.append(new)  # the loop goes on over what it finds
    return tuple(found)


def axes_of(quat: Quat) -> tuple[Vector, ...]:
    """Return the six directions of an object's own axes."""
    units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    signs = itertools.product((1.0, -1.0), units)
    return tuple(rotate(quat, (sign * u[0], sign * u[1], sign * u[2])) for sign, u in signs)
