"""
Object poses from noisy detections: steady at rest, quick after a motion.

Sightings that agree with what is known are averaged. One that does not is an outlier, until some
more agree with it: then the object has moved, and is there at once. An object that pictures should
show and do not show for some time is lost.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from bbllm.core.observation import LostObject
from bbllm.core.types import Pose, SceneObject
from bbllm.scene.detections import Doubts, Picture
from bbllm.scene.transforms import difference, mean, nearest_alike

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


class Whereabouts(Enum):
    """What is known of the place of an object."""

    UNDECIDED = 'undecided'
    """It was seen, but too seldom so far."""
    PLACED = 'placed'
    HELD = 'held'
    """It is in the hand."""
    LOST = 'lost'


@dataclass(slots=True)
class Track:
    """What is known of one object."""

    item: SceneObject
    """The object where it is, or was last, world frame."""
    where: Whereabouts = Whereabouts.UNDECIDED
    estimated: bool = False
    """Whether the pose comes from the hand that put it there, and from no picture."""
    seen_s: float = 0.0
    """When it was there last, on the world's clock [s]."""
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

    @property
    def placed(self) -> bool:
        """Whether it is known where the object stands."""
        return self.where is Whereabouts.PLACED

    @property
    def held(self) -> bool:
        """Whether it is in the hand."""
        return self.where is Whereabouts.HELD


class ObjectTracker:
    """Follows all objects by their names."""

    def __init__(self, params: TrackingParams, doubts: Doubts) -> None:
        self.params = params
        self.tracks: dict[str, Track] = {}
        self._doubts = doubts
        self._observed_s: dict[str, float] = {}

    def newest_s(self, source: str) -> float:
        """Return when a source's newest picture was taken [s]."""
        return self._observed_s.get(source, -math.inf)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self._observed_s)

    @property
    def lost(self) -> tuple[LostObject, ...]:
        return tuple(
            LostObject(name=name, position_m=t.item.pose.position_m, seen_s=t.seen_s)
            for name, t in self.tracks.items()
            if t.where is Whereabouts.LOST
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of objects that were seen where they were not known to be, too seldom so far."""
        newest_s = max(self._observed_s.values(), default=0.0)
        return tuple(
            name
            for name, t in self.tracks.items()
            if t.odd and not t.held and t.odd[-1][0] > newest_s - FRESH_S
        )

    def believe(self, item: SceneObject) -> None:
        """Take the pose of an object from a file."""
        self.tracks[item.name] = Track(item, Whereabouts.PLACED)

    def hold(self, name: str, stamp_s: float) -> None:
        """Take in that an object is in the hand; only sightings elsewhere contradict that."""
        track = self._moved(name, stamp_s)
        track.where, track.estimated = Whereabouts.HELD, True

    def put(self, name: str, pose: Pose, stamp_s: float) -> None:
        """Take in that the hand has put an object somewhere."""
        track = self._moved(name, stamp_s)
        track.item, track.where = replace(track.item, pose=pose), Whereabouts.PLACED
        track.estimated, track.seen_s = True, stamp_s

    def lose(self, name: str, pose: Pose, stamp_s: float) -> None:
        """Take in that the hand has lost an object; the pose is where it was last."""
        track = self._moved(name, stamp_s)
        track.item, track.where = replace(track.item, pose=pose), Whereabouts.LOST
        track.estimated, track.seen_s = False, stamp_s

    def see(self, picture: Picture, hidden: Hidden) -> tuple[str, ...]:
        """Take in a picture; returns the names of objects that were found somewhere new."""
        before_s = self.newest_s(picture.source)
        if picture.stamp_s <= before_s:
            self._doubts.note(
                'out of order',
                picture.source,
                f'{picture.source} sends pictures that are not newer than the one before; '
                'they are left out.',
            )
            return ()
        self._observed_s[picture.source] = picture.stamp_s
        passed_s = min(picture.stamp_s - before_s, LONGEST_GAP_S)
        seen = {sighting.name: sighting for sighting in picture.sightings}
        found = [name for name, sighting in seen.items() if self._saw(sighting, picture)]
        for name, track in self.tracks.items() if picture.complete else ():
            if picture.source in track.sources and track.seen_s < picture.stamp_s:
                self._missed(track, passed_s, hidden, name in seen)
        return tuple(found)

    def _saw(self, seen: SceneObject, picture: Picture) -> bool:
        """Take in a sighting; returns whether it shows the object to be somewhere new."""
        stamp_s = picture.stamp_s
        track = self.tracks.setdefault(seen.name, Track(seen))
        track.item = replace(seen, pose=track.item.pose)
        track.sources.add(picture.source)
        if stamp_s < track.since_s:
            return False
        if track.placed and self._agree(track, seen.pose, track.item.pose):
            track.odd.clear()
            track.window.append((stamp_s, _alike(track, seen.pose, track.item.pose)))
            self._average(track, stamp_s)
            return False
        odd = [(s, pose) for s, pose in track.odd if s > stamp_s - FRESH_S]
        if odd and not self._agree(track, seen.pose, odd[-1][1]):
            odd = []
        track.odd = [*odd, (stamp_s, seen.pose)]
        if len(track.odd) < self.params.agreeing:
            return False
        track.window.clear()
        track.window.extend((s, _alike(track, pose, seen.pose)) for s, pose in track.odd)
        track.odd = []
        self._average(track, stamp_s)
        return True

    def _agree(self, track: Track, one: Pose, other: Pose) -> bool:
        gap_m = math.dist(one.position_m, other.position_m)
        turned = difference(one.quat_xyzw, other.quat_xyzw, track.item.kind, track.item.size_m)
        return gap_m <= self.params.gate_m and turned <= self.params.gate_rad

    def _average(self, track: Track, stamp_s: float) -> None:
        while track.window[0][0] < stamp_s - self.params.window_s:
            track.window.popleft()
        poses = [pose for _, pose in track.window]
        x, y, z = (sum(pose.position_m[i] for pose in poses) / len(poses) for i in range(3))
        quat = mean([pose.quat_xyzw for pose in poses])
        track.item = replace(track.item, pose=Pose(position_m=(x, y, z), quat_xyzw=quat))
        track.where = Whereabouts.PLACED
        track.estimated, track.missing_s, track.seen_s = False, 0.0, stamp_s

    def _missed(self, track: Track, passed_s: float, hidden: Hidden, seen: bool) -> None:
        """Count the time in which an object was not at its place; lose it in the end."""
        if not track.placed or self.params.lost_after_s <= 0.0:
            return
        if not seen and hidden(track.item):
            return
        track.missing_s += passed_s
        if track.missing_s >= self.params.lost_after_s:
            track.where = Whereabouts.LOST
            track.window.clear()

    def _moved(self, name: str, stamp_s: float) -> Track:
        """Return the track of what the hand has moved, without the sightings of before."""
        track = self.tracks[name]
        track.window.clear()
        track.odd.clear()
        track.missing_s, track.since_s = 0.0, stamp_s
        return track


def _alike(track: Track, pose: Pose, reference: Pose) -> Pose:
    """Return a pose with that of its alike orientations which is nearest to a reference."""
    quat = nearest_alike(pose.quat_xyzw, reference.quat_xyzw, track.item.kind, track.item.size_m)
    return Pose(position_m=pose.position_m, quat_xyzw=quat)
