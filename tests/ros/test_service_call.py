"""Services whose server does not hear, or has begun anew, and waits for what they answer."""

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from bbllm_interfaces.srv import Approve
from deaf import Deaf
from rclpy.task import Future

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.ros.rclpy_support import calls
from bbllm.ros.rclpy_support.calls import ServiceCall, wait_for

pytestmark = pytest.mark.ros

PATIENCE_S = 60.0


def service(deaf: Any, first: Any = None) -> ServiceCall:
    return ServiceCall(deaf, Approve, 'approve', 'fr3_executor', deaf, first=first)


def test_service_is_asked_for_nothing_until_it_answers_and_then_once_for_what_is_wanted() -> None:
    deaf = Deaf(overhears=1)

    assert service(deaf, Approve.Request()).run(Approve.Request(hash='abc'), PATIENCE_S).success

    assert deaf.heard == ['', '', 'abc']


def test_service_that_was_started_anew_is_asked_for_nothing_until_it_answers_again() -> None:
    deaf = Deaf(overhears=0)
    call = service(deaf, Approve.Request())
    assert call.run(Approve.Request(hash='abc'), PATIENCE_S).success
    deaf.heard.clear()
    deaf.overhears = 2

    assert call.run(Approve.Request(hash='def'), PATIENCE_S).success

    assert deaf.heard == ['', '', '', 'def']


def test_what_changes_nothing_is_asked_again_itself_whenever_its_answer_is_lost() -> None:
    deaf = Deaf(overhears=2)

    assert service(deaf).run(Approve.Request(hash='abc'), PATIENCE_S).success

    assert deaf.heard == ['abc', 'abc', 'abc']


def test_service_that_is_slow_is_asked_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deaf, clock = Deaf(overhears=1000), itertools.count()
    monkeypatch.setattr(calls, 'LOOK_S', 0.0)
    monkeypatch.setattr(calls, 'time', SimpleNamespace(monotonic=lambda: next(clock)))

    with pytest.raises(WorldError, match='no answer'):
        service(deaf).run(Approve.Request(hash='abc'), PATIENCE_S)

    assert len(deaf.heard) == len(['at once', 2, 4, 7, 12, 21, 38])


def test_service_that_is_never_answered_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, 'ANSWER_S', 0.1)
    deaf = Deaf(overhears=1000)

    with pytest.raises(WorldError, match=r'no answer from fr3_executor \(approve\) within 0.1 s'):
        service(deaf, Approve.Request()).run(Approve.Request(hash='abc'), PATIENCE_S)

    assert 'abc' not in deaf.heard


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


def test_look_ends_a_wait_with_what_it_raises() -> None:
    def look() -> None:
        raise LostNodeError('gone')

    with pytest.raises(LostNodeError, match='gone'):
        wait_for(Future(), 'somebody', PATIENCE_S, cancel=CancelToken(look))
