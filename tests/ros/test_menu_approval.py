"""Answers from rviz: what waits is shown with its title, and an answer names what was shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rviz_client import RvizClient
from stacks import Running, started, until

from bbllm.core.events import Event, EventKind
from bbllm.ros.rviz.menu_actions import STOPPED
from bbllm.ros.stack.stack import NODES
from bbllm.worlds.tabletop.menu import ROBOT

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    """Start a stack in which nothing moves before a person has approved the plan."""
    with started((*NODES, 'task_menu'), params={'fr3_executor': {'approval': 'plan'}}) as running:
        yield running


@pytest.fixture(scope='module')
def rviz(stack: Running) -> RvizClient:
    return RvizClient(stack.client.node)


def line(rviz: RvizClient, word: str) -> str:
    """Wait for the line `approve: ...` or `deny: ...` and return it."""
    found: list[str] = []

    def look() -> bool:
        found[:] = [title for title in rviz.titles(ROBOT) if title.startswith(f'{word}: ')]
        return bool(found)

    until(look, f'{word!r} in the menu of the robot')
    return found[0]


def numbers(rviz: RvizClient) -> set[int]:
    return {entry.id for entry in rviz.markers[ROBOT].menu_entries}


def outcomes(stack: Running) -> list[Event]:
    return [event for event in stack.events if event.kind is EventKind.OUTCOME]


def test_approved_plan_is_carried_out_and_the_line_goes(rviz: RvizClient, stack: Running) -> None:
    task = stack.begin('put the red cube on location_B')
    title = line(rviz, 'approve')
    until(lambda: 'WAITS FOR A PERSON' in rviz.status, 'the request in the status')
    assert 'right-click the base of the robot' in rviz.status
    assert outcomes(stack) == []

    rviz.choose(ROBOT, title)

    assert task.result().ending.name == 'FINISHED'
    until(lambda: title not in rviz.titles(ROBOT), 'end of the line that was answered')
    assert stack.client.scene().has('red_cube', 'on', 'location_B')


def test_denied_plan_moves_nothing_and_says_who_denied_it(
    rviz: RvizClient, stack: Running
) -> None:
    task = stack.begin('put the blue cube on location_C', feedback_loops=0)

    rviz.choose(ROBOT, line(rviz, 'deny'))

    assert task.result().ending.name != 'FINISHED'
    assert {event.data.code.name for event in outcomes(stack)} == {'NOT_APPROVED'}
    assert 'denied from the menu in rviz' in str(outcomes(stack)[0].data.message)
    assert not stack.client.scene().has('blue_cube', 'on', 'location_C')


def test_line_of_a_request_that_is_gone_approves_nothing(rviz: RvizClient, stack: Running) -> None:
    first = stack.begin('put the yellow cube on location_D', feedback_loops=0)
    number = rviz.number(ROBOT, line(rviz, 'approve'))
    rviz.choose(ROBOT, 'stop')
    assert first.result().ending.name == 'CANCELLED'
    until(lambda: number not in numbers(rviz), 'end of the line of a plan that was given up')
    until(lambda: STOPPED in rviz.status, 'the note that all has stopped')

    # Somebody still has the old menu open while another plan waits.
    second = stack.begin('put the yellow cube on location_E', feedback_loops=0)
    line(rviz, 'approve')
    rviz.send(ROBOT, number)

    until(lambda: 'the answer was not taken' in rviz.status, 'the refusal of an old answer')
    assert outcomes(stack) == []
    rviz.choose(ROBOT, 'stop')
    assert second.result().ending.name == 'CANCELLED'
