"""
Object poses from noisy detections: steady at rest, quick after a motion.

Sightings that agree with what is known are averaged. One that does not is an outlier, until some
more agree with it: then the object has moved, and is there at once. An object that pictures should
show and do not show for some time is lost.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bbllm.core.observation import LostObject
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.skills.shapes import Vector
from bbllm.worlds.perception.detections import Doubts, Picture, Sighting
from bbllm.worlds.scene.transforms import difference, mean, nearest_alike

FRESH_S = 1.0
"""Disagreeing sightings older than this, counted from the newest picture, decide nothing [s]."""
LONGEST_GAP_S = 1.0
"""A longer pause between pictures counts as one of this length [s]."""

Hidden = Callable[[SceneObject], bool]
"""Returns whether a picture could not show an object where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingParams:
    """How steady, how quick, how patient."""

    window_s: float = 2.0
    """Sightings of so long are averaged [s]."""
    gate_m: float = 0.01
    """Sightings that are further apart do not agree [m]."""
    gate_rad: float = math.radians(15.0)
    """Sightings that are turned further do not agree [rad]."""
    agreeing: int = 3
    """So many sightings that agree with each other show that an object is there."""
    lost_after_s: float = 2.0
    """An object that could be seen and is not for so long is lost; 0: never [s]."""


@dataclass(slots=True)
class Track:
    """What is known of one object."""

    name: str
    kind: Kind
    size_m: Vector
    color: str
    pose: Pose | None = None
    """Where it is, world frame; None where that is not known, or in the hand."""
    estimated: bool = False
    """Whether the pose comes from the hand that put it there, and from no picture."""
    seen_s: float = 0.0
    """When it was there last, on the world's clock [s]."""
    last: Pose | None = None
    """Where it was last."""
    held: bool = False
    """It is in the hand."""
    lost: bool = False
    sources: set[str] = field(default_factory=set)
    """Who has ever seen it."""
    window: deque[tuple[float, Pose]] = field(default_factory=lambda: deque(maxlen=100))
    """Sightings that agree with the pose, each with its stamp, turned to be nearest alike."""
    odd: list[tuple[float, Pose]] = field(default_factory=list)
    """Sightings that agree with each other, but not with the pose."""
    since_s: float = -math.inf
    """What was seen earlier does not count: the hand has moved it since [s]."""
    missing_s: float = 0.0
    """For how long it could have been seen, and was not [s]."""

    def as_object(self, pose: Pose) -> SceneObject:
        """Return the object as a scene shows it."""
        return SceneObject(
            name=self.name, kind=self.kind, pose=pose, size_m=self.size_m, color=self.color
        )


