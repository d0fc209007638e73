"""A stack is recorded as rosbag2 does it, and bags replay into `state_estimator`."""

import importlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from bbllm_interfaces.msg import Scene as SceneMsg
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from bbllm.bags.bag_file import BagFile
from bbllm.bags.motion import read_motion
from bbllm.bags.topics import GOALS_TOPIC, WRENCH_TOPIC, WRITTEN
from bbllm.core.constants import NAMESPACE
from bbllm.core.events import Event
from bbllm.core.types import Fact, Scene
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import LATCHED, from_msg, stamp_from_msg, stamp_to_msg
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_ros.stack.bag_recorder import BagRecorder
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig
from tests.doubles.demo_bags import record_demo
from tests.doubles.fork_server import serve_module
from tests.doubles.foxglove_paths import LAYOUT, paths_of
from tests.ros.stacks import started, until

pytestmark = pytest.mark.ros

BASE = f'/{NAMESPACE}/'
INPUTS = ('objects', 'franka/joint_states', 'franka_gripper/joint_states', WRENCH_TOPIC)
"""What `state_estimator` needs of a robot and a table."""
TASK = 'put the red cube on location_B'


Message = tuple[str, float, bytes]
"""Topic relative to the namespace, time of the recording [s], the message as it is sent."""
REPLAYED = 'replayed'
EDGE_S = 0.3
"""So near to a change of facts the joint states of a moment may make a difference [s]."""
OBJECTS = 'objects'
STEP_S = 1e-4
"""Between the stamps of repeated messages [s]."""
SAME_M = 1e-4
"""A hand that moved less shows the same joint states [m]."""


@dataclass(frozen=True)
class Moment:
    """What a scene shows that depends on objects and joint states."""

    facts: frozenset[Fact]
    hand: tuple[float, ...]
    """Position in the world frame and width [m]."""

    @property
    def held(self) -> bool:
        return any(fact.predicate == 'held_by' for fact in self.facts)


Moments = dict[float, Moment]
"""By the stamp of the scene on the world's clock [s]."""


def moments_of(scenes: Sequence[SceneMsg], earlier_s: float = 0.0) -> Moments:
    found: Moments = {}
    for msg in tuple(scenes):
        scene = from_msg(Scene, msg)
        assert scene.hand is not None
        hand = (*scene.hand.tcp.position_m, scene.hand.width_m)
        found[round(scene.stamp_s - earlier_s, 6)] = Moment(frozenset(scene.facts), hand)
    return found


def compare(then: Moments, now: Moments) -> None:
    """Compare the scenes of a recording with those of its replay; some have to be comparable."""
    compared = 0
    for stamp_s in then.keys() & now.keys():
        near = {moment.facts for s, moment in then.items() if abs(s - stamp_s) <= EDGE_S}
        if len(near) == 1 and math.dist(then[stamp_s].hand, now[stamp_s].hand) < SAME_M:
            assert now[stamp_s].facts == then[stamp_s].facts
            compared += 1
    assert compared


