"""`/clock` and use_sim_time: a bag replayed into one node, and whole stacks at any speed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from bbllm_interfaces.msg import EpisodeEvent, ObjectStates
from bbllm_interfaces.msg import Scene as SceneMsg
from bbllm_interfaces.srv import ResetSim
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from bbllm.core.events import Ending
from bbllm.core.types import SkillCall, Status
from bbllm_ros.convert.records import EVENTS, stamp_from_msg, stamp_to_msg
from bbllm_ros.stack.stack import NODES
from tests.ros.policies import policies
from tests.ros.replaying import EDGE_S, Message, Moments, compare, lone_estimator, moments_of, play
from tests.ros.sim_clients import received_on
from tests.ros.stacks import started, until

pytestmark = pytest.mark.ros

SLOW = pytest.mark.slow
BAG = {
    'objects': ObjectStates,
    'franka/joint_states': JointState,
    'franka_gripper/joint_states': JointState,
    'franka_robot_state_broadcaster/external_wrench_in_base_frame': WrenchStamped,
}
"""What `state_estimator` needs of a robot and a table."""
RECORDED = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""As the driver's wrench is published."""
YESTERDAY_S = 86_400.0
"""How long before now the bag seems to be recorded, so that its clock is not the wall's [s]."""
SIM_TIME = {node: {'use_sim_time': True} for node in NODES}


@dataclass
class Bag:
    messages: list[Message] = field(default_factory=list)
    """By their stamps, on the world's clock."""
    moments: Moments = field(default_factory=dict)


def stamp_of(message: Any) -> float:
    return stamp_from_msg(message.header.stamp)


@pytest.fixture(scope='module')
def bag(ros_domain: int) -> Bag:
    bag = Bag()
    nodes = ('state_estimator', 'fr3_executor', 'mujoco_sim')
    with started(nodes, params={'state_estimator': {'rate_hz': 20.0}}, speed=1.0) as stack:

        def record(topic: str) -> Callable[[Any], None]:
            def keep(message: Any) -> None:
                stamp_s = stamp_of(message) - YESTERDAY_S
                message.header.stamp = stamp_to_msg(stamp_s)
                bag.messages.append((topic, stamp_s, serialize_message(message)))

            return keep

        def keep_scene(message: SceneMsg) -> None:
            bag.moments.update(moments_of([message], YESTERDAY_S))

        node = stack.client.node
        for topic, kind in BAG.items():
            node.create_subscription(kind, topic, record(topic), RECORDED)
        node.create_subscription(SceneMsg, 'scene', keep_scene, 100)
        until(lambda: len(bag.moments) > 10, 'ten scenes before the call')
        picked = stack.client.execute(SkillCall('pick', ('red_cube',)))
        assert picked.status is Status.SUCCEEDED
        # Scenes of before the call may still be on their way here.
        until(lambda: any(x.held for x in tuple(bag.moments.values())), 'scene of what is held')
        # A busy recorder takes what waits topic by topic, up to a second of each.
        held_s = max(s for s, moment in tuple(bag.moments.items()) if moment.held)

        def end_s() -> float:
            """Return until when there are messages of all topics."""
            last = {topic: stamp_s for topic, stamp_s, _ in tuple(bag.messages)}
            return min(last.get(topic, 0.0) for topic in BAG)

        until(lambda: end_s() > held_s + EDGE_S, 'messages of all topics after the call')
    # Else the last objects may be held higher up than the last joint states show the hand.
    ended_s = end_s()
    bag.messages = [message for message in bag.messages if message[1] <= ended_s]
    bag.messages.sort(key=lambda message: (message[1], message[0] == 'objects'))
    return bag


@pytest.mark.parametrize(
    'rate', [pytest.param(0.5, marks=SLOW), pytest.param(1.0, marks=SLOW), 5.0]
)
def test_a_bag_replayed_at_any_speed_gives_the_scenes_of_the_recording(
    bag: Bag, rate: float
) -> None:
    with lone_estimator() as (stack, client):
        node = client.node
        scenes: list[SceneMsg] = []
        health: list[DiagnosticArray] = []
        node.create_subscription(SceneMsg, 'scene', scenes.append, 500)
        node.create_subscription(DiagnosticArray, '/diagnostics', health.append, 10)
        player = play(client, bag.messages, BAG, rate)

        def on_the_clock_of_the_bag() -> bool:
            stack.check()
            return any(
                bag.messages[0][1] <= stamp_of(message) <= player.now_s
                for message in tuple(health)
                if message.status[0].name == '/replayed/state_estimator'
            )

        until(on_the_clock_of_the_bag, 'stamp of its own from the clock of the bag')
        player.repeat_until(
            lambda: any(moment.held for moment in moments_of(scenes).values()),
            'scene after the pick',
            scenes,
        )

    reported = moments_of(scenes)
    seen = {round(stamp_s, 6) for topic, stamp_s, _ in bag.messages if topic == 'objects'}
    assert reported.keys() <= seen, 'every scene has a stamp of the bag'
    compare(bag.moments, reported)
    assert not all(x.held for x in reported.values()), 'the replay shows the table before the pick'


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
