"""Cameras, detector and tracking put together for a simulated table."""

import logging
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from bbllm.core.errors import WorldError
from bbllm.sim.camera_settings import Light, Trouble, UnknownObject
from bbllm.sim.cameras import SimCameras, state_of
from bbllm.sim.drawing import RenderError
from bbllm.sim.driver import SimDriver
from bbllm.sim.object_models import ObjectPart
from bbllm.sim.scene_file import SceneFile
from bbllm.skills.shapes import Vector, yaw_pose
from bbllm.vision.detectors.arm_mask import arm_mask
from bbllm.vision.detectors.blocks import BlocksDetector
from bbllm.vision.detectors.identities import Identities
from bbllm.vision.detectors.views import CameraView
from bbllm.vision.sources import NO_TROUBLE, TroubleName
from bbllm.worlds.perception.detections import WORLD_FRAME, Detection
from bbllm.worlds.perception.tracking import TrackingParams
from bbllm.worlds.scene.catalogue import Catalogue
from bbllm.worlds.tabletop.object_source import CameraSource, Known, ObjectSource, Shot
from bbllm.worlds.tabletop.table_observer import ObserverParams, TableObserver

MOVED_M = 0.005
"""How far a moved camera is beside where its calibration has it [m]."""
WINDOW_S = 0.5
"""Detections of so long are averaged: those of one look, and not of one before it [s]."""
BEFORE_M = 0.06
"""What is nearer to the camera than a place by more than this hides an object there: more than
half of an object, and of the noise of depth [m]."""
CLUTTER = 4
"""Number of unknown objects."""
CLUTTER_X_M, CLUTTER_Y_M = (0.30, 0.90), (-0.60, 0.60)
"""Where they lie, the part of the table that the camera over it shows [m]."""
CLEAR_M = 0.12
"""Least distance of unknown objects from objects and locations at the start [m]."""


def camera_source(
    file: SceneFile, *, trouble: TroubleName = NO_TROUBLE, seed: int = 0
) -> Callable[[SimDriver], ObjectSource]:
    """
    Return what makes the source of objects for a simulated table that cameras look at.

    Of the scene file, furniture and locations are used as they are, and of its objects name,
    kind, size and colour: never where they are.

    Args:
        file: The scene.
        trouble: What makes pictures harder to use.
        seed: Of the noise of the cameras, and of clutter.
    """
    return partial(_source, file, trouble, seed)


def _source(file: SceneFile, trouble: TroubleName, seed: int, driver: SimDriver) -> CameraSource:
    catalogue = Catalogue.of_objects(file.movables)
    simulation = driver.robot.simulation
    cameras = SimCameras(simulation, trouble=trouble_of(trouble, file, seed), seed=seed)

    def take(of_all: bool) -> list[Shot]:
        with driver.robot.paused() as simulation:
            state = state_of(simulation)
        try:
            return [
                Shot(
                    camera=name,
                    image=cameras.take(name, state),
                    T_world_camera=cameras.pose(name, state),
                    fixed=fixed,
                )
                for name in cameras.names
                if (fixed := cameras.mount(name).parent == WORLD_FRAME) or of_all
            ]
        except RenderError as error:
            raise WorldError(f'The cameras take no pictures: {error}') from error

    observer = TableObserver(
        (*file.fixtures, *file.places),
        (),
        catalogue,
        ObserverParams(tracking=TrackingParams(window_s=WINDOW_S)),
        logging.getLogger('bbllm').info,
    )
    return CameraSource(
        driver,
        take,
        partial(_read, BlocksDetector(catalogue, file.fixtures), Identities(catalogue)),
        observer,
        objects=catalogue.names,
        order=[item.name for item in (*file.fixtures, *file.movables, *file.places)],
        close_cameras=cameras.close,
    )


def _read(
    detector: BlocksDetector, identities: Identities, shot: Shot, known: Known
) -> tuple[Detection, ...]:
    image, T_world_camera, robot = shot.image, shot.T_world_camera, known.robot
    arm_px = arm_mask(robot.position_rad, robot.width_m, image.intrinsics, T_world_camera)
    view = CameraView.of(image.intrinsics, T_world_camera)

    def is_hidden(place_m: Vector) -> bool:
        across, down, depth_m = view.project(np.array([place_m]))[0].tolist()
        column, row = round(across), round(down)
        height_px, width_px = arm_px.shape
        if not (0 <= column < width_px and 0 <= row < height_px) or arm_px[row, column]:
            return True
        return 0.0 < float(image.depth_m[row, column]) < depth_m - BEFORE_M

    return identities.named(
        detector.detect(image, T_world_camera, ignored=arm_px),
        T_world_camera,
        known=known.positions_m,
        held=known.carried,
        hidden=is_hidden,
    )


def trouble_of(name: TroubleName, file: SceneFile, seed: int) -> Trouble:
    """Return what makes pictures of a scene harder to use; *seed* places unknown objects."""
    match name:
        case 'light':
            return Trouble(light=Light.SIDE)
        case 'moved':
            return Trouble(camera_offset_m=(MOVED_M, 0.0, 0.0))
        case 'clutter':
            return Trouble(unknown_objects=_clutter(file, np.random.default_rng(seed)))
        case _:
            return Trouble()


def _clutter(file: SceneFile, dice: np.random.Generator) -> tuple[UnknownObject, ...]:
    """Return pens and mugs that lie clear of everything else, and with which nothing collides."""
    taken = [item.pose.position_m[:2] for item in (*file.movables, *file.places)]
    found: list[UnknownObject] = []
    while len(found) < CLUTTER:
        x, y = (float(dice.uniform(*side)) for side in (CLUTTER_X_M, CLUTTER_Y_M))
        if any(math.dist((x, y), other) < CLEAR_M for other in taken):
            continue
        taken.append((x, y))
        parts, height_m = (_MUG, 0.045) if len(found) % 2 else (_PEN, 0.006)
        turn_rad = float(dice.uniform(0.0, math.pi))
        found.append(UnknownObject(pose=yaw_pose((x, y, height_m), turn_rad), parts=parts))
    return tuple(found)


_PEN = (ObjectPart(shape='box', half_m=(0.07, 0.006, 0.006), color='navy'),)
_MUG = (
    ObjectPart(shape='cylinder', half_m=(0.04, 0.045, 0.0), color='teal'),
    ObjectPart(shape='box', half_m=(0.006, 0.03, 0.02), at_m=(0.0, 0.05, 0.0), color='teal'),
)
