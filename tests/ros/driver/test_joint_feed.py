"""The joint states that belong to a moment, and what silence of the arm means."""

import threading
from typing import Any

import pytest
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.core.errors import LostNodeError, SceneError
from bbllm.robots.fr3 import FR3
from bbllm_ros.convert.arm import FINGERS
from bbllm_ros.convert.records import stamp_to_msg
from bbllm_ros.driver import joint_feed
from bbllm_ros.driver.joint_feed import ARM_TOPIC, JointFeed
from tests.ros.managers import EVERYTHING, Once, Topics, activity

pytestmark = pytest.mark.ros

LONG_S = 1000.0


@pytest.fixture
def topics() -> Topics:
    return Topics()


def fed_by(topics: Any) -> Any:
    return JointFeed(topics, topics, 'hand', 60.0)


@pytest.fixture
def feed(topics: Topics) -> JointFeed:
    feed = fed_by(topics)
    topics.receive['hand/joint_states'](hand())
    return feed


def arm(stamp_s: float, angle_rad: float) -> JointStateMsg:
    msg = JointStateMsg(name=list(FR3.joints), position=[angle_rad] * 7, velocity=[0.0] * 7)
    msg.header.stamp = stamp_to_msg(stamp_s)
    return msg


def test_a_state_that_comes_late_is_waited_for(feed: JointFeed, topics: Topics) -> None:
    topics.receive[ARM_TOPIC](arm(1.0, 0.1))
    late = threading.Thread(target=lambda: topics.receive[ARM_TOPIC](arm(1.2, 0.3)))

    feed._news = feed._arm.news = Once(late.start)

    state = feed.at(1.2, wait_s=30.0)

    late.join()
    assert (state.stamp_s, state.position_rad[0]) == (pytest.approx(1.2), pytest.approx(0.3))


def hand() -> JointStateMsg:
    return JointStateMsg(name=list(FINGERS), position=[0.02, 0.02])


@pytest.fixture
def old(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> JointFeed:
    feed = fed_by(topics)
    monkeypatch.setattr(joint_feed, 'QUIET_S', 30.0)
    monkeypatch.setattr(joint_feed, 'MANAGER_S', 0.3)
    topics.receive[ARM_TOPIC](arm(1.0, 0.1))
    topics.receive['hand/joint_states'](hand())
    feed._arm.taken_s -= LONG_S
    return feed


def test_states_that_wait_to_be_read_are_no_silence(old: JointFeed, topics: Topics) -> None:
    assert old.quiet
    topics.waiting.append((ARM_TOPIC, arm(2.0, 0.3)))

    assert not old.quiet
    assert old.newest_stamp_s == pytest.approx(2.0)


def test_states_that_waited_before_are_no_news(old: JointFeed, topics: Topics) -> None:
    topics.waiting.append((ARM_TOPIC, arm(2.0, 0.3)))
    assert not old.wait_for_news(0.1)

    topics.waiting.append((ARM_TOPIC, arm(3.0, 0.3)))
    come = threading.Thread(target=lambda: topics.receive[ARM_TOPIC](arm(4.0, 0.3)))
    old._news = old._arm.news = Once(come.start)
    assert old.wait_for_news(30.0)
    assert old.newest_stamp_s == pytest.approx(4.0)
    come.join()


@pytest.mark.parametrize('mute', [(), EVERYTHING], ids=['controllers are up', 'no answer'])
def test_silence_of_an_arm_that_no_stop_explains_is_a_lost_driver(
    old: JointFeed, topics: Topics, mute: tuple[type, ...]
) -> None:
    topics.manager.mute = mute

    with pytest.raises(LostNodeError, match='the driver has gone: no joint states'):
        old.check()


def test_a_state_that_has_come_and_was_not_read_yet_shows_that_the_driver_lives(
    old: JointFeed, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_feed, 'READ_S', 30.0)
    late = threading.Thread(target=lambda: topics.receive[ARM_TOPIC](arm(1.2, 0.3)))

    old._news = old._arm.news = Once(late.start)

    old.check()

    late.join()
    assert old.newest_stamp_s == pytest.approx(1.2)


def test_silence_of_a_stopped_robot_is_found_out_by_asking(old: JointFeed, topics: Topics) -> None:
    topics.manager.state = 'inactive'

    old.check()

    assert topics.manager.asked
    assert old.stopped
    assert not old.fresh
    assert old.newest().stamp_s == pytest.approx(1.0)
    with pytest.raises(SceneError, match='the robot is stopped'):
        old.hand(1.0)
    assert old.at(1.0, or_stopped=True) == old.newest()


def test_the_same_stamp_again_and_again_is_a_driver_that_hangs(
    old: JointFeed, topics: Topics
) -> None:
    topics.receive[ARM_TOPIC](arm(1.0, 0.1))

    with pytest.raises(LostNodeError, match=r'the driver hangs: .* have had the same stamp for'):
        old.check()


def test_a_new_stamp_is_news_even_when_the_clock_was_set_back(
    old: JointFeed, topics: Topics
) -> None:
    topics.receive[ARM_TOPIC](arm(0.5, 0.1))

    assert not old.quiet
    assert old.newest().stamp_s == pytest.approx(0.5)


def test_a_hand_that_falls_silent_is_lost_also_while_the_robot_is_stopped(
    old: JointFeed, topics: Topics
) -> None:
    topics.manager.state = 'inactive'
    old.check()
    old._hand.taken_s -= LONG_S

    with pytest.raises(LostNodeError, match='hand/joint_states'):
        old.check()


def test_activity_that_the_manager_publishes_counts_at_once(
    old: JointFeed, topics: Topics
) -> None:
    reported = activity('unconfigured', 'left_FrankaHardwareInterface')
    topics.receive['controller_manager/activity'](reported)

    assert old.stopped
    assert old.activity.hardware == 'left_FrankaHardwareInterface'
    assert not topics.manager.asked


def test_news_is_what_comes_after_the_question_and_no_stamp_twice(
    feed: JointFeed, topics: Topics
) -> None:
    receive = topics.receive[ARM_TOPIC]
    receive(arm(1.0, 0.1))
    assert not feed.wait_for_news(0.0)  # that came before

    output = [1.0, 1.01]

    class Receives(threading.Condition):
        """Hears something as soon as somebody waits for it."""

        def wait(self, timeout: float | None = None) -> bool:
            if output:
                receive(arm(output.pop(0), 0.1))
            return super().wait(0.0)

    feed._news = feed._arm.news = Receives()

    assert feed.wait_for_news(30.0)
    assert feed.newest_stamp_s == pytest.approx(1.01)
