"""A simulation without a speed does not keep an executor waiting in real time."""

from collections.abc import Iterator

import pytest
from builtin_interfaces.msg import Time

from bbllm.core.types import SkillCall
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.sim.loop import LONGEST_WAIT_S, SimLoop
from bbllm_ros.stack.stack import AWAITED
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

WAIT_S = 3.0


@pytest.fixture
def loop() -> Iterator[SimLoop]:
    loop = SimLoop('plus_sign', speed=0.0, seed=0)
    yield loop
    loop.end()


def test_time_hurries_until_the_moment_that_is_waited_for_and_no_longer(loop: SimLoop) -> None:
    begun_s = loop.now_s
    assert not loop.hurries
    loop.hurry_until(begun_s + WAIT_S)
    loop.hurry_until(begun_s)  # an earlier one does not end it
    assert loop.hurries
    assert not loop.busy

    loop.start()

    until(lambda: not loop.hurries, 'the end of the hurry')
    assert loop.now_s >= begun_s + WAIT_S


def test_a_moment_that_is_far_away_does_not_keep_a_core_busy(loop: SimLoop) -> None:
    begun_s = loop.now_s
    loop.hurry_until(begun_s + 1e9)
    loop.start()

    until(lambda: not loop.hurries, 'the end of the hurry')

    assert loop.now_s >= begun_s + LONGEST_WAIT_S


def test_an_executor_publishes_what_it_waits_for(ros_domain: int) -> None:
    nodes = ('mujoco_sim', 'state_estimator', 'fr3_executor')
    with started(nodes) as running:
        awaited = awaited_times(running)
        before_s = running.client.scene().stamp_s

        assert running.client.execute(SkillCall('wait', (f'{WAIT_S:g}',))).succeeded

        until(lambda: awaited, 'the moment that is waited for')
        assert awaited[0] >= before_s + WAIT_S


def awaited_times(running: Running) -> list[float]:
    """Return the moments that are published from now on, on the world's clock [s]."""
    node, awaited = running.client.node, list[float]()
    node.create_subscription(
        Time,
        AWAITED,
        lambda stamp: awaited.append(stamp_from_msg(stamp)),
        10,
        callback_group=running.client.group,
    )
    until(lambda: node.count_publishers(node.resolve_topic_name(AWAITED)), 'the executor')
    return awaited
