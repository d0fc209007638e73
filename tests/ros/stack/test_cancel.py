"""A task that is stopped: the arm stands still in mid-motion and keeps what it holds."""

from collections.abc import Iterator

import pytest

from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code, SkillCall, Status
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.stack.client import StackClient
from tests.ros.robots import feed_of, speed_rad_s
from tests.ros.stacks import Background, Running, started, until

pytestmark = pytest.mark.ros

STILL_RAD_S = 0.02
MOVING_RAD_S = 0.2


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    """Start the whole stack slowly: what is promised is in simulated seconds."""
    with started(speed=0.25) as running:
        yield running


@pytest.fixture(scope='module')
def joints(stack: Running) -> JointFeed:
    return feed_of(stack)


def test_cancelled_task_stops_the_arm_and_it_keeps_its_hold(
    stack: Running, joints: JointFeed
) -> None:
    task = stack.begin('put the red cube on location_B')
    placing = stack.wait_for(EventKind.CALL, 2)
    assert placing.data.skill == 'place'
    until(lambda: speed_rad_s(joints) > MOVING_RAD_S, 'motion')
    held = stack.client.scene().held

    assert stack.client.cancel()
    until(lambda: speed_rad_s(joints) < STILL_RAD_S, 'standstill')
    result = task.result()

    assert (result.ending, result.message) == (
        Ending.CANCELLED,
        'A client of run_task cancelled it.',
    )
    assert held == stack.client.scene().held == 'red_cube'
    assert stack.wait_for(EventKind.OUTCOME, 2).data.code.name == Code.CANCELLED.name


def test_arm_is_ready_for_the_next_call_after_a_cancel(stack: Running) -> None:
    outcome = stack.client.execute(SkillCall('place', ('location_B',)))

    assert outcome.succeeded, outcome.message
    assert stack.client.scene().has('red_cube', 'on', 'location_B')


def test_a_task_that_comes_right_after_a_cancel_waits_for_the_end_of_the_one_before(
    stack: Running,
) -> None:
    with StackClient(name='next') as other:
        until(lambda: not other.missing(('brain_planner',)), 'discovery')
        first = stack.begin('put the red cube on location_A')
        stack.wait_for(EventKind.CALL, 1)

        second = Background(lambda: other.run_task('put the red cube on location_A'))
        stack.client.cancel()

        assert first.result().ending is Ending.CANCELLED
        assert not second.result().refused, second.result().message


def test_two_calls_at_once_are_one_too_many(stack: Running) -> None:
    with StackClient(name='other') as other:
        until(lambda: not other.missing(('fr3_executor',)), 'discovery')
        activities: list[str] = []
        first = Background(
            lambda: stack.client.execute(SkillCall('wait', ('30',)), on_activity=activities.append)
        )
        until(lambda: activities, 'activity')

        second = other.execute(SkillCall('return_to_base'))

    assert (second.status, second.code) == (Status.REJECTED, Code.GOAL_REJECTED)
    assert 'busy' in second.message
    stack.client.cancel()
    assert first.result().code is Code.CANCELLED
