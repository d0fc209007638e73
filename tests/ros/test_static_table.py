"""A table of which the stack knows only what a scene file and the hand tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cameras import Camera, is_on, looking
from stacks import Running, started, until

from bbllm.core.events import Ending
from bbllm.core.types import Scene, SkillCall

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def static(ros_domain: int) -> Iterator[tuple[Running, Camera]]:
    """Start a stack that has only a scene file and the hand; the camera is for the test."""
    given = {'state_estimator': {'sources': 'static', 'scene': 'tabletop'}}
    with looking() as camera, started(params=given) as stack:
        until(lambda: camera.truth, 'truth of the simulator')
        yield stack, camera


def test_task_is_carried_out_with_a_scene_file_and_the_hand_alone(
    static: tuple[Running, Camera],
) -> None:
    running, camera = static
    assert not is_on(camera, 'red_cube', 'location_B')

    result = running.run('put the red cube on location_B')

    assert (result.ending, result.message) == (Ending.FINISHED, '')
    until(lambda: is_on(camera, 'red_cube', 'location_B'), 'red cube on location_B')


def test_hand_alone_tells_what_it_carries_and_says_that_it_is_inferred(
    static: tuple[Running, Camera],
) -> None:
    running, _ = static

    picked = running.client.execute(SkillCall('pick', ('green_cube',)))
    scene = running.client.scene()
    placed = running.client.execute(SkillCall('place', ('location_E',)))
    after = running.client.scene()

    assert (picked.message, placed.message) == ('', '')
    assert scene.held == 'green_cube'
    assert estimated(scene, 'held_by') == ['green_cube']
    assert after.held is None
    assert 'green_cube' in estimated(after, 'on')
    assert 'yellow_cube' not in estimated(after, 'on')


def estimated(scene: Scene, predicate: str) -> list[str]:
    return [f.subject for f in scene.facts if f.predicate == predicate and f.estimated]