class ObjectTracker:
    """Follows all objects by their names."""

    def __init__(self, params: TrackingParams, doubts: Doubts) -> None:
        self.params = params
        self.tracks: dict[str, Track] = {}
        self._doubts = doubts
        self._looked_s: dict[str, float] = {}

    def looked_s(self, source: str) -> float:
        """Return when a source's newest picture was taken [s]."""
        return self._looked_s.get(source, -math.inf)

    @property
    def sources(self) -> tuple[str, ...]:
        """Who has sent pictures."""
        return tuple(self._looked_s)

    @property
    def lost(self) -> tuple[LostObject, ...]:
        """What is lost."""
        return tuple(
            LostObject(name=t.name, position_m=t.last.position_m, seen_s=t.seen_s)
            for t in self.tracks.values()
            if t.lost and t.last is not None
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of objects that were seen where they were not known to be, too seldom so far."""
        newest_s = max(self._looked_s.values(), default=0.0)
        return tuple(
            t.name
            for t in self.tracks.values()
            if t.odd and not t.held and t.odd[-1][0] > newest_s - FRESH_S
        )

    def believe(self, item: SceneObject) -> None:
        """Take the pose of an object from a file."""
        self.tracks[item.name] = Track(
            item.name, item.kind, item.size_m, item.color, pose=item.pose, last=item.pose
        )

    def hold(self, name: str, stamp_s: float) -> None:
        """Take in that an object is in the hand; only sightings elsewhere contradict that."""
        track = self._moved(name, stamp_s)
        track.held, track.pose, track.estimated = True, None, True

    def put(self, name: str, pose: Pose, stamp_s: float) -> None:
        """Take in that the hand has put an object somewhere."""
        track = self._moved(name, stamp_s)
        track.held, track.pose, track.last = False, pose, pose
        track.estimated, track.seen_s = True, stamp_s

    def lose(self, name: str, pose: Pose, stamp_s: float) -> None:
        """Take in that the hand has lost an object; the pose is where it was last."""
        track = self._moved(name, stamp_s)
        track.held, track.pose, track.last = False, None, pose
        track.estimated, track.seen_s, track.lost = False, stamp_s, True

    def see(self, picture: Picture, hidden: Hidden) -> tuple[str, ...]:
        """Take in a picture; returns the names of objects that were found somewhere new."""
        before_s = self.looked_s(picture.source)
        if picture.stamp_s <= before_s:
            self._doubts.note(
                'out of order',
                picture.source,
                f'{picture.source} sends pictures that are not newer than the one before; '
                'they are left out.',
            )
            return ()
        self._looked_s[picture.source] = picture.stamp_s
        passed_s = min(picture.stamp_s - before_s, LONGEST_GAP_S)
        seen = {sighting.name: sighting for sighting in picture.sightings}
        found = [name for name, sighting in seen.items() if self._saw(sighting, picture)]
        for track in self.tracks.values():
            if picture.source in track.sources and track.seen_s < picture.stamp_s:
                self._missed(track, passed_s, hidden, seen.get(track.name))
        return tuple(found)

    def _saw(self, sighting: Sighting, picture: Picture) -> bool:
        """Take in a sighting; returns whether it shows the object to be somewhere new."""
        name, stamp_s = sighting.name, picture.stamp_s
        track = self.tracks.get(name)
        if track is None:
            track = Track(name, sighting.kind, sighting.size_m, sighting.color)
            self.tracks[name] = track
        track.kind, track.size_m, track.color = sighting.kind, sighting.size_m, sighting.color
        track.sources.add(picture.source)
        if stamp_s < track.since_s:
            return False
        if track.pose is not None and self._agree(track, sighting.pose, track.pose):
            track.odd.clear()
            track.window.append((stamp_s, _alike(track, sighting.pose, track.pose)))
            self._average(track, stamp_s)
            return False
        odd = [(s, pose) for s, pose in track.odd if s > stamp_s - FRESH_S]
        if odd and not self._agree(track, sighting.pose, odd[-1][1]):
            odd = []
        track.odd = [*odd, (stamp_s, sighting.pose)]
        if len(track.odd) < self.params.agreeing:
            return False
        track.window.clear()
        track.window.extend((s, _alike(track, pose, sighting.pose)) for s, pose in track.odd)
        track.odd = []
        track.held = track.lost = False
        self._average(track, stamp_s)
        return True

    def _agree(self, track: Track, one: Pose, other: Pose) -> bool:
        gap_m = math.dist(one.position_m, other.position_m)
        turned = difference(one.quat_xyzw, other.quat_xyzw, track.kind, track.size_m)
        return gap_m <= self.params.gate_m and turned <= self.params.gate_rad

    def _average(self, track: Track, stamp_s: float) -> None:
        while track.window[0][0] < stamp_s - self.params.window_s:
            track.window.popleft()
        poses = [pose for _, pose in track.window]
        x, y, z = (sum(pose.position_m[i] for pose in poses) / len(poses) for i in range(3))
        quat = mean([pose.quat_xyzw for pose in poses])
        track.pose = track.last = Pose(position_m=(x, y, z), quat_xyzw=quat)
        track.estimated, track.missing_s, track.seen_s = False, 0.0, stamp_s

    def _missed(
        self, track: Track, passed_s: float, hidden: Hidden, sighting: Sighting | None
    ) -> None:
        """Count the time in which an object was not at its place; lose it in the end."""
        if track.pose is None or self.params.lost_after_s <= 0.0:
            return
        if sighting is None and hidden(track.as_object(track.pose)):
            return
        track.missing_s += passed_s
        if track.missing_s >= self.params.lost_after_s:
            track.pose, track.lost = None, True
            track.window.clear()

    def _moved(self, name: str, stamp_s: float) -> Track:
        """Return the track of what the hand has moved, without the sightings of before."""
        track = self.tracks[name]
        track.window.clear()
        track.odd.clear()
        track.lost, track.missing_s, track.since_s = False, 0.0, stamp_s
        return track


def _alike(track: Track, pose: Pose, reference: Pose) -> Pose:
    """Return a pose with that of its alike orientations which is nearest to a reference."""
    quat = nearest_alike(pose.quat_xyzw, reference.quat_xyzw, track.kind, track.size_m)
    return Pose(position_m=pose.position_m, quat_xyzw=quat)
