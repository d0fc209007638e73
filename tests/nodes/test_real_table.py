"""Tasks on tables of which the stack knows only what a real one would tell it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from cameras import Camera, looking
from stacks import Running, started, until

from bbllm.core.types import Code, Ending, Scene, SkillCall, Status
from bbllm.nodes.stack import Value
from bbllm.worlds.catalogue import load_catalogue

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'


def is_on(camera: Camera, thing: str, place: str) -> bool:
    """Ask the simulator's own truth, which the stack under test does not hear."""
    things = camera.truth
    return math.dist(things[thing].pose.position_m[:2], things[place].pose.position_m[:2]) < 0.02


def estimator(**params: Value) -> dict[str, dict[str, Value]]:
    return {'state_estimator': params}


@pytest.fixture(scope='module')
def static(ros_domain: int) -> Iterator[tuple[Running, Camera]]:
    """Start a stack that has only a scene file and the hand; the camera is for the test."""
    given = estimator(sources='static', scene='tabletop')
    with looking() as camera, started(params=given) as stack:
        until(lambda: camera.truth, 'truth of the simulator')
        yield stack, camera


def test_task_is_carried_out_with_a_scene_file_and_the_hand_alone(
    static: tuple[Running, Camera],
) -> None:
    running, camera = static
    assert not is_on(camera, 'red_cube', 'location_B')

    result = running.run(TASK)

    assert (result.ending, result.message) == (Ending.FINISHED, '')
    until(lambda: is_on(camera, 'red_cube', 'location_B'), 'red cube on location_B')
