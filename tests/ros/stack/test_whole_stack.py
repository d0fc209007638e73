"""All nodes with their defaults: tasks, diagnostics, rights and names."""

import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from bbllm_interfaces.msg import SimGoal
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory

from bbllm.api.config import RuleChoice
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import TaskError
from bbllm.core.events import Ending, EventKind
from bbllm.core.findings import Level
from bbllm.core.journal import read_episode, summarize
from bbllm.core.paths import config_dir, episodes_dir
from bbllm_ros.checks.real_arm import RealArm, judge_graph
from bbllm_ros.convert.records import stamp_from_msg, vector_from_msg
from bbllm_ros.driver.real_probe import probe
from bbllm_ros.rclpy_support.dds_boundary import FILE, RANGE, SKIP
from bbllm_ros.rclpy_support.diagnostics import TOPIC
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.session import NewestStates
from bbllm_ros.stack.stack import NODES, PERCEPTION, Stack, StackConfig
from bbllm_ros.stack.stack_checks import node_values
from bbllm_vision.stream_health import Stream
from tests.doubles.fork_server import serve_module
from tests.doubles.foxglove_paths import LAYOUT, paths_of
from tests.ros.policies import differences, policies
from tests.ros.sim_clients import received_on
from tests.ros.stacks import (
    PATIENCE_S,
    Running,
    started,
    udp_addresses,
    until,
)

pytestmark = pytest.mark.ros

STACK = (*NODES, PERCEPTION)
TASK = 'put the red cube on location_B'
GUEST = Path(__file__).parents[1] / 'guest.py'
HERE_S = 60.0
ARM_OF_BBLLM = RealArm(namespace='bbllm')
POLICIES = policies()


VISION = {f'/{NAMESPACE}/detections_3d'}
TRANSFORMS = {'/tf', '/tf_static'}
SIMULATED_TRANSFORMS = {f'/{NAMESPACE}{name}' for name in TRANSFORMS}
STATUS = {f'/{NAMESPACE}/camera_status'}
SOURCES = {f'/{NAMESPACE}/detections', *STATUS, *TRANSFORMS, *VISION}
MOVEIT = {f'/{NAMESPACE}/collision_object'}
CLOCK = '/clock'


UNUSED = {
    'subscriber': SOURCES | SIMULATED_TRANSFORMS | {CLOCK},
    'publisher': {*MOVEIT, *TRANSFORMS, CLOCK},
}
"""What `state_estimator` uses with other parameters than their defaults, by kind."""
PICTURES = {
    f'/{NAMESPACE}/{camera}/{stream.value}'
    for camera in ('table_camera', 'hand_camera')
    for stream in Stream
}
UNUSED_BY_PERCEPTION = {
    'subscriber': {*PICTURES, *TRANSFORMS, CLOCK},
    'publisher': {CLOCK},
}
"""What `perception` uses with a real arm, or while detections are subscribed to."""
DISPLAYS = {
    display['Name']: {**display, 'Class': display['Class'].removeprefix('rviz_default_plugins/')}
    for display in yaml.safe_load((config_dir() / 'rviz' / 'bbllm.rviz').read_text())[
        'Visualization Manager'
    ]['Displays']
}
"""What rviz shows of a stack, by its file of the view."""
TOPICS = {
    'RobotModel': ('Description Topic', 'std_msgs/msg/String'),
    'MarkerArray': ('Topic', 'visualization_msgs/msg/MarkerArray'),
}


@pytest.fixture(scope='module')
def running(ros_domain: int) -> Iterator[Running]:
    with started(STACK, params={'perception': {'scene': 'tabletop'}}) as stack:
        yield stack


def used(node: Any, name: str) -> dict[str, set[str]]:
    """Return what a node of the graph publishes, hears, serves and calls, as far as is heard."""
    kinds = ('publisher', 'subscriber', 'service', 'client')
    if (name, f'/{NAMESPACE}') not in node.get_node_names_and_namespaces():
        return {kind: set() for kind in kinds}
    asks = {kind: getattr(node, f'get_{kind}_names_and_types_by_node') for kind in kinds}
    return {kind: set(dict(ask(name, f'/{NAMESPACE}'))) for kind, ask in asks.items()}


def unequal(
    node: Any, name: str, policy: str, unused: Mapping[str, Collection[str]] | None = None
) -> dict[tuple[str, str], list[str]]:
    """
    Compare the graph with a policy, and return where they still differ once all is heard.

    Args:
        node: A node of this test.
        name: Of the node that is looked at.
        policy: Name of its policy.
        unused: By kind, names that it uses with other parameters than these, or not always.
    """
    allowed = POLICIES[policy].names()
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        found = {}
        for kind, names in used(node, name).items():
            either = allowed[kind].intersection((unused or {}).get(kind, ()))
            for how, wrong in differences(allowed[kind] - either, names - either).items():
                if wrong:
                    found[kind, how] = wrong
        if not found or time.monotonic() > deadline_s:
            return found
        time.sleep(0.1)


