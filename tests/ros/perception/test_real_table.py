"""Tables of which the stack knows only what a noisy camera in a frame of its own tells."""

import math
from collections.abc import Iterator

import pytest

from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code, Scene, SkillCall, Status
from bbllm.scene.catalogue import load_catalogue
from tests.ros.perception.cameras import OPTICAL, Camera, camera_running, is_on
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros


def test_what_the_hand_carries_is_inferred_and_marked_as_such(ros_domain: int) -> None:
    """The stack has only a scene file and the hand; the camera is for the test."""
    given = {'state_estimator': {'sources': 'static', 'scene': 'tabletop'}}
    nodes = ('state_estimator', 'fr3_executor', 'mujoco_sim')
    with camera_running() as camera, started(nodes, params=given, namespace='bbllm') as stack:
        until(lambda: camera.truth, 'truth of the simulator')
        picked = stack.client.execute(SkillCall('pick', ('green_cube',)))
        scene = stack.client.scene()
        placed = stack.client.execute(SkillCall('place', ('location_E',)))
        after = stack.client.scene()
        until(lambda: is_on(camera, 'green_cube', 'location_E'), 'green cube on location_E')

    assert (picked.message, placed.message) == ('', '')
    assert scene.held == 'green_cube'
    assert estimated(scene, 'held_by') == ['green_cube']
    assert after.held is None
    assert 'green_cube' in estimated(after, 'on')
    assert 'yellow_cube' not in estimated(after, 'on')


def estimated(scene: Scene, predicate: str) -> list[str]:
    return [f.subject for f in scene.facts if f.predicate == predicate and f.estimated]


@pytest.fixture(
    scope='module', params=['detections', pytest.param('apriltag', marks=pytest.mark.slow)]
)
def seen(ros_domain: int, request: pytest.FixtureRequest) -> Iterator[tuple[Running, Camera]]:
    tags = load_catalogue('tabletop') if request.param == 'apriltag' else None
    params = {'sources': request.param, 'scene': 'tabletop', 'catalogue': 'tabletop'}
    given = {'state_estimator': params, 'mujoco_sim': {'speed': 1.0}}
    with camera_running(tags=tags) as camera, started(params=given) as stack:
        yield stack, camera


def test_task_is_carried_out_on_what_a_noisy_camera_sees(seen: tuple[Running, Camera]) -> None:
    running, camera = seen

    result = running.run('put the red cube on location_B')

    assert (result.ending, result.message) == (Ending.FINISHED, '')
    until(lambda: is_on(camera, 'red_cube', 'location_B'), 'red cube on location_B')


def test_steady_poses_are_nearer_to_the_truth_than_the_noise(seen: tuple[Running, Camera]) -> None:
    running, camera = seen
    names = ('orange_cube', 'purple_cube', 'azure_cube', 'black_cylinder')
    scene = running.client.scene()

    errors = [
        math.dist(scene.object(n).pose.position_m, camera.truth[n].pose.position_m) for n in names
    ]

    # The noise of three coordinates of 2 mm each is 3.5 mm on average.
    assert math.sqrt(sum(error**2 for error in errors) / len(errors)) < 0.0025


def test_object_that_is_taken_away_becomes_a_fact_and_comes_back_as_an_object(
    seen: tuple[Running, Camera],
) -> None:
    running, camera = seen

    camera.away.add('purple_cube')
    until(lambda: running.client.scene().has('purple_cube', 'is', 'lost'), 'loss of purple_cube')
    scene = running.client.scene()
    outcome = running.client.execute(SkillCall('pick', ('purple_cube',)))
    camera.away.clear()
    until(lambda: 'purple_cube' in running.client.scene().names, 'return of purple_cube')

    assert 'purple_cube' not in scene.names
    assert scene.has('purple_cube', 'last_seen_at')
    assert 'orange_cube' in scene.names
    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.OBJECT_LOST)
    assert 'purple_cube is lost: it was last seen at 0.5' in outcome.message
    assert not running.client.scene().has('purple_cube', 'is', 'lost')


def test_brain_receives_that_an_object_was_taken_away_in_mid_task(
    seen: tuple[Running, Camera],
) -> None:
    running, camera = seen
    # The wait is much longer than it takes to know that a thing is lost, on the same clock.
    task = running.begin(
        'put the yellow cube on location_D, then wait for 10 seconds, then put the orange cube on '
        'location_E'
    )
    running.wait_for(EventKind.OUTCOME)

    camera.away.add('orange_cube')
    result = task.result(120.0)
    camera.away.clear()

    causes = [str(e.data.cause) for e in running.events if e.kind is EventKind.REPAIR]
    received = [
        cause for cause in causes if 'orange_cube is lost: it was last seen at 0.5' in cause
    ]
    assert received, causes
    assert result.feedback_loops > 0
    until(lambda: is_on(camera, 'yellow_cube', 'location_D'), 'yellow cube on location_D')


def test_camera_that_falls_silent_makes_the_scene_stale(seen: tuple[Running, Camera]) -> None:
    running, camera = seen
    camera.blind = True

    until(lambda: running.scene_error(), 'error of get_scene')
    output = running.scene_error()
    camera.blind = False
    until(lambda: not running.scene_error(), 'scene of a camera that looks again')

    assert 'The scene is stale' in output
    assert OPTICAL in output