class Player(threading.Thread):
    """Plays messages as `ros2 bag play --clock --rate X` does."""

    def __init__(
        self, node: Any, messages: Sequence[Message], kinds: Mapping[str, type], rate: float
    ):
        super().__init__(daemon=True)
        self._messages = messages
        self._kinds = kinds
        self._rate = rate
        self._clock = node.create_publisher(Clock, '/clock', 10)
        self._topics = {
            topic: node.create_publisher(kind, topic, 10) for topic, kind in kinds.items()
        }
        self.now_s = 0.0

    def run(self) -> None:
        begun_s, first_s = time.monotonic(), self._messages[0][1]
        ticked_s = 0.0
        for topic, stamp_s, data in self._messages:
            due_s = begun_s + (stamp_s - first_s) / self._rate
            while (left_s := due_s - time.monotonic()) > 0:
                time.sleep(left_s)
            self.now_s = max(self.now_s, stamp_s)
            if self.now_s >= ticked_s + 0.01:
                ticked_s = self.now_s
                self._clock.publish(Clock(clock=stamp_to_msg(self.now_s)))
            self._topics[topic].publish(data)

    def repeat_until(
        self, condition: Callable[[], Any], what: str, scenes: Sequence[SceneMsg]
    ) -> None:
        """
        Wait for what the last messages bring about, and repeat them, for those that were lost.

        An arm whose states have one stamp hangs: only those of the objects stay as they were. The
        others are of the moment of the objects and after, as a scene has the joint states that
        are nearest to its moment, and those of the recording may be lost.
        """
        last = {
            topic: deserialize_message(data, self._kinds[topic])
            for topic, _, data in self._messages
        }
        stamp_s = stamp_from_msg(last[OBJECTS].header.stamp)

        def repeated() -> Any:
            if met := condition():
                return met
            nonlocal stamp_s
            stamp_s += STEP_S
            for topic, message in last.items():
                if topic != OBJECTS:
                    message.header.stamp = stamp_to_msg(stamp_s)
                self._topics[topic].publish(message)
            return False

        try:
            until(repeated, what)
        except AssertionError as error:
            stamps = sorted(moments_of(scenes)) or [0.0]
            raise AssertionError(
                f'{error}; {len(scenes)} scenes came, from {stamps[0]} s to {stamps[-1]} s, of a '
                f'recording from {self._messages[0][1]} s to {self._messages[-1][1]} s'
            ) from None


@contextmanager
def lone_estimator() -> Iterator[tuple[Stack, StackClient]]:
    """Start `state_estimator` alone, in a namespace of its own."""
    config = StackConfig(
        nodes=('state_estimator',),
        namespace=REPLAYED,
        params={'state_estimator': {'use_sim_time': True, 'rate_hz': 20.0}},
        start=serve_module,
    )
    with Stack(config) as stack, StackClient(REPLAYED) as client:
        yield stack, client


def play(
    client: StackClient, messages: Sequence[Message], kinds: Mapping[str, type], rate: float
) -> Player:
    """Play messages to their end into the estimator; return the player."""
    node = client.node
    player = Player(node, messages, kinds, rate)
    until(
        lambda: all(
            node.count_subscribers(node.resolve_topic_name(topic)) for topic in (*kinds, '/clock')
        ),
        'subscriptions of state_estimator',
    )
    until(lambda: client.heartbeats.alive('state_estimator'), 'state_estimator')
    player.start()
    player.join(120.0)
    assert not player.is_alive()
    return player


@dataclass
class ReadBag:
    """A bag as ROS reads it; names are relative to the namespace of the stack."""

    path: Path
    kinds: dict[str, type] = field(default_factory=dict)
    qualities: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        with self.path.open('rb') as file:
            reader = make_reader(file)
            assert reader.get_header().profile == 'ros2'
            summary = reader.get_summary()
            assert summary is not None
            for channel in summary.channels.values():
                schema = summary.schemas[channel.schema_id]
                assert (channel.message_encoding, schema.encoding) == ('cdr', 'ros2msg')
                name = channel.topic.removeprefix(BASE)
                package, _, message = schema.name.split('/')
                self.kinds[name] = getattr(importlib.import_module(f'{package}.msg'), message)
                self.qualities[name] = yaml.safe_load(channel.metadata['offered_qos_profiles'])
            for _, channel, record in reader.iter_messages():
                name = channel.topic.removeprefix(BASE)
                self.messages.append((name, record.log_time * 1e-9, record.data))

    def of(self, name: str) -> list[Any]:
        kind = self.kinds[name]
        return [deserialize_message(data, kind) for at, _, data in self.messages if at == name]


@dataclass
class Recorded:
    """The bag of a task, and its events as the client that gave it received them."""

    bag: ReadBag
    events: list[Event]