@pytest.mark.parametrize('name', STACK)
def test_policy_allows_what_the_node_does_and_nothing_else(running: Running, name: str) -> None:
    unused = {'state_estimator': UNUSED, 'perception': UNUSED_BY_PERCEPTION}.get(
        name, {kind: {CLOCK} for kind in UNUSED}
    )

    assert unequal(running.client.node, name, name, unused) == {}


def test_policy_of_the_estimator_allows_every_source_of_objects(running: Running) -> None:
    node, name = running.client.node, 'state_estimator'
    params = {name: {'sources': 'camera, apriltag', 'scene': 'tower', 'catalogue': 'tabletop'}}
    config = StackConfig(nodes=(name,), namespace='cameras', params=params, start=serve_module)
    extra: set[str] = set()

    def receives_all() -> bool:
        other.check()
        if (name, '/cameras') in node.get_node_names_and_namespaces():
            received_on = dict(node.get_subscriber_names_and_types_by_node(name, '/cameras'))
            extra.update(topic.replace('/cameras/', f'/{NAMESPACE}/') for topic in received_on)
        return extra >= SOURCES - VISION

    with Stack(config) as other:
        until(receives_all, 'estimator that hears its cameras')

    assert extra <= POLICIES[name].names()['subscriber']


def test_policy_of_the_command_line_allows_what_its_client_does(running: Running) -> None:
    # With a name that no other client of this process ever had.
    with StackClient(name='bbllm_looked_at') as client:
        NewestStates(client.node)  # of `bbllm console`
        differing = unequal(running.client.node, client.node.get_name(), 'client')
    assert differing == {}


@pytest.mark.parametrize(
    'name', [name for name, display in DISPLAYS.items() if display['Class'] in TOPICS]
)
def test_topic_of_a_display_is_published_with_its_type_and_quality(
    running: Running, name: str
) -> None:
    title, kind = TOPICS[DISPLAYS[name]['Class']]
    wanted = DISPLAYS[name][title]
    node = running.client.node

    until(lambda: node.count_publishers(wanted['Value']), f'publisher of {wanted["Value"]}')

    for giver in node.get_publishers_info_by_topic(wanted['Value']):
        assert giver.topic_type == kind
        qos = giver.qos_profile
        # What is published once must also reach an rviz that comes later.
        assert qos.durability is DurabilityPolicy.TRANSIENT_LOCAL
        assert wanted['Durability Policy'] == 'Transient Local'
        assert qos.reliability is ReliabilityPolicy.RELIABLE
        assert wanted['Reliability Policy'] == 'Reliable'


def test_paths_in_the_layout_for_foxglove_name_fields_that_topics_of_a_stack_have(
    running: Running,
) -> None:
    types = dict(running.client.node.get_topic_names_and_types())
    paths = [*paths_of(LAYOUT)]
    assert any(path.fields for path in paths)
    for path in paths:
        (kind,) = types[path.topic]
        for name, indexed in path.fields:
            package, _, message = kind.split('/')
            found = getattr(importlib.import_module(f'{package}.msg'), message)
            kind = found.get_fields_and_field_types()[name]
            assert ('sequence' in kind) is indexed, path
            if part := re.search(r'(\w+)/(\w+)', kind):
                kind = f'{part[1]}/msg/{part[2]}'


def test_a_copy_of_each_trajectory_that_the_controller_accepted_is_published(
    running: Running,
) -> None:
    with (
        received_on(running, JointTrajectory, 'trajectory_goals', 100) as copies,
        received_on(running, SimGoal, 'sim/goals', 1000) as goals,
    ):
        until(lambda: running.client.node.count_subscribers('trajectory_goals'), 'subscription')
        running.run(TASK)
        running.run('return to base')
        sent = [
            stamp_from_msg(goal.duration)
            for goal in goals
            if goal.accepted and goal.name.endswith('follow_joint_trajectory')
        ]
        until(lambda: len(copies) == len(sent) > 0, 'copies')

    assert [stamp_from_msg(copy.points[-1].time_from_start) for copy in copies] == sent


def test_a_simulated_driver_is_found_whole_and_ready(running: Running) -> None:
    reported: list[str] = []

    graph = probe('bbllm', 'franka_gripper', reported.append)
    found = list(judge_graph(graph, ARM_OF_BBLLM))

    odd = [item for item in found if item.level is not Level.OK and item.name != 'camera']
    assert all('slow' in item.text for item in odd), odd  # on a machine that is busy
    assert graph.arm is not None and len(graph.arm.position) == 7
    assert 'no node subscribes to detections' in graph.cameras['table_camera']
    values = node_values('fr3_executor', simulated=True)
    rules = {name: values[name] for name in RuleChoice.model_fields}
    assert graph.executor == {'approval': 'none', 'simulated': True, **rules}
    assert reported[0] == 'looking for the driver'


def test_no_socket_is_bound_to_another_address_than_loopback(running: Running) -> None:
    for node, process in running.stack.processes.items():
        assert udp_addresses(process.pid) == {'127.0.0.1'}, node


