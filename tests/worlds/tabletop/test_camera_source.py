"""A table whose scenes come from pictures: what they show, and that nothing else gets in."""

import math

import pytest

from bbllm.core.errors import WorldError
from bbllm.core.types import SceneObject
from bbllm.scene.scene_file import ObjectSpec, SceneFile
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation
from bbllm.worlds.tabletop.object_source import LEAST_PICTURES
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.worlds.small_tables import FAR, PLACE_A, RED, run
from tests.worlds.stand_in_cameras import StandIn, stand_in_source

BLUE = ObjectSpec(name='blue_cube', kind='cube', xy=(0.55, 0.05), yaw_deg=-10)


NOISE_M = 0.003
"""Three standard deviations of a detection [m]."""


def watched(*objects: ObjectSpec) -> tuple[TabletopWorld, StandIn]:
    """Return a table that is looked at by a stand-in, and the stand-in."""
    scene = SceneFile(objects=objects, locations=(PLACE_A, FAR))
    made: list[StandIn] = []
    world = TabletopWorld(scene, make_source=stand_in_source(scene, made.append))
    return world, made[0]


def gap_m(one: SceneObject, other: SceneObject) -> float:
    return math.dist(one.pose.position_m, other.pose.position_m)


def test_a_scene_from_pictures_has_the_facts_and_the_order_of_the_true_one() -> None:
    world, _ = watched(RED, BLUE)

    seen, true = world.observe(), world.truth()

    assert seen.names == true.names
    assert seen.facts == true.facts
    gaps = [gap_m(seen.object(name), true.object(name)) for name in ('red_cube', 'blue_cube')]
    assert all(0.0 < gap < NOISE_M for gap in gaps)


def test_what_was_carried_lies_where_pictures_show_it() -> None:
    world, _ = watched(RED, BLUE)

    outcomes = run(world, 'pick red_cube', 'place location_A')

    assert [outcome.message for outcome in outcomes] == ['', '']
    scene = world.observe()
    assert scene.has('red_cube', 'on', 'location_A')
    assert not any(fact.estimated for fact in scene.facts)
    assert gap_m(scene.object('red_cube'), world.truth().object('red_cube')) < NOISE_M


def test_a_scene_never_reads_the_state_of_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _ = watched(RED, BLUE)

    def refuse(self: object) -> tuple[SceneObject, ...]:
        raise WorldError('The truth was read.')

    monkeypatch.setattr(SimulatedRobot, 'objects', refuse)
    monkeypatch.setattr(Simulation, 'objects', refuse)

    outcomes = run(world, 'pick red_cube', 'place blue_cube')

    assert [outcome.message for outcome in outcomes] == ['', '']
    assert world.observe().has('red_cube', 'on', 'blue_cube')
    with pytest.raises(WorldError, match='truth was read'):
        world.truth()


def test_what_no_picture_shows_is_not_in_the_scene_and_what_vanishes_is_lost() -> None:
    world, stand_in = watched(RED, BLUE)
    stand_in.covered = ('blue_cube',)

    assert 'blue_cube' not in world.observe().names
    stand_in.covered = ('red_cube',)
    for _ in range(3):
        world.driver.wait(1.0)
        scene = world.observe()

    assert 'red_cube' not in scene.names
    assert scene.has('red_cube', 'is', 'lost')
    assert 'blue_cube' in scene.names


def test_what_was_put_out_of_view_is_not_lost() -> None:
    world, stand_in = watched(RED, BLUE)
    stand_in.sees_from_x_m = 0.35

    outcomes = run(world, 'pick red_cube', 'place 0.3 -0.3 0.02')
    for _ in range(4):
        world.driver.wait(1.0)
        scene = world.observe()

    assert [outcome.message for outcome in outcomes] == ['', '']
    assert gap_m(scene.object('red_cube'), world.truth().object('red_cube')) < NOISE_M
    assert scene.has('red_cube', 'on', 'table')


def test_pictures_are_taken_when_a_scene_is_asked_for_and_only_once_for_a_moment() -> None:
    world, stand_in = watched(RED)

    world.driver.wait(1.0)
    assert stand_in.taken == 0
    world.observe()
    world.observe()

    assert stand_in.taken == LEAST_PICTURES
