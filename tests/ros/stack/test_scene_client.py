"""When a client of `get_scene` requests a scene, and when it has one already."""

from typing import Any

import pytest
from bbllm_interfaces.msg import Scene as SceneMsg
from bbllm_interfaces.srv import GetScene
from rclpy.task import Future

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError
from bbllm_ros.convert.records import header, stamp_from_msg
from bbllm_ros.stack import service_clients
from bbllm_ros.stack.service_clients import SceneClient

pytestmark = pytest.mark.ros


class Estimator:
    """A node and its client of `get_scene`, which is answered with the time of the world."""

    group = None

    def __init__(self) -> None:
        self.now_s = 10.0
        self.asked: list[float] = []

    def create_client(self, kind: Any, name: str, callback_group: Any) -> 'Estimator':
        return self

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: GetScene.Request) -> Future:
        self.asked.append(stamp_from_msg(request.not_before))
        future = Future()
        scene = SceneMsg(header=header(self.now_s))
        future.set_result(GetScene.Response(code=GetScene.Response.NONE, scene=scene))
        return future


@pytest.fixture
def estimator(monkeypatch: pytest.MonkeyPatch) -> Estimator:
    monkeypatch.setattr(service_clients, 'FRESH_S', 3600.0)
    return Estimator()


def client(estimator: Any) -> SceneClient:
    return SceneClient(estimator, estimator, reuses=True)


def test_a_scene_of_just_now_is_used_again_unless_a_later_or_another_one_is_wanted(
    estimator: Estimator,
) -> None:
    scenes = client(estimator)
    first = scenes.get(9.0)

    assert scenes.get(10.0) is first
    assert scenes.get(10.5).stamp_s == 10.0  # who answers decides what is late enough
    scenes.get(10.0, or_stopped=True)
    scenes.get(10.0, felt=True)
    scenes.forget()
    scenes.get(9.0)

    assert estimator.asked == [9.0, 10.5, 10.0, 10.0, 9.0]


def test_a_scene_is_requested_anew_once_it_is_old(
    estimator: Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes = client(estimator)
    scenes.get(9.0)
    monkeypatch.setattr(service_clients, 'FRESH_S', 0.0)

    scenes.get(9.0)

    assert estimator.asked == [9.0, 9.0]


def test_what_was_requested_ahead_is_the_answer_unless_a_later_one_is_wanted(
    estimator: Estimator,
) -> None:
    scenes = client(estimator)
    scenes.ask_ahead(10.0)
    estimator.now_s = 11.0

    assert scenes.get(10.0).stamp_s == 10.0
    scenes.ask_ahead(10.0)
    scenes.get(11.0)

    assert estimator.asked == [10.0, 10.0, 11.0]


def test_a_cancelled_wait_ends_also_where_the_scene_is_there(estimator: Estimator) -> None:
    scenes, cancel = client(estimator), CancelToken()
    scenes.get(9.0)
    cancel.cancel('Enough.')

    with pytest.raises(CancelledError):
        scenes.get(9.0, cancel=cancel)
