"""What is known of controllers and hardware where answers are late, lost, or do not come."""

from typing import Any

import pytest

from bbllm_ros.driver import activity_feed
from bbllm_ros.driver.activity_feed import JOINT_BROADCASTER, ActivityFeed
from tests.ros.managers import EVERYTHING, Manager, Topics, activity

pytestmark = pytest.mark.ros

PATIENCE_S = 60.0
ARM = 'fr3_arm_controller'


@pytest.fixture
def topics() -> Topics:
    return Topics()


@pytest.fixture
def manager(topics: Topics) -> Manager:
    return topics.manager


@pytest.fixture
def feed(topics: Topics) -> ActivityFeed:
    node: Any = topics
    return ActivityFeed(node, node)


@pytest.mark.parametrize('lost', EVERYTHING)
def test_answer_that_is_lost_is_asked_for_again(
    feed: ActivityFeed, manager: Manager, lost: type
) -> None:
    manager.state = 'inactive'
    manager.lost = [lost]

    assert feed.wait_for_answer(PATIENCE_S)

    assert not feed.is_active(ARM)
    assert not feed.hardware_active


def test_answer_is_one_to_a_question_that_came_after_the_wait_began(
    feed: ActivityFeed, manager: Manager
) -> None:
    manager.late = older = []
    feed.ask()
    manager.late, manager.state = None, 'inactive'

    assert feed.wait_for_answer(PATIENCE_S)
    for answer in older:
        answer()

    assert not feed.is_active(ARM)
    assert not feed.hardware_active


def test_answer_that_takes_longer_than_it_takes_to_ask_again_counts(
    feed: ActivityFeed, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_feed, 'LOST_S', 0.0)
    monkeypatch.setattr(activity_feed, 'ASK_AGAIN_S', 0.0)
    manager.state = 'inactive'
    manager.late = first = []
    feed.ask()
    manager.late, manager.mute = None, EVERYTHING
    feed.ask()
    assert manager.asked == 4

    for answer in first:
        answer()

    assert not feed.is_active(ARM)
    assert not feed.hardware_active


def test_answer_older_than_the_newest_activity_is_ignored(
    feed: ActivityFeed, manager: Manager, topics: Topics
) -> None:
    manager.late = older = []
    feed.ask()

    topics.receive['controller_manager/activity'](activity('inactive'))
    for answer in older:
        answer()

    assert not feed.is_active(JOINT_BROADCASTER)
    assert feed.stops == 1


def test_driver_that_is_started_anew_is_waited_for(
    feed: ActivityFeed, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager.served = False
    observations = iter(range(1000))

    def comes_back() -> bool:
        manager.served = next(observations) > 3
        return manager.served

    monkeypatch.setattr(manager, 'service_is_ready', comes_back)

    assert feed.wait_for_answer(PATIENCE_S)


def test_driver_that_has_gone_is_not_waited_for(
    feed: ActivityFeed, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_feed, 'GONE_S', 0.1)
    manager.served = False

    assert not feed.wait_for_answer(float('inf'))  # or this test would not end

    assert not manager.asked


def test_of_a_driver_that_hangs_few_answers_are_waited_for(
    feed: ActivityFeed, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_feed, 'MOST_OPEN', 4)
    manager.mute = EVERYTHING
    sent = []
    call = manager.call_async
    monkeypatch.setattr(
        manager, 'call_async', lambda request: sent.append(call(request)) or sent[-1]
    )

    for _ in range(10):
        feed.ask(at_once=True)

    assert [future.cancelled() for future in sent] == [True] * 16 + [False] * 4
