"""What is chosen from a menu is heard, also by a server that has not found the menu yet."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from action_msgs.srv import CancelGoal
from rclpy.task import Future

from bbllm.core.events import Event, EventKind
from bbllm_ros.nodes import task_menu
from bbllm_ros.nodes.task_menu import STOPPED, ChoiceDesk
from bbllm_ros.rclpy_support import calls
from bbllm_ros.rclpy_support.calls import need_server
from bbllm_ros.rviz.menu import ROBOT, ChoiceKind, MenuChoice
from bbllm_ros.stack.service_clients import ApprovalClient
from bbllm_ros.stack.stack import NODES
from tests.ros.deaf import Deaf
from tests.ros.rviz_client import RvizClient
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

ACTIONS = ('run_task', 'execute_skill')
ALL = '00' * 16
"""The id that means all goals."""


class DeafGraph:
    group = None

    def __init__(self, overhears: int):
        self.servers: dict[str, Any] = {}
        self._overhears = overhears

    def create_client(self, kind: Any, name: str, callback_group: Any) -> Any:
        make = DeafToCancels if kind is CancelGoal else Deaf
        self.servers[name] = make(self._overhears)
        return self.servers[name]

    def create_subscription(self, *_: object, **__: object) -> None:
        """Nothing is published."""


class DeafToCancels(Deaf):
    def call_async(self, request: CancelGoal.Request) -> Future:
        future = Future()
        self.received.append(bytes(request.goal_info.goal_id.uuid).hex())
        if len(self.received) > self.overhears:
            future.set_result(CancelGoal.Response())
        return future


@pytest.fixture
def graph() -> DeafGraph:
    return DeafGraph(overhears=1)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def desk(graph: DeafGraph, notes: list[str], monkeypatch: pytest.MonkeyPatch) -> ChoiceDesk:
    monkeypatch.setattr(task_menu, 'ActionCall', lambda *_: None)
    monkeypatch.setattr(calls, 'need_server', partial(need_server, timeout_s=0.5))
    node: Any = graph  # all of a node that it uses
    return ChoiceDesk(node, notes.append, ApprovalClient(node, node.group))


def test_stop_whose_first_request_was_lost_reaches_planner_and_executor(
    desk: ChoiceDesk, graph: DeafGraph, notes: list[str]
) -> None:
    desk.carry_out(MenuChoice(kind=ChoiceKind.STOP), by='a test')

    until(lambda: notes[-1] == STOPPED, 'the note that all has stopped')
    tasks, skills = (graph.servers[f'{name}/_action/cancel_goal'] for name in ACTIONS)
    assert tasks.received == [ALL] * 2
    until(lambda: len(skills.received) >= 3, 'the second stop of the arm')
    assert set(skills.received) == {ALL}


def test_arm_is_stopped_without_a_planner_and_the_planner_is_named(
    desk: ChoiceDesk, graph: DeafGraph, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, skills = (graph.servers[f'{name}/_action/cancel_goal'] for name in ACTIONS)
    monkeypatch.setattr(tasks, 'service_is_ready', lambda: False)

    desk.carry_out(MenuChoice(kind=ChoiceKind.STOP), by='a test')

    until(lambda: len(skills.received) >= 2, 'the stop of the arm')
    until(lambda: len(notes) > 1, 'the note of what was not stopped')
    assert notes[-1].startswith('not all was stopped: The node brain_planner')


def test_answers_are_given_in_the_order_of_the_clicks(
    desk: ChoiceDesk, graph: DeafGraph, notes: list[str]
) -> None:
    for kind, what in ((ChoiceKind.GRANT, 'a'), (ChoiceKind.DENY, 'b'), (ChoiceKind.GRANT, 'c')):
        desk.carry_out(MenuChoice(kind=kind, hash=what), by='a test')

    until(lambda: notes.count('approved') == 2, 'the note of the last answer')
    assert [what for what in graph.servers['approve'].received if what] == ['a', 'b', 'c']


def test_answer_that_nobody_takes_is_noted_with_who_is_missing(
    desk: ChoiceDesk, graph: DeafGraph, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph.servers['approve'], 'service_is_ready', lambda: False)

    desk.carry_out(MenuChoice(kind=ChoiceKind.DENY, hash='abc'), by='a test')

    until(lambda: len(notes) > 1, 'the note that the answer was not taken')
    assert notes[-1].startswith('the answer was not given: The node fr3_executor (approve) is not')
    assert graph.servers['approve'].received == []


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    with started((*NODES, 'task_menu'), params={'fr3_executor': {'approval': 'plan'}}) as running:
        yield running


@pytest.fixture(scope='module')
def rviz(stack: Running) -> RvizClient:
    return RvizClient(stack.client.node)


def line(rviz: RvizClient, word: str) -> str:
    """Wait for the line `approve: ...` or `deny: ...` and return it."""
    found: list[str] = []

    def observe() -> bool:
        found[:] = [title for title in rviz.titles(ROBOT.name) if title.startswith(f'{word}: ')]
        return bool(found)

    until(observe, f'{word!r} in the menu of the robot')
    return found[0]


def numbers(rviz: RvizClient) -> set[int]:
    return {entry.id for entry in rviz.markers[ROBOT.name].menu_entries}


def outcomes(stack: Running) -> list[Event]:
    return [event for event in stack.events if event.kind is EventKind.OUTCOME]


def test_approved_plan_is_carried_out_and_the_line_goes(rviz: RvizClient, stack: Running) -> None:
    task = stack.begin('put the red cube on location_B')
    title = line(rviz, 'approve')
    until(lambda: 'WAITS FOR A PERSON' in rviz.status, 'the request in the status')
    assert 'right-click the base of the robot' in rviz.status
    assert outcomes(stack) == []

    rviz.choose(ROBOT.name, title)

    assert task.result().ending.name == 'FINISHED'
    until(lambda: title not in rviz.titles(ROBOT.name), 'end of the line that was answered')
    assert stack.client.scene().has('red_cube', 'on', 'location_B')


def test_line_of_a_request_that_is_gone_approves_nothing(rviz: RvizClient, stack: Running) -> None:
    first = stack.begin('put the yellow cube on location_D', feedback_loops=0)
    number = rviz.number(ROBOT.name, line(rviz, 'approve'))
    rviz.choose(ROBOT.name, 'stop')
    assert first.result().ending.name == 'CANCELLED'
    until(lambda: number not in numbers(rviz), 'end of the line of a plan that was given up')
    until(lambda: STOPPED in rviz.status, 'the note that all has stopped')

    # Somebody still has the old menu open while another plan waits.
    second = stack.begin('put the yellow cube on location_E', feedback_loops=0)
    line(rviz, 'approve')
    rviz.send(ROBOT.name, number)

    until(lambda: 'the answer was not taken' in rviz.status, 'the refusal of an old answer')
    assert outcomes(stack) == []
    rviz.choose(ROBOT.name, 'stop')
    assert second.result().ending.name == 'CANCELLED'
