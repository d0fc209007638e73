"""The whole of it: drawn pictures, the detector, tracking and the arm."""

import math
from collections.abc import Iterator

import pytest

from bbllm.core.errors import ConfigError, WorldError
from bbllm.core.types import SceneObject
from bbllm.scene.scene_file import ObjectSpec, SceneFile, load_scene
from bbllm.sim.camera_settings import Light
from bbllm.sim.drawing import RenderError
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_vision.camera_trouble import CLUTTER, trouble_of
from bbllm_vision.simulated_table import camera_source
from tests.worlds.small_tables import FAR, PLACE_A, RED, run

BLUE = ObjectSpec(name='blue_cube', kind='cube', color='blue', xy=(0.55, 0.05), yaw_deg=-10)
SCENE = SceneFile(
    objects=(RED.model_copy(update={'color': 'red'}), BLUE), locations=(PLACE_A, FAR)
)
NEAR_M = 0.004
"""A detected object is no further from where it is; the detector has tests of its own [m]."""


@pytest.fixture
def world() -> Iterator[TabletopWorld]:
    """Return a table that simulated cameras look at; skips where nothing can be drawn."""
    world = TabletopWorld(SCENE, make_source=camera_source(SCENE))
    try:
        world.observe()
    except WorldError as error:
        if isinstance(error.__cause__, RenderError):
            pytest.skip(str(error))
        raise
    yield world
    world.close()


def test_a_cube_is_picked_and_stacked_by_pictures_alone(
    world: TabletopWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object) -> tuple[SceneObject, ...]:
        raise WorldError('The truth was read.')

    with monkeypatch.context() as patch:
        for owner in (SimulatedRobot, Simulation):
            patch.setattr(owner, 'objects', refuse)
        patch.setattr(Simulation, 'object_poses', refuse)
        outcomes = run(world, 'pick red_cube', 'place blue_cube', 'return_to_base')
        seen = world.observe()

    assert [outcome.message for outcome in outcomes] == ['', '', '']
    assert seen.has('red_cube', 'on', 'blue_cube')
    true = world.truth()
    assert true.has('red_cube', 'on', 'blue_cube')
    for name in ('red_cube', 'blue_cube'):
        at = (scene.object(name).pose.position_m for scene in (seen, true))
        assert math.dist(*at) < NEAR_M


def test_each_trouble_is_one_of_the_pictures_alone() -> None:
    assert trouble_of('light', SCENE, 0).light is Light.SIDE
    assert any(trouble_of('moved', SCENE, 0).camera_offset_m)
    assert trouble_of('none', SCENE, 0).light is Light.ROOM

    unknown = trouble_of('clutter', SCENE, 3).unknown_objects

    assert len(unknown) == CLUTTER


def test_a_scene_with_everyday_objects_is_refused_with_what_would_do() -> None:
    with pytest.raises(ConfigError, match=r'and not plate, bowl, .*Leave sources out'):
        camera_source(load_scene('fruit'))