@pytest.fixture(scope='module')
def recorded(ros_domain: int, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    path = tmp_path_factory.mktemp('bag') / 'task.mcap'
    with started(params={'state_estimator': {'rate_hz': 20.0}}, speed=1.0) as stack:
        node = stack.client.node
        stack.run('return to base', episode_id='before')
        stack.events.clear()
        with BagRecorder(node, path, NAMESPACE) as recorder:
            wanted = {BASE + name for name in WRITTEN}
            until(lambda: wanted <= recorder.topics, 'publishers of all topics')
            until(lambda: node.count_subscribers(BASE + GOALS_TOPIC), 'subscription to goals')
            stack.run(TASK, episode_id='recorded')
        assert recorder.broken == ''
        return Recorded(ReadBag(path), list(stack.events))


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    with OwnNodes() as own:
        yield own.join('lone', NAMESPACE)


@pytest.mark.slow  # records a stack beside its own bag
def test_topics_that_are_written_without_ros_are_those_of_a_stack(recorded: Recorded) -> None:
    for name, topic in WRITTEN.items():
        kind = recorded.bag.kinds[name]
        assert topic.message == f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
        for offered in recorded.bag.qualities[name]:
            policies = (offered['reliability'], offered['durability'])
            assert policies == (topic.quality.reliability, topic.quality.durability), name


def test_events_of_the_task_are_in_the_bag_and_no_older_ones(recorded: Recorded) -> None:
    reported = recorded.bag.of('episode_events')

    assert {msg.episode_id for msg in reported} == {'recorded'}
    assert [event_from_msg(msg) for msg in reported] == recorded.events
    assert recorded.bag.of('plan')[-1].episode_id == 'recorded'


def test_every_trajectory_that_the_controller_accepted_is_in_the_bag(recorded: Recorded) -> None:
    accepted = [
        goal
        for goal in recorded.bag.of('sim/goals')
        if goal.accepted and goal.name.endswith('follow_joint_trajectory')
    ]
    sent = recorded.bag.of(GOALS_TOPIC)

    assert sent
    assert [list(msg.joint_names) for msg in sent] == [list(x.joint_names) for x in accepted]
    ends = [stamp_from_msg(msg.points[-1].time_from_start) for msg in sent]
    assert ends == [stamp_from_msg(goal.duration) for goal in accepted]


def test_a_reader_without_ros_decodes_every_message_by_the_definitions_in_the_bag(
    recorded: Recorded,
) -> None:
    decoded = Counter[str]()
    with recorded.bag.path.open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, _, _ in reader.iter_decoded_messages():
            decoded[channel.topic.removeprefix(BASE)] += 1

    assert decoded == Counter(name for name, _, _ in recorded.bag.messages)
    assert decoded.keys() >= {'markers', 'approval', 'robot_description', '/rosout'}
    assert 'heartbeat' not in recorded.bag.kinds
    assert read_motion(recorded.bag.path).poses['red_cube'].shape[1] == 7


def test_topics_of_the_layout_for_foxglove_are_in_the_bag_with_the_types_of_its_panels(
    recorded: Recorded,
) -> None:
    kinds = recorded.bag.kinds
    panels: dict[str, Any] = LAYOUT['configById']
    for path in paths_of(LAYOUT):
        assert path.topic.removeprefix(BASE) in kinds
    scene = panels['3D!table']
    assert {kinds[name.removeprefix(BASE)] for name in scene['topics']} == {MarkerArray}
    assert kinds[scene['layers']['arm']['topic'].removeprefix(BASE)] is String
    assert kinds[panels['RosOut!log']['topicToRender']] is Log
    (description,) = recorded.bag.of('robot_description')
    assert f'link name="{scene["followTf"]}"' in description.data


def replay(bag: ReadBag, rate: float) -> Moments:
    """Play what `state_estimator` reads, and return what the scenes that it publishes show."""
    messages = [message for message in bag.messages if message[0] in INPUTS]
    last = round(stamp_from_msg(bag.of('objects')[-1].header.stamp), 6)
    with lone_estimator() as (_, client):
        scenes: list[SceneMsg] = []
        client.node.create_subscription(SceneMsg, 'scene', scenes.append, 500)
        player = play(client, messages, {name: bag.kinds[name] for name in INPUTS}, rate)
        player.repeat_until(
            lambda: last in moments_of(scenes), 'scene of the last objects', scenes
        )
    return moments_of(scenes)


def test_the_bag_of_a_stack_replays_into_the_scenes_that_it_contains(recorded: Recorded) -> None:
    now = replay(recorded.bag, 2.0)

    compare(moments_of(recorded.bag.of('scene')), now)
    held = {moment.held for moment in now.values()}
    assert held == {True, False}, 'the replay shows the pick and the place'


def test_the_bag_of_a_demo_replays_into_its_scene(ros_domain: int, tmp_path: Path) -> None:
    _, scene = record_demo(tmp_path / 'demo.mcap', TASK)

    now = replay(ReadBag(tmp_path / 'demo.mcap'), 2.0)

    assert now[max(now)].facts == frozenset(scene.facts)
    assert any(moment.held for moment in now.values())


def test_images_are_recorded_and_raw_ones_only_where_none_are_compressed(
    node: Node, tmp_path: Path
) -> None:
    publishers = {
        name: node.create_publisher(kind, name, LATCHED)
        for name, kind in (
            ('wrist/image', Image),
            ('top/image', Image),
            ('top/image/compressed', CompressedImage),
            ('top/camera_info', CameraInfo),
            ('top/words', String),
        )
    }
    for name, publisher in publishers.items():
        publisher.publish(publisher.msg_type())
        until(lambda name=name: node.count_publishers(name), f'publisher of {name}')
    with BagRecorder(node, tmp_path / 'a.mcap', NAMESPACE) as recorder:
        until(lambda: recorder.count == 3, 'the images')

    bag = ReadBag(tmp_path / 'a.mcap')
    assert bag.kinds.keys() == {'wrist/image', 'top/image/compressed', 'top/camera_info'}
    assert Counter(name for name, _, _ in bag.messages) == Counter(bag.kinds.keys())


def test_a_topic_of_which_more_comes_than_can_be_written_keeps_no_other_from_the_bag_and_ends(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = node.create_publisher(Image, 'camera/image', 10)
    until(lambda: node.count_publishers('camera/image'), 'publisher of the images')
    written = Counter[str]()
    write = BagFile.write

    def write_while_more_comes(self: BagFile, topic: str, *given: Any) -> None:
        written[topic] += 1
        assert written[topic] < 1000, 'images alone'
        write(self, topic, *given)
        if topic.endswith('image'):
            fast.publish(Image())

    monkeypatch.setattr(BagFile, 'write', write_while_more_comes)
    with BagRecorder(node, tmp_path / 'a.mcap', NAMESPACE) as recorder:
        until(lambda: recorder.topics, 'subscription to the images')
        for _ in range(10):
            fast.publish(Image())
        until(lambda: written, 'images')
        node.create_publisher(String, 'robot_description', LATCHED).publish(String())
        until(lambda: written[f'{BASE}robot_description'], 'the other topic')

    assert recorder.broken == ''


def test_a_full_disk_ends_the_bag_with_a_sentence(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Path.open

    def open_full(path: Path, mode: str = 'r', **more: Any) -> Any:
        return begin(Path('/dev/full'), 'wb') if 'x' in mode else begin(path, mode, **more)

    monkeypatch.setattr(Path, 'open', open_full)
    publisher = node.create_publisher(String, 'robot_description', LATCHED)
    until(lambda: node.count_publishers('robot_description'), 'publisher')
    with BagRecorder(node, tmp_path / 'a.mcap', NAMESPACE) as recorder:
        publisher.publish(String(data='x' * 100_000))
        until(lambda: recorder.broken, 'sentence')

    assert 'a.mcap breaks off: No space left on device' in recorder.broken
