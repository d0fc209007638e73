"""Services whose server does not hear, or has begun anew, and waits for what they answer."""

from typing import Any

import pytest
from bbllm_interfaces.srv import Approve
from rclpy.task import Future

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, WorldError
from bbllm_ros.rclpy_support import calls
from bbllm_ros.rclpy_support.calls import ServiceCall, wait_for

pytestmark = pytest.mark.ros

PATIENCE_S = 60.0


class Deaf:
    """A node and its client; the server overhears some requests."""

    group = None

    def __init__(self, overhears: int):
        self.overhears = overhears
        self.received: list[str] = []

    def create_client(self, kind: Any, name: str, callback_group: Any) -> 'Deaf':
        return self

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: Approve.Request) -> Future:
        future = Future()
        self.received.append(request.hash)
        if self.overhears > 0:
            self.overhears -= 1
        else:
            future.set_result(Approve.Response(success=bool(request.hash)))
        return future


def service(deaf: Any, first: Any = None) -> ServiceCall:
    return ServiceCall(deaf, Approve, 'approve', 'fr3_executor', deaf, first=first)


@pytest.mark.parametrize(
    ('first', 'received'),
    [(Approve.Request(), ['', '', 'abc']), (None, ['abc', 'abc'])],
    ids=['after a request that changes nothing', 'itself'],
)
def test_request_is_repeated_where_it_changes_nothing_also_after_its_server_began_anew(
    first: Any, received: list[str]
) -> None:
    deaf = Deaf(overhears=1)
    call = service(deaf, first)
    for _ in range(2):
        assert call.run(Approve.Request(hash='abc'), PATIENCE_S).success
        assert deaf.received == received
        deaf.received.clear()
        deaf.overhears = 1


def test_request_that_changes_something_is_sent_once_though_its_answer_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, 'AGAIN_S', 0.01)
    deaf = Deaf(overhears=0)
    approve = service(deaf, Approve.Request())

    with pytest.raises(WorldError, match='no answer'):
        approve.run(
            Approve.Request(hash='abc'), 2.0, sending=lambda: setattr(deaf, 'overhears', 1000)
        )

    assert deaf.received == ['', 'abc']


def test_service_that_is_never_answered_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, 'ANSWER_S', 0.1)
    deaf = Deaf(overhears=1000)

    with pytest.raises(WorldError, match=r'no answer from fr3_executor \(approve\) within 0.1 s'):
        service(deaf, Approve.Request()).run(Approve.Request(hash='abc'), PATIENCE_S)

    assert 'abc' not in deaf.received


def test_wait_that_asks_again_takes_whichever_answer_comes_and_leaves_no_other_open() -> None:
    first, second = Future(), Future()
    asked: list[Future] = []

    def again() -> Future | None:
        if not asked:
            asked.append(first)
            return None  # nothing to ask yet
        second.set_result('here')
        return second

    assert wait_for(first, 'somebody', PATIENCE_S, ask_again=again) == 'here'

    with pytest.raises(WorldError, match='no answer from nobody within 0 s'):
        wait_for(unanswered := Future(), 'nobody', 0.0)
    assert unanswered.cancelled()


def test_a_check_ends_a_wait_with_what_it_raises() -> None:
    def observe() -> None:
        raise LostNodeError('gone')

    with pytest.raises(LostNodeError, match='gone'):
        wait_for(Future(), 'somebody', PATIENCE_S, cancel=CancelToken(observe))