def test_processes_with_the_defaults_of_ros_take_part_on_this_machine(
    running: Running, ros_domain: int
) -> None:
    guest = [sys.executable, str(GUEST), str(HERE_S), 'return to base']
    environ = {
        name: value for name, value in os.environ.items() if name not in (FILE, SKIP, RANGE)
    }
    run = subprocess.run(guest, env=environ, capture_output=True, text=True, timeout=3 * HERE_S)

    found = json.loads(run.stdout)
    assert {f'/bbllm/{node}' for node in NODES} <= set(found['nodes'])
    assert found['ending'] == 'FINISHED', run.stderr


def test_every_node_publishes_its_state_in_diagnostics_and_an_episode_is_in_rosout(
    running: Running,
) -> None:
    received_on: dict[str, dict[str, str]] = {}
    logs: list[str] = []

    def receive(message: DiagnosticArray) -> None:
        for status in message.status:
            received_on[status.name] = {item.key: item.value for item in status.values}

    node = running.client.node
    node.create_subscription(DiagnosticArray, TOPIC, receive, 100)
    node.create_subscription(Log, '/rosout', lambda log: logs.append(log.msg), 100)
    names = {f'/{NAMESPACE}/{name}' for name in NODES}
    until(lambda: names <= set(received_on), 'diagnostics of all nodes')

    running.run('return to base')

    assert {received_on[name]['state'] for name in names} == {'active'}
    assert 'objects [Hz]' in received_on[f'/{NAMESPACE}/state_estimator']
    brain = f'/{NAMESPACE}/brain_planner'
    until(lambda: received_on[brain]['last model call [s]'] != 'nan', 'latency of the model')
    for word in ('task: ', 'plan: ', 'step', 'ended: FINISHED'):
        until(lambda word=word: any(word in line for line in logs), f'{word!r} in /rosout')


def test_task_of_the_readme_has_one_account_in_result_events_and_journal(running: Running) -> None:
    running.events.clear()

    result = running.run(TASK, episode_id='told-thrice')

    assert result.ending is Ending.FINISHED
    assert running.client.scene().has('red_cube', 'on', 'location_B')
    kinds = [event.kind for event in running.events]
    assert (kinds[0], kinds[-1]) == (EventKind.STARTED, EventKind.ENDED)
    assert {EventKind.PLAN, EventKind.STEP, EventKind.CALL, EventKind.OUTCOME} <= set(kinds)
    assert result.steps == kinds.count(EventKind.OUTCOME)
    assert result.model_calls == kinds.count(EventKind.MODEL_CALL)
    assert result.robot_s > 0
    episode = read_episode(episodes_dir() / 'told-thrice.jsonl')
    # What is heard makes the same journal, whole scenes and every number included.
    assert list(episode.events) == running.events
    sums = summarize(episode)
    assert sums['ending'] == result.ending.name
    for name in ('steps', 'model_calls', 'feedback_loops', 'prompt_tokens'):
        assert sums[name] == getattr(result, name)


def test_frames_and_detections_are_those_of_the_scene(running: Running) -> None:
    red = running.client.scene().object('red_cube').pose

    def places(messages: list[TFMessage]) -> dict[str, tuple[float, float, float]]:
        return {
            frame.child_frame_id: vector_from_msg(frame.transform.translation)
            for message in messages
            for frame in message.transforms
        }

    with received_on(running, TFMessage, 'tf', 100) as frames:
        until(lambda: 'bbllm/red_cube' in places(frames), 'frame of the red cube')
    messages = pytest.importorskip('vision_msgs.msg', reason='not built: make extras')
    with received_on(running, messages.Detection3DArray, 'scene_detections', 100) as arrays:
        until(lambda: arrays, 'detections')

    assert places(frames)['bbllm/red_cube'] == pytest.approx(red.position_m, abs=1e-3)
    assert 'bbllm/location_B' in places(frames)
    names = {found.id for found in arrays[-1].detections}
    assert ('red_cube' in names, 'location_B' in names) == (True, False)


def test_id_of_an_episode_is_never_given_twice(running: Running) -> None:
    running.run('what a nice day', episode_id='once')
    first = (episodes_dir() / 'once.jsonl').read_bytes()

    result = running.run('put the red cube on location_B', episode_id='once')

    assert result.refused
    assert "There is an episode 'once' already" in result.message
    assert (episodes_dir() / 'once.jsonl').read_bytes() == first


@pytest.mark.parametrize(
    ('task', 'expected'),
    [
        ('', 'The task is empty'),
        ('pick\x07', 'U+0007 (control character)'),
    ],
    ids=['empty', 'bell'],
)
def test_task_that_cannot_be_taken_is_refused_with_the_reason(
    running: Running, task: str, expected: str
) -> None:
    result = running.run(task)

    assert result.refused
    assert expected in result.message
    assert result.ending is not Ending.FINISHED


def test_remark_without_a_task_is_refused_where_it_was_typed_and_on_the_log(
    running: Running,
) -> None:
    with pytest.raises(TaskError, match='No task is under way'):
        running.client.send_remark('anybody there?')

    voice = running.client.node.create_publisher(String, 'human_feedback', 10)
    until(voice.get_subscription_count, 'planner')
    voice.publish(String(data='and here?'))
    log = running.stack.log_file('brain_planner')
    until(lambda: log.read_text().count('A remark was refused. No task') == 2, 'warnings')
