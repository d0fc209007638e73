"""
What locates the objects of a simulated table: the simulator's own state, or cameras.

`CameraSource` is given the robot's measurements of itself and pictures, and nothing else of a
simulation.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bbllm.arm.driver import JointState
from bbllm.core.constants import SAME_S
from bbllm.core.errors import LostNodeError
from bbllm.core.types import Pose, SceneObject
from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import WORLD_FRAME, Detection, DetectionBatch
from bbllm.scene.hand_force import STILL_RAD_S
from bbllm.sim.driver import SimDriver
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import Vector
from bbllm.worlds.tabletop.marked_pictures import MarkedPictures
from bbllm.worlds.tabletop.table import ObservedTable, TableView

PICTURE_PERIOD_S = 1.0 / 15.0
"""Time between two pictures, as at the 15 Hz of the simulated and of many real cameras [s]."""
LEAST_PICTURES = 3
"""Of each camera and look: so many agree before a track moves (`TrackingParams.agreeing`)."""
MOST_PICTURES = 10
"""A look ends after so many, whatever is still undecided."""


class ObjectSource(Protocol):
    """Locates the objects of a table."""

    def take_hand(self) -> None:
        """Take in the hand as it is now; called while time passes, every 20 ms or more often."""
        ...

    def look(self) -> TableView:
        """Return the table as it is now; time may pass for it. Raises SceneError, WorldError."""
        ...

    def close(self) -> None:
        """Release what is in use."""
        ...


@dataclass(frozen=True, slots=True)
class TruthSource:
    """The state of the objects as the simulator has it."""

    robot: SimDriver
    objects: Callable[[], tuple[SceneObject, ...]]

    def take_hand(self) -> None:
        """Do nothing: what is in the hand is found out from the objects."""

    def look(self) -> TableView:
        objects, state = self.objects(), self.robot.joint_state()
        return TableView(objects=objects, hand=_hand_of(self.robot, state), stamp_s=state.stamp_s)

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenPicture:
    """A picture, and where its camera is said to have been."""

    camera: str
    image: RgbdImage
    T_world_camera: Pose
    fixed: bool = True
    """Whether the camera always shows the same part of the world; one on the hand does not."""


Cameras = Callable[[bool], Sequence[TakenPicture]]
"""Takes one picture with each camera that is fixed, or with all; raises WorldError on failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known without a picture when it is read."""

    robot: JointState
    positions_m: Mapping[str, Vector]
    """Where objects stand, by name, world frame [m]."""
    carried: str | None
    """What is in the hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPicture:
    """What a picture shows."""

    detections: tuple[Detection, ...]
    """In its optical frame, with names that stay the same."""
    sees: Callable[[Vector], bool] | None = None
    """As `Picture.sees`."""


Read = Callable[[TakenPicture, Known], ReadPicture]
"""Finds objects in a picture, and names them."""


@dataclass(slots=True)
class PictureCount:
    """How many pictures were processed, and how long that took."""

    pictures: int = 0
    wall_s: float = 0.0
    """Drawing, detection and tracking together, wall clock [s]."""


class CameraSource:
    """
    Locates objects by pictures, which are taken when the table is looked at and the arm rests.

    A look takes some pictures, `PICTURE_PERIOD_S` apart, until the tracker has decided where
    everything is: of the fixed cameras, and of all where the first ones do not show every object.
    While the arm moves, the table is as it was, and what is in the hand moves with it.

    Args:
        robot: Joint positions, the width of the hand, and the clock.
        cameras: Takes pictures.
        read: Finds objects in a picture, and names them.
        table: Joins detections and hand.
        objects: Names of the objects that may be there.
        order: All names in the order of the scene file, which scenes keep.
        close_cameras: Called at the end.
    """

    def __init__(
        self,
        robot: SimDriver,
        cameras: Cameras,
        read: Read,
        table: ObservedTable,
        *,
        objects: Collection[str],
        order: Sequence[str],
        close_cameras: Callable[[], None] = lambda: None,
    ) -> None:
        self._robot = robot
        self._cameras = cameras
        self._read = read
        self._objects = frozenset(objects)
        self._table = table
        self._order = {name: number for number, name in enumerate(order)}
        self._looked: tuple[float, TableView] | None = None
        self.close = close_cameras
        self.count = PictureCount()
        self.marked = MarkedPictures()

    def take_hand(self) -> None:
        # A driver that hangs measures nothing new; whoever asks it is told.
        with contextlib.suppress(LostNodeError):
            state = self._robot.joint_state()
            self._table.take_hand(_hand_of(self._robot, state), state.stamp_s)

    def look(self) -> TableView:
        state = self._robot.joint_state()
        self._table.take_hand(_hand_of(self._robot, state), state.stamp_s)
        if self._robot.busy or max(map(abs, state.velocity_rad_s.tolist())) > STILL_RAD_S:
            # In the hand, or at rest since it was looked at: as new as the hand's measurement.
            return replace(self._view(), stamp_s=state.stamp_s)
        if self._looked is not None and self._looked[0] == self._robot.now_s():
            return self._looked[1]
        if self._robot.now_s() <= 0.0:  # no picture has the stamp 0, which stands for none
            self._robot.pass_time(PICTURE_PERIOD_S)
        since_s = self._robot.now_s() - SAME_S
        shown = self._take_pictures(of_all=False)
        of_all = not self._objects <= {*shown, self._table.carried}
        for number in range(MOST_PICTURES):
            self._robot.pass_time(PICTURE_PERIOD_S)
            self.take_hand()
            self._take_pictures(of_all=of_all)
            if number + 1 + (not of_all) >= LEAST_PICTURES and self._table.shows(since_s):
                break
        view = self._view()
        self._looked = (self._robot.now_s(), view)
        return view

    def _take_pictures(self, *, of_all: bool) -> set[str]:
        """Take a picture with each fixed camera, or with all; return the names of what is seen."""
        seen: set[str] = set()
        begun_s = time.perf_counter()
        now_s, state = self._robot.now_s(), self._robot.joint_state()
        hand = _hand_of(self._robot, state)
        for taken in self._cameras(of_all):
            image, T_world_camera = taken.image, taken.T_world_camera
            self._table.tree.add(
                WORLD_FRAME, image.frame, T_world_camera, image.stamp_s, taken.fixed
            )
            known = Known(
                robot=state, positions_m=self._table.positions_m, carried=self._table.carried
            )
            found = self._read(taken, known)
            seen.update(detection.name for detection in found.detections)
            self.marked.take(taken.camera, image, found.detections)
            batch = DetectionBatch(
                source=taken.camera,
                frame=image.frame,
                stamp_s=image.stamp_s,
                detections=found.detections,
            )
            picture = self._table.read(batch, now_s, complete=taken.fixed)
            if picture is not None:
                self._table.take_picture(replace(picture, sees=found.sees), hand)
            self.count.pictures += 1
        self.count.wall_s += time.perf_counter() - begun_s
        return seen

    def _view(self) -> TableView:
        view = self._table.view()
        objects = sorted(view.objects, key=self._place_in_order)
        return replace(view, objects=tuple(objects))

    def _place_in_order(self, item: SceneObject) -> int:
        return self._order.get(item.name, len(self._order))


def _hand_of(robot: SimDriver, state: JointState) -> Hand:
    return robot.robot_model.hand_at(state.position_rad, state.width_m)
