"""A camera over the table and a detector that need no graphics: true poses with noise."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm.scene.scene_file import SceneFile
from bbllm.scene.transforms import compose, inverse
from bbllm.sim.driver import SimDriver
from bbllm.worlds.tabletop.object_source import CameraSource, ReadPicture, TakenPicture
from bbllm.worlds.tabletop.table import ObservedTable, ObserverParams

T_WORLD_CAMERA = Pose(position_m=(0.6, 0.0, 1.4), quat_xyzw=(1.0, 0.0, 0.0, 0.0))
PIXEL = Intrinsics(width_px=1, height_px=1, fx_px=1.0, fy_px=1.0, cx_px=0.0, cy_px=0.0)
BETWEEN_FINGERS_M = 0.06
"""What is nearer to the TCP than this is not detected [m]."""


@dataclass
class StandIn:
    """What the camera shows, and what it does not."""

    driver: SimDriver
    noise_m: float = 0.001
    covered: Collection[str] = ()
    """Names of objects that no picture shows."""
    frozen: bool = False
    """Whether pictures repeat what the last one showed."""
    sees_from_x_m: float = -1.0
    """What is nearer to the base is out of view [m]."""
    taken: int = 0
    shown: tuple[SceneObject, ...] = ()
    dice: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def take(self, of_all: bool) -> list[TakenPicture]:
        self.taken += 1
        if not self.frozen:
            self.shown = self._visible()
        image = RgbdImage(
            rgb=np.zeros((1, 1, 3), np.uint8),
            depth_m=np.ones((1, 1), np.float32),
            intrinsics=PIXEL,
            stamp_s=self.driver.now_s(),
            frame='stand_in_optical_frame',
        )
        return [TakenPicture(camera='stand_in', image=image, T_world_camera=T_WORLD_CAMERA)]

    def _visible(self) -> tuple[SceneObject, ...]:
        with self.driver.robot.paused() as simulation:
            poses = simulation.object_poses()
            tcp_m = simulation.data.site('tcp').xpos.copy()
            items = simulation.scene.movables
        return tuple(
            SceneObject(name=item.name, kind=item.kind, size_m=item.size_m, pose=poses[item.name])
            for item in items
            if item.name not in self.covered
            and poses[item.name].position_m[0] > self.sees_from_x_m
            and np.linalg.norm(np.subtract(poses[item.name].position_m, tcp_m)) > BETWEEN_FINGERS_M
        )


@dataclass
class TrueDetector:
    """Finds what a stand-in shows, with noise."""

    camera: StandIn

    def detect(self, T_world_camera: Pose) -> tuple[Detection, ...]:
        to_camera = inverse(T_world_camera)
        return tuple(self._detection(item, to_camera) for item in self.camera.shown)

    def _detection(self, item: SceneObject, to_camera: Pose) -> Detection:
        pose = compose(to_camera, item.pose)
        x, y, z = np.add(
            pose.position_m, self.camera.dice.normal(0.0, self.camera.noise_m, 3)
        ).tolist()
        return Detection(name=item.name, position_m=(x, y, z), quat_xyzw=pose.quat_xyzw)


def stand_in_source(
    file: SceneFile, on_made: Callable[[StandIn], None] = lambda stand_in: None
) -> Callable[[SimDriver], CameraSource]:
    """Return what makes the source of a world; *on_made* receives its camera."""
    return partial(_source, file, on_made)


def _source(
    file: SceneFile, on_made: Callable[[StandIn], None], driver: SimDriver
) -> CameraSource:
    stand_in = StandIn(driver)
    on_made(stand_in)
    table = ObservedTable(
        (*file.fixtures, *file.places),
        (),
        Catalogue.of_objects(file.movables),
        ObserverParams(),
        lambda text: None,
    )
    order = [item.name for item in (*file.fixtures, *file.movables, *file.places)]
    return CameraSource(
        driver,
        stand_in.take,
        lambda picture, known: ReadPicture(
            detections=TrueDetector(stand_in).detect(picture.T_world_camera),
            sees=lambda place_m: place_m[0] > stand_in.sees_from_x_m,
        ),
        table,
        objects=[item.name for item in file.movables],
        order=order,
    )
