"""`/clock` and use_sim_time: whole stacks at any speed."""

from typing import Any

import pytest
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.srv import ResetSim
from rosgraph_msgs.msg import Clock

from bbllm.core.events import Ending
from bbllm_ros.convert.records import EVENTS, stamp_from_msg
from bbllm_ros.stack.stack import NODES
from tests.ros.policies import policies
from tests.ros.sim_clients import received_on
from tests.ros.stacks import started, until

pytestmark = pytest.mark.ros

SLOW = pytest.mark.slow
SIM_TIME = {node: {'use_sim_time': True} for node in NODES}


def stamp_of(message: Any) -> float:
    return stamp_from_msg(message.header.stamp)


@pytest.mark.slow  # a stack of its own
@pytest.mark.parametrize('speed', [pytest.param(0.0, marks=SLOW), 3.0])
def test_a_stack_that_takes_the_time_of_the_simulation_carries_out_a_task(
    ros_domain: int, speed: float
) -> None:
    params = {**SIM_TIME, 'mujoco_sim': {'use_sim_time': True, 'clock': True, 'speed': speed}}
    with started(params=params, speed=speed) as stack:
        ticks: list[Clock] = []
        stack.client.node.create_subscription(Clock, '/clock', ticks.append, 10)
        with received_on(stack, EpisodeEvent, 'episode_events', EVENTS) as events:
            result = stack.run('put the red cube on location_B')
            until(lambda: events and events[-1].kind == EpisodeEvent.ENDED, 'the last event')
        assert stack.ask(ResetSim, 'sim/reset', scene='tower').success
        count = len(ticks)
        until(lambda: len(ticks) > count + 5, 'the clock after the reset')

    assert result.ending is Ending.FINISHED
    stamps = [stamp_of(event) for event in events]
    assert stamps == sorted(stamps)
    times = [stamp_from_msg(tick.clock) for tick in ticks]
    assert times == sorted(times), 'the clock never runs backwards, not even at a reset'
    # More time passes in the world than on the wall: the stamps are of the world's clock.
    walls = [stamp_from_msg(event.wall_stamp) for event in events]
    assert stamps[-1] - stamps[0] > walls[-1] - walls[0]
    assert stamps[-1] - stamps[0] >= 0.9 * result.robot_s
    # Scenes have the same clock.
    before, after = (event.scene[0].scene for event in events if event.scene)
    assert stamp_of(before) <= stamps[-1]
    assert stamps[0] - 1.0 <= stamp_of(before)
    assert stamp_of(after) <= stamps[-1] + 1.0


def test_policies_allow_the_clock_to_every_node() -> None:
    allowed = policies()

    for node in NODES:
        assert '/clock' in allowed[node].names()['subscriber']
    assert [n for n, policy in allowed.items() if '/clock' in policy.names()['publisher']] == [
        'mujoco_sim'
    ]
