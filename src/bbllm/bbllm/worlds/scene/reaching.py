"""Which objects and places the hand can reach from above; recomputed only for what has moved."""

import math
import threading
from bisect import bisect_left
from functools import cache

from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.reachability import reachable_top_down
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.robots.robot_model import RobotModel
from bbllm.skills.containers import floor_z
from bbllm.skills.grasps import Grip, grips_for
from bbllm.skills.segments import HOVER_M
from bbllm.skills.shapes import top_z, yaw_pose

EDGE_M = 0.04
"""A location or container is in reach when a cube of this edge can be put there [m]."""
_MIDDLE_CM = 45
"""A distance that every arm of this size reaches [cm]."""

Key = tuple[Kind, tuple[float, ...]]


class ReachCache:
    """
    Answers `relations.ReachTest` and remembers the answers by kind, size and pose.

    Limits, the table and the arm itself count; other objects do not, since they can be moved. An
    object that the fingers cannot grip is in reach too, as it may be pushed. May be called from
    any thread: cases are drawn in several.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._lock = threading.Lock()  # the checker is of one thread at a time
        self._checker = CollisionChecker(robot)
        self._known: dict[Key, bool] = {}

    def __call__(self, item: SceneObject) -> bool:
        """Return whether the hand can come down on an object or location from above."""
        key = (item.kind, _rounded(item))
        with self._lock:
            if key not in self._known:
                grips = _grips(item)
                self._known[key] = reachable_top_down(
                    self._robot,
                    grips[0].position_m,
                    [grip.yaw_rad for grip in grips],
                    hover_m=HOVER_M,
                    checker=self._checker,
                )
            return self._known[key]


@cache
def reach_ring_m(robot: RobotModel) -> tuple[float, float]:
    """
    Return how near and how far from its axis the hand can grasp, straight ahead [m].

    The question is the one that scenes answer with `reachable`, at distances of 1 cm. The base
    joint turns nearly all the way round, so that the reach is the same all around.
    """
    reach = ReachCache(robot)

    def reaches(centimetres: int) -> bool:
        pose = Pose(position_m=(0.01 * centimetres, 0.0, 0.0))
        return reach(SceneObject(name='here', kind=Kind.LOCATION, pose=pose))

    near = bisect_left(range(_MIDDLE_CM), True, key=reaches)
    far = bisect_left(range(_MIDDLE_CM, 150), True, key=lambda at: not reaches(at))
    return 0.01 * near, 0.01 * (_MIDDLE_CM + far - 1)


def _grips(item: SceneObject) -> tuple[Grip, ...]:
    x, y, z = item.pose.position_m
    if item.kind not in (Kind.LOCATION, Kind.CONTAINER):
        grips = grips_for(item, ())
        if isinstance(grips, tuple):
            return grips
        # Too wide, or on an edge: reached where a cube with the same top could be gripped.
        z = top_z(item) - EDGE_M
    elif item.kind is Kind.CONTAINER:
        z = floor_z(item)
    cube = SceneObject(
        name=item.name,
        kind=Kind.CUBE,
        pose=yaw_pose((x, y, z + EDGE_M / 2), 0.0),
        size_m=(EDGE_M, EDGE_M, EDGE_M),
    )
    grips = grips_for(cube, ())
    assert isinstance(grips, tuple)  # nothing is beside it
    return grips


def _rounded(item: SceneObject) -> tuple[float, ...]:
    """Round to a millimetre and about half a degree: physics never rests quite still."""
    numbers = (*item.pose.position_m, *item.size_m)
    sign = math.copysign(1.0, item.pose.quat_xyzw[3])
    turns = tuple(round(sign * part, 2) for part in item.pose.quat_xyzw)
    return (*(round(number, 3) for number in numbers), *turns)
