"""The state of a real table: furniture from files, objects from detections and the hand."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.errors import SceneError
from bbllm.core.observation import LostObject
from bbllm.core.types import Pose, Scene, SceneObject, Skill
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import (
    DetectionBatch,
    Doubts,
    Picture,
    SightingParams,
    SightingReader,
)
from bbllm.scene.hand_force import Force
from bbllm.scene.relations import ReachTest, build_scene, stands_on
from bbllm.scene.transforms import TransformTree
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import Vector, rotation_of
from bbllm.worlds.perception.grasp_tracker import (
    GraspTracker,
    HandChange,
    HandEvent,
    rest_below,
    set_on_supports,
)
from bbllm.worlds.perception.tracking import ObjectTracker, Track, TrackingParams

HAND_LENGTH_M = 0.25
"""From the TCP back to the wrist [m]."""
SHOULDER_M: Vector = (0.0, 0.0, 0.333)
"""Where the arm comes from [m]; height: the FR3's first link in its URDF."""
ARM_STEPS = 12
"""Number of pieces of each of the two parts of the arm in visibility checks."""
ABOVE_M = 5.0
"""Height of a camera whose place is unknown [m]."""
CARRIED_M = 0.03
"""A camera that sees an object this near to where the hand carries it agrees with the hand [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """The state of a source of objects at one moment; `scene` adds its relations."""

    objects: tuple[SceneObject, ...]
    """Where everything is, world frame."""
    hand: Hand
    """The hand at that moment."""
    stamp_s: float
    """When the oldest part of it was sensed, on the world's clock [s]."""
    carried: str | None = None
    """What is in the hand, by the fingers."""
    estimated: frozenset[str] = frozenset()
    """Objects that were never seen at their pose."""
    lost: tuple[LostObject, ...] = ()

    def scene(
        self,
        skills: Sequence[Skill],
        *,
        now_s: float,
        reach: ReachTest | None = None,
        force_n: Force | None = None,
    ) -> Scene:
        """Return it with its relations; arguments as of `relations.build_scene`."""
        return build_scene(
            self.objects,
            self.hand,
            skills=skills,
            stamp_s=self.stamp_s,
            now_s=now_s,
            reach=reach,
            carried=self.carried,
            estimated=self.estimated,
            lost=self.lost,
            force_n=force_n,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverParams:
    """Which detections are accepted, and how objects are tracked."""

    sightings: SightingParams = field(default_factory=SightingParams)
    tracking: TrackingParams = field(default_factory=TrackingParams)
    hidden_m: float = 0.1
    """The arm hides what is nearer to the line from the shoulder over the wrist to the TCP, as
    seen by the camera [m]."""


class ObservedTable:
    """
    Joins detections and measurements of the hand, in the order of their arrival.

    The node `state_estimator` and the world with cameras in one process do it with this class;
    what differs is where pictures come from, and who waits for them.

    Args:
        fixed: Furniture and locations, from a scene file.
        items: Objects with known poses at the start; empty where only cameras report them.
        catalogue: Kind, size and colour of each object that may be there.
        params: Which detections are accepted, and how objects are tracked.
        on_warning: Receives each new reason to leave something out, as a sentence.
    """

    def __init__(
        self,
        fixed: Iterable[SceneObject],
        items: Iterable[SceneObject],
        catalogue: Catalogue,
        params: ObserverParams,
        on_warning: Callable[[str], None],
    ) -> None:
        self._fixed = tuple(fixed)
        self.doubts = Doubts(on_warning)
        self.tree = TransformTree()
        """Poses of frames: whoever knows them adds them."""
        reserved = [item.name for item in self._fixed]
        self._reader = SightingReader(
            self.tree, catalogue, reserved, self.doubts, params.sightings
        )
        self._tracker = ObjectTracker(params.tracking, self.doubts)
        self._carrying = GraspTracker()
        self._hidden_m = params.hidden_m
        self._cameras: dict[str, Vector | None] = {}
        self._rested: tuple[tuple[SceneObject, ...], tuple[SceneObject, ...]] = ((), ())
        """Objects as they were tracked last, and at the heights at which they rest."""
        for item in items:
            self._tracker.believe(item)

    @property
    def hand_stamp_s(self) -> float:
        """When the hand was measured last; -inf before it ever was [s]."""
        return -math.inf if self._carrying.hand is None else self._carrying.stamp_s

    @property
    def carried(self) -> str | None:
        """What is in the hand, by the fingers."""
        return self._carrying.name

    @property
    def positions_m(self) -> dict[str, Vector]:
        """Where objects stand, by name, world frame; without lost ones and what is carried [m]."""
        return {item.name: item.pose.position_m for item in self._known()}

    @property
    def sources(self) -> tuple[str, ...]:
        return self._tracker.sources

    def newest_s(self, source: str) -> float:
        """Return when a source's newest picture was taken [s]."""
        return self._tracker.newest_s(source)

    def read(
        self, batch: DetectionBatch, now_s: float, *, complete: bool = True
    ) -> Picture | None:
        """
        Return the objects of a batch in the world frame; None where it cannot be used.

        *now_s* is the world's clock [s]; *complete* as in `Picture`.
        """
        return self._reader.read(
            batch.detections,
            source=batch.source,
            frame=batch.frame,
            stamp_s=batch.stamp_s,
            now_s=now_s,
            complete=complete,
        )

    def shows(
        self, since_s: float, *, is_alive: Callable[[str], bool] = lambda source: True
    ) -> bool:
        """
        Return whether all that was done before a time is included by now [s].

        *is_alive* returns whether a source still sends pictures; others are not waited for.
        """
        return (
            self.hand_stamp_s >= since_s
            and self._carrying.decided
            and not self._tracker.undecided
            and not self.behind(since_s)
            and all(self.newest_s(s) >= since_s or not is_alive(s) for s in self.sources)
        )

    def take_hand(self, hand: Hand, stamp_s: float) -> None:
        """Take in a measurement of the hand, at a time on the world's clock [s]."""
        event = self._carrying.update(hand, stamp_s, self._known())
        if event is not None:
            self._apply(event, stamp_s)

    def take_picture(self, picture: Picture, hand: Hand) -> None:
        """Take in a picture, given where the hand was at its time."""
        carried, held_at = self._carrying.name, self._carrying.pose_in(hand)
        if held_at is not None:
            kept = tuple(
                sighting
                for sighting in picture.sightings
                if sighting.name != carried or self._is_elsewhere(sighting, held_at, picture)
            )
            picture = replace(picture, sightings=kept)
        self._cameras[picture.source] = picture.camera_m
        known = self._known()

        def hidden(item: SceneObject) -> bool:
            if picture.sees is not None and not picture.sees(item.pose.position_m):
                return True
            return self._is_hidden(item, hand, picture.camera_m, known)

        if carried in self._tracker.see(picture, hidden):
            self._carrying.forget()

    def all_hidden(self, source: str) -> bool:
        """Return whether there is something that a source has seen, and the arm hides it all."""
        seen = [track for track in self._tracker.tracks.values() if source in track.sources]
        known = any(track.held or track.placed for track in seen)
        return known and not self.expected(source)

    def expected(self, source: str | None = None) -> tuple[str, ...]:
        """Return the names of what could be seen now, by one source or by any that ever has."""
        hand = self._carrying.hand
        if hand is None:
            return ()
        known = self._known()
        return tuple(
            track.item.name
            for track in self._placed()
            if any(
                not self._is_hidden(track.item, hand, self._cameras[name], known)
                for name in track.sources
                if source in (None, name)
            )
        )

    def behind(self, not_before_s: float) -> tuple[str, ...]:
        """Return what could be seen and was in no picture since a time [s]."""
        visible = set(self.expected())
        return tuple(
            track.item.name
            for track in self._placed()
            if track.item.name in visible
            and all(self._tracker.newest_s(s) < not_before_s for s in track.sources)
        )

    def view(self) -> TableView:
        """Return what is known now; raises SceneError without a hand, or where all is lost."""
        hand, tracks = self._carrying.hand, self._tracker.tracks.values()
        if hand is None:
            raise SceneError('The scene is empty: no state of the hand was received.')
        lost = self._tracker.lost
        if lost and not any(track.held or track.placed for track in tracks):
            raise SceneError(_all_lost(lost, self._carrying.stamp_s))
        estimated = frozenset(t.item.name for t in tracks if t.held or (t.placed and t.estimated))
        views = [self.newest_s(s) for s in self.sources if self.expected(s)]
        return TableView(
            objects=(*self._fixed, *self._known(), *self._in_hand()),
            hand=hand,
            stamp_s=min([self._carrying.stamp_s, *views]),
            carried=self._carrying.name,
            estimated=estimated,
            lost=lost,
        )

    def _placed(self) -> list[Track]:
        return [track for track in self._tracker.tracks.values() if track.placed]

    def _known(self) -> tuple[SceneObject, ...]:
        found = tuple(track.item for track in self._placed())
        if found != self._rested[0]:
            self._rested = (found, set_on_supports(found, self._fixed))
        return self._rested[1]

    def _in_hand(self) -> tuple[SceneObject, ...]:
        name, pose = self._carrying.name, self._carrying.pose
        if name is None or pose is None:
            return ()
        return (replace(self._tracker.tracks[name].item, pose=pose),)

    def _apply(self, event: HandEvent, stamp_s: float) -> None:
        tracker = self._tracker
        if event.change is HandChange.GRASPED:
            tracker.hold(event.name, stamp_s)
            return
        rests = None
        if event.change is HandChange.RELEASED:
            item = replace(tracker.tracks[event.name].item, pose=event.pose)
            rests = rest_below(item, (*self._fixed, *self._known()))
        if rests is None:
            tracker.lose(event.name, event.pose, stamp_s)
        else:
            tracker.put(event.name, rests.pose, stamp_s)

    def _is_elsewhere(self, sighting: SceneObject, held_at: Pose, picture: Picture) -> bool:
        """
        Return whether a sighting of what is in the hand shows it to be somewhere else.

        It does not on the camera's ray through the hand, where the depth alone is off, nor where
        another object stands, which was taken for it.
        """
        seen_m, held_m = sighting.pose.position_m, held_at.position_m
        if math.dist(seen_m, held_m) <= CARRIED_M:
            return False
        if (
            picture.camera_m is not None
            and _off_line(held_m, picture.camera_m, seen_m) <= CARRIED_M
        ):
            return False
        return all(math.dist(seen_m, other.pose.position_m) > CARRIED_M for other in self._known())

    def _is_hidden(
        self,
        item: SceneObject,
        hand: Hand,
        camera_m: Vector | None,
        known: Collection[SceneObject],
    ) -> bool:
        """Return whether the arm is before an object, or another object on it."""
        x, y, z = item.pose.position_m
        eye = camera_m or (x, y, z + ABOVE_M)
        near_m = min(_off_line(point, eye, (x, y, z)) for point in _arm_points(hand))
        return near_m <= self._hidden_m or any(stands_on(other, item) for other in known)


def _arm_points(hand: Hand) -> list[Vector]:
    """Return points on the line from the TCP over the wrist to the shoulder [m]."""
    rotation, tcp = rotation_of(hand.tcp), hand.tcp.position_m
    wrist = [tcp[i] - HAND_LENGTH_M * rotation[i][2] for i in range(3)]
    points: list[Vector] = []
    for start, end in ((tcp, wrist), (wrist, SHOULDER_M)):
        for step in range(ARM_STEPS + 1):
            share = step / ARM_STEPS
            x, y, z = (start[i] + share * (end[i] - start[i]) for i in range(3))
            points.append((x, y, z))
    return points


def _off_line(point: Vector, start: Vector, end: Vector) -> float:
    """Return how far a point is from a straight line between two others [m]."""
    along = [end[i] - start[i] for i in range(3)]
    length = sum(part * part for part in along) or 1.0
    share = sum((point[i] - start[i]) * along[i] for i in range(3)) / length
    share = min(1.0, max(0.0, share))
    return math.dist(point, [start[i] + share * along[i] for i in range(3)])


def _all_lost(lost: Collection[LostObject], now_s: float) -> str:
    names = ', '.join(f'{item.name} {max(0.0, now_s - item.seen_s):.0f} s ago' for item in lost)
    return (
        'The scene is stale: nothing that was seen before is seen any more. Last seen: '
        f'{names}. Is the camera covered?'
    )
