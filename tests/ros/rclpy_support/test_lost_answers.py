"""Answers that a server throws away, as those to clients that it has not found yet."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.msg import GoalStatus as GoalStatusMsg
from bbllm_interfaces.action import ExecuteSkill
from builtin_interfaces.msg import Time
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from bbllm.arm.driver import GoalStatus
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import WorldError
from bbllm_ros.rclpy_support import calls
from bbllm_ros.rclpy_support.calls import ActionCall
from tests.ros.members import member
from tests.ros.stacks import Background, until

pytestmark = pytest.mark.ros

ACTION = 'execute_skill'
PATIENCE_S = 60.0


class Server:
    """Accepts goals and carries them out as soon as it is let, and counts them."""

    def __init__(self, node: Node, group: ReentrantCallbackGroup):
        self.go_on, self.judge = threading.Event(), threading.Event()
        self.judge.set()
        self.begun = 0
        self.cancelled = threading.Event()
        self.action = ActionServer(
            node,
            ExecuteSkill,
            ACTION,
            self._execute,
            callback_group=group,
            goal_callback=self._judge,
            cancel_callback=self._cancel,
        )

    def _judge(self, goal: ExecuteSkill.Goal) -> GoalResponse:
        assert self.judge.wait(PATIENCE_S)
        return GoalResponse.ACCEPT

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        self.begun += 1
        assert self.go_on.wait(PATIENCE_S)
        if goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.succeed()
        return ExecuteSkill.Result(message='done')

    def _cancel(self, goal: object) -> CancelResponse:
        self.cancelled.set()
        self.go_on.set()
        return CancelResponse.ACCEPT


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return how many answers to goals and to requests for results, and statuses, are lost."""
    lost = dict.fromkeys(('send_goal', 'get_result', 'status'), 0)
    take, receive = MultiThreadedExecutor._take_client, ActionCall._receive_status

    def is_lost(kind: str) -> bool:
        lost[kind] = lost.get(kind, 0) - 1
        return lost[kind] >= 0

    async def forget() -> None:
        pass

    def take_some(self: MultiThreadedExecutor, client: Client) -> Any:
        taken = take(self, client)
        return forget if is_lost(client.srv_name.rpartition('/')[2]) else taken

    def receive_some(self: ActionCall, msg: GoalStatusArray) -> None:
        if not is_lost('status'):
            receive(self, msg)

    monkeypatch.setattr(MultiThreadedExecutor, '_take_client', take_some)
    monkeypatch.setattr(ActionCall, '_receive_status', receive_some)
    return lost


@pytest.fixture
def both(ros_domain: int, lost: dict[str, int]) -> Iterator[tuple[Server, ActionCall]]:
    with ExitStack() as stack:
        threads = partial(MultiThreadedExecutor, 4)
        ours, theirs = (
            stack.enter_context(member(name, 'lost', threads)) for name in ('client', 'server')
        )
        server = Server(theirs, ReentrantCallbackGroup())
        call = ActionCall(ours, ExecuteSkill, ACTION, 'server', ReentrantCallbackGroup())
        until(lambda: call.ready, 'the server')
        yield server, call
        server.go_on.set()


@pytest.mark.parametrize('kind', ['send_goal', 'get_result'])
def test_goal_of_which_an_answer_is_lost_is_carried_out_once_and_its_end_known(
    both: tuple[Server, ActionCall], lost: dict[str, int], kind: str
) -> None:
    server, call = both
    lost[kind] = 1
    server.go_on.set()

    status, result = call.run(ExecuteSkill.Goal(), PATIENCE_S)

    assert (status, result.message) == (GoalStatus.SUCCEEDED, 'done')
    assert lost[kind] <= 0
    assert server.begun == 1


def test_goal_that_was_never_answered_is_cancelled_when_nobody_waits_for_it_any_more(
    both: tuple[Server, ActionCall], lost: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, call = both
    monkeypatch.setattr(calls, 'ANSWER_S', 1.0)
    lost.update(send_goal=1, status=1000)

    with pytest.raises(WorldError, match=r'no answer from server \(execute_skill\) within 1 s'):
        call.run(ExecuteSkill.Goal(), PATIENCE_S)

    assert server.cancelled.wait(PATIENCE_S)


def test_goal_that_is_accepted_when_nobody_waits_for_it_any_more_is_cancelled_then(
    both: tuple[Server, ActionCall], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, call = both
    monkeypatch.setattr(calls, 'ANSWER_S', 0.5)
    server.judge.clear()
    with pytest.raises(WorldError, match=r'no answer from server \(execute_skill\)'):
        call.run(ExecuteSkill.Goal(), PATIENCE_S)
    until(
        lambda: not call._cancel._pending_requests,
        'the answer to the cancel, of a goal that is not known yet',
    )
    assert not server.cancelled.is_set()

    server.judge.set()

    assert server.cancelled.wait(PATIENCE_S)
    until(lambda: not call._abandoned, 'the end of the goal')


def test_cancel_reaches_a_goal_whose_acceptance_is_still_to_come(
    both: tuple[Server, ActionCall], lost: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, call = both
    monkeypatch.setattr(calls, 'ANSWER_S', PATIENCE_S * 3)
    lost.update(send_goal=1, status=1000)
    running = Background(lambda: call.run(ExecuteSkill.Goal(), PATIENCE_S))
    until(lambda: server.begun, 'the goal')
    lost['status'] = 0

    assert call.cancel()

    assert server.cancelled.wait(PATIENCE_S)
    assert running.result()[1].message == 'done'


def test_goal_that_is_not_wanted_any_more_is_not_sent(both: tuple[Server, ActionCall]) -> None:
    server, call = both
    server.go_on.set()

    def observe() -> None:
        call.cancel()

    for reason in ({'cancel': CancelToken(observe)}, {'should_abort': lambda: True}):
        assert call.run(ExecuteSkill.Goal(), PATIENCE_S, **reason) == (GoalStatus.CANCELED, None)

    assert call.run(ExecuteSkill.Goal(), PATIENCE_S)[0] is GoalStatus.SUCCEEDED
    assert server.begun == 1


def test_goal_of_another_client_is_reported_once_also_where_it_ended_before_its_first_status(
    both: tuple[Server, ActionCall],
) -> None:
    _, call = both
    reported: list[int] = []
    now_s = int(time.time())

    def see(number: int, *, accepted_s: int, status: int) -> int:
        info = GoalInfo(goal_id=UUID(uuid=[number] * 16), stamp=Time(sec=accepted_s))
        seen = GoalStatusMsg(goal_info=info, status=status)
        call._receive_status(GoalStatusArray(status_list=[seen]))
        return len(reported)

    call.on_other = lambda: reported.append(1)
    ended, runs = GoalStatusMsg.STATUS_SUCCEEDED, GoalStatusMsg.STATUS_EXECUTING

    assert see(1, accepted_s=now_s - 600, status=ended) == 0  # before this client was made
    assert see(2, accepted_s=now_s + 5, status=ended) == 1
    assert see(2, accepted_s=now_s + 5, status=ended) == 1
    assert see(3, accepted_s=now_s + 6, status=runs) == 2
    assert see(3, accepted_s=now_s + 6, status=ended) == 2
