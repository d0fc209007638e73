"""
Detections and measurements of the hand, joined to the state of a table.

The node `state_estimator` and the world with cameras in one process do it with this class; what
differs is where pictures come from, and who waits for them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bbllm.core.types import SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import (
    DetectionBatch,
    Doubts,
    Picture,
    SightingParams,
    SightingReader,
)
from bbllm.scene.transforms import TransformTree
from bbllm.skills.grasps import Hand
from bbllm.worlds.perception.grasp_tracker import GraspTracker
from bbllm.worlds.perception.tracking import ObjectTracker, TrackingParams
from bbllm.worlds.tabletop.table import ObservedTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverParams:
    """Which detections are accepted, and how objects are tracked."""

    sightings: SightingParams = field(default_factory=SightingParams)
    tracking: TrackingParams = field(default_factory=TrackingParams)
    hidden_m: float = 0.1
    """The arm hides what is nearer to it in the camera's view [m]."""


class TableObserver:
    """
    What cameras and hand show of a table.

    Args:
        fixed: Furniture and locations, from a scene file.
        things: Objects with known poses at the start; empty where only cameras report them.
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
        fixed = tuple(fixed)
        self.doubts = Doubts(on_warning)
        self.tree = TransformTree()
        """Poses of frames: whoever knows them adds them."""
        reserved = [item.name for item in fixed]
        self._reader = SightingReader(
            self.tree, catalogue, reserved, self.doubts, params.sightings
        )
        tracker = ObjectTracker(params.tracking, self.doubts)
        self.table = ObservedTable(fixed, items, tracker, GraspTracker(), hidden_m=params.hidden_m)

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

    def take_hand(self, hand: Hand, stamp_s: float) -> None:
        """Take in a measurement of the hand, at a time on the world's clock [s]."""
        self.table.take_hand(hand, stamp_s)

    def take_picture(self, picture: Picture, hand: Hand) -> None:
        """Take in a picture, given where the hand was at its time."""
        self.table.take_picture(picture, hand)

    def shows(
        self, since_s: float, *, is_alive: Callable[[str], bool] = lambda source: True
    ) -> bool:
        """
        Return whether all that was done before a time is included by now [s].

        *is_alive* returns whether a source still sends pictures; others are not waited for.
        """
        table = self.table
        return (
            table.hand_stamp_s >= since_s
            and table.decided
            and not table.behind(since_s)
            and all(
                table.newest_s(source) >= since_s or not is_alive(source)
                for source in table.sources
            )
        )
