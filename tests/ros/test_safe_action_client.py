"""Answer and status of one goal, in whatever order the threads of an executor come to them."""

from collections.abc import Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from bbllm_interfaces.action import ExecuteSkill
from members import member
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from bbllm.ros.rclpy_support.calls import ABANDONED, SafeActionClient, has_ended

pytestmark = pytest.mark.ros

ID = UUID(uuid=[1] * 16)
NUMBER = 7
ACCEPTED = ExecuteSkill.Impl.SendGoalService.Response(accepted=True)


class Client(SafeActionClient):
    """What the server sends is said by the test; what is forgotten is so when the test spins."""

    def __init__(self, node: Any, executor: SingleThreadedExecutor):
        super().__init__(node, ExecuteSkill, 'execute_skill', ReentrantCallbackGroup())
        self._executor = executor
        self.cancels: list[UUID] = []

    def sent(self, goal_id: UUID = ID, number: int = NUMBER) -> Future:
        """Note a goal as `send_goal_async` does."""
        future = Future(executor=self._executor)
        self._pending_goal_requests[number] = future
        self._goal_sequence_number_to_goal_id[number] = goal_id
        future.add_done_callback(self._remove_pending_goal_request)
        self.add_future(future)
        return future

    def take(self, **taken: Any) -> None:
        with pytest.raises(StopIteration):
            self.execute(taken).send(None)

    def forget(self) -> None:
        while self._pending_goal_requests:
            self._executor.spin_once(timeout_sec=1.0)

    def cancel(self, goal_id: UUID) -> None:
        self.cancels.append(goal_id)


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    with member('asking', 'lost') as node:
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
        yield Client(node, executor)
        executor.shutdown()


def status(state: int, goal_id: UUID = ID) -> GoalStatusArray:
    return GoalStatusArray(
        status_list=[GoalStatus(goal_info=GoalInfo(goal_id=goal_id), status=state)]
    )


EXECUTING = status(GoalStatus.STATUS_EXECUTING)
ENDED = status(GoalStatus.STATUS_SUCCEEDED)


@pytest.mark.parametrize(
    'news',
    [
        [{'status': EXECUTING}, {'goal': (NUMBER, ACCEPTED)}],
        [{'goal': (NUMBER, ACCEPTED)}, {'status': EXECUTING}],
        [{'goal': (NUMBER, ACCEPTED), 'status': EXECUTING}],
        [{'status': EXECUTING}, {'status': EXECUTING}],
    ],
    ids=['status first', 'answer first', 'at once', 'status twice'],
)
def test_goal_has_one_handle_before_its_answer_is_forgotten_and_after(
    client: Client, news: list[dict[str, Any]]
) -> None:
    sent = client.sent()
    for taken in news:
        client.take(**taken)
    handle: ClientGoalHandle = sent.result()

    for taken in news:
        client.take(**taken)
    client.forget()
    for taken in news:
        client.take(**taken)

    assert sent.result() is handle
    assert handle.accepted
    client.take(status=ENDED)
    assert has_ended(handle)


def test_goal_that_is_half_forgotten_is_as_good_as_forgotten(client: Client) -> None:
    client.sent()
    del client._pending_goal_requests[NUMBER]

    client.take(status=EXECUTING)
    client.take(goal=(NUMBER, ACCEPTED))

    assert not client._goal_handles


def test_goal_that_nobody_waits_for_is_cancelled_whenever_it_is_active_until_it_has_ended(
    client: Client,
) -> None:
    sent = client.sent()
    client.abandon(ID)
    assert sent.cancelled()
    assert client.cancels == [ID]

    client.take(goal=(NUMBER, ACCEPTED), status=EXECUTING)
    client.take(status=status(GoalStatus.STATUS_CANCELING))
    client.take(status=status(GoalStatus.STATUS_EXECUTING, UUID(uuid=[2] * 16)))
    assert client.cancels == [ID, ID]
    assert not sent.done()

    client.take(status=ENDED)
    client.take(status=EXECUTING)
    assert client.cancels == [ID, ID]


def test_only_so_many_goals_are_remembered_that_nobody_waits_for(client: Client) -> None:
    first, *others = [UUID(uuid=[i] * 16) for i in range(ABANDONED + 1)]
    client.abandon(first)
    for goal_id in others:
        client.abandon(goal_id)
    client.cancels.clear()

    client.take(status=status(GoalStatus.STATUS_EXECUTING, first))
    client.take(status=status(GoalStatus.STATUS_EXECUTING, others[-1]))

    assert client.cancels == [others[-1]]


def test_feedback_is_handed_on_and_that_of_forgotten_goals_is_not(client: Client) -> None:
    heard: list[str] = []
    feedback = ExecuteSkill.Impl.FeedbackMessage(goal_id=ID)
    feedback.feedback.activity = 'rising'
    client.take(feedback=feedback)

    client._feedback_callbacks[bytes(ID.uuid)] = lambda msg: heard.append(msg.feedback.activity)
    client.take(feedback=feedback)

    assert heard == ['rising']
