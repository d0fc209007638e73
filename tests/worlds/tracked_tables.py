"""A tracker with a clock of its own, and what cameras show it."""

import math
from typing import Any

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.detections import Doubts, Picture
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import Vector, yaw_pose
from bbllm.worlds.perception.tracking import Hidden, ObjectTracker, TrackingParams

PERIOD_S = 0.2
HERE: Vector = (0.4, 0.1, 0.02)
THERE: Vector = (0.5, -0.1, 0.02)
EDGES = (0.04, 0.04, 0.04)

TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.35, 0.0, -0.02)),
    size_m=(1.2, 1.6, 0.04),
)
AWAY = Hand(tcp=Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.08)


def cube(name: str, x: float, y: float, z: float = 0.02, yaw_deg: float = 0.0) -> SceneObject:
    pose = yaw_pose((x, y, z), math.radians(yaw_deg))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=EDGES)


def nothing_hidden(item: SceneObject) -> bool:
    return False


class Table:
    """A tracker with a clock, and pictures of one camera or more."""

    def __init__(self, **params: Any) -> None:
        self.warnings: list[str] = []
        self.doubts = Doubts(self.warnings.append)
        self.tracker = ObjectTracker(TrackingParams(**params), self.doubts)
        self.now_s = 100.0

    def show(
        self,
        *entities: tuple[str, Vector],
        times: int = 1,
        yaw_deg: float = 0.0,
        source: str = 'camera',
        hidden: Hidden = nothing_hidden,
    ) -> tuple[str, ...]:
        """Send pictures that show these things; return what the last one found anew."""
        found: tuple[str, ...] = ()
        for _ in range(times):
            self.now_s += PERIOD_S
            found = self.tracker.see(
                Picture(
                    source=source,
                    stamp_s=self.now_s,
                    sightings=tuple(cube(name, *at, yaw_deg) for name, at in entities),
                ),
                hidden,
            )
        return found

    def place(self, name: str) -> Vector | None:
        track = self.tracker.tracks.get(name)
        return track.item.pose.position_m if track is not None and track.placed else None

    @property
    def lost(self) -> list[str]:
        return [item.name for item in self.tracker.lost]
