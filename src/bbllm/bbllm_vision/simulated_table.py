"""Cameras, detector and tracking put together for a simulated table."""

import logging
from collections.abc import Callable
from functools import partial

from bbllm.core.errors import ConfigError, WorldError
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.scene_file import SceneFile
from bbllm.scene.sources import NO_TROUBLE
from bbllm.sim.camera_settings import HAND_CAMERA, Trouble
from bbllm.sim.cameras import SimCameras, state_of
from bbllm.sim.drawing import RenderError
from bbllm.sim.driver import SimDriver
from bbllm.worlds.perception.tracking import TrackingParams
from bbllm.worlds.tabletop.object_source import (
    CameraSource,
    Known,
    ObjectSource,
    ReadPicture,
    TakenPicture,
)
from bbllm.worlds.tabletop.table import ObservedTable, ObserverParams
from bbllm_vision.camera_trouble import trouble_of
from bbllm_vision.detectors.blocks import others_of
from bbllm_vision.detectors.detector import Detector
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.registry import DetectorSetup, load_detector
from bbllm_vision.detectors.sight import find_named

WINDOW_S = 0.5
"""Detections of so long are averaged: those of one look, and not of one before it [s]."""


def camera_source(
    file: SceneFile, *, trouble: str = NO_TROUBLE, seed: int = 0
) -> Callable[[SimDriver], ObjectSource]:
    """
    Return what makes the source of objects for a simulated table that cameras look at.

    Of the scene file, furniture and locations are used as they are, and of its objects name,
    kind, size and colour: never where they are.

    Args:
        file: The scene.
        trouble: What makes pictures harder to use, a word of `scene.sources`.
        seed: Of the noise of the cameras, and of clutter.

    Raises:
        ConfigError: The scene has objects that the detector does not find.
        UnknownNameError: There is no such trouble.
        WorldError: The table has no room for clutter.
    """
    if others := others_of(Catalogue.of_objects(file.movables)):
        raise ConfigError(
            f'{others} Leave sources out, so that {file.name or "the scene"} is known by the '
            "simulator's state, or use `bbllm up sim --sources camera --detector vlm`."
        )
    return partial(_source, file, trouble_of(trouble, file, seed), seed)


def _source(file: SceneFile, trouble: Trouble, seed: int, driver: SimDriver) -> CameraSource:
    catalogue = Catalogue.of_objects(file.movables)
    detector = load_detector('blocks', DetectorSetup(catalogue=catalogue, fixtures=file.fixtures))
    simulation = driver.robot.simulation
    cameras = SimCameras(simulation, trouble=trouble, seed=seed)

    def take(of_all: bool) -> list[TakenPicture]:
        with driver.robot.paused() as simulation:
            state = state_of(simulation)
        try:
            return [
                TakenPicture(
                    camera=name,
                    image=cameras.take(name, state),
                    T_world_camera=cameras.pose(name, state),
                    fixed=fixed,
                )
                for name in cameras.names
                if (fixed := cameras.mount(name).parent != HAND_CAMERA.parent) or of_all
            ]
        except RenderError as error:
            raise WorldError(f'The cameras take no pictures: {error}') from error

    table = ObservedTable(
        (*file.fixtures, *file.places),
        (),
        catalogue,
        ObserverParams(tracking=TrackingParams(window_s=WINDOW_S)),
        logging.getLogger('bbllm').info,
    )
    return CameraSource(
        driver,
        take,
        partial(_read, detector, Identities(catalogue)),
        table,
        objects=catalogue.names,
        order=[item.name for item in (*file.fixtures, *file.movables, *file.places)],
        close_cameras=cameras.close,
    )


def _read(
    detector: Detector, identities: Identities, picture: TakenPicture, known: Known
) -> ReadPicture:
    """Find the objects in a picture, and name them by what is known of robot and table."""
    named, sight = find_named(
        detector,
        partial(identities.named, known=known.positions_m, held=known.carried),
        picture.image,
        picture.T_world_camera,
        known.robot,
    )
    return ReadPicture(detections=named, sees=sight.shows)
