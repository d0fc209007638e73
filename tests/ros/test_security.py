"""Policies of SROS 2: each node may do exactly what it does, and only a person may approve."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from policies import FOLDER, differences, policies, read
from stacks import Running, started, until

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.ros.stack.client import StackClient
from bbllm.ros.stack.namespaced_files import view_file, write_policies
from bbllm.ros.stack.stack import NODES, OPTIONAL_NODES, Stack, StackConfig, node_arguments

pytestmark = pytest.mark.ros

POLICIES = policies()
STACK = (*NODES, *OPTIONAL_NODES)
CAMERAS = ('detections', 'apriltag')
"""Sources of `state_estimator` other than the default one, that need no other package."""
VISION = {f'/{NAMESPACE}/detections_3d'}
"""What its source vision_msgs hears, where the package of that name is installed."""
TRANSFORMS = {'/tf', '/tf_static'}
"""Of a real arm; a simulation has its own in its namespace."""
SIMULATED_TRANSFORMS = {f'/{NAMESPACE}{name}' for name in TRANSFORMS}
SOURCES = {f'/{NAMESPACE}/detections', *TRANSFORMS, *VISION}
MOVEIT = {f'/{NAMESPACE}/collision_object'}
"""What `state_estimator` publishes with `collision_objects:=true`."""
BELIEFS = {f'/{NAMESPACE}/episode_events'}
"""What `state_estimator` hears for its open state, which is off by default."""
CLOCK = '/clock'
"""What every node hears with `use_sim_time:=true`, and `mujoco_sim` publishes for it."""
UNUSED = {
    'subscriber': SOURCES | SIMULATED_TRANSFORMS | BELIEFS | {CLOCK},
    'publisher': {*MOVEIT, *TRANSFORMS, CLOCK},
}
"""What nodes use with other parameters than their defaults, by kind."""
DISCOVERY_S = 10.0
"""How long it may take until every name of every node is heard of [s]."""


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    """Start all nodes that have a policy."""
    with started(STACK) as running:
        yield running


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
        unused: By kind, names that it uses with other parameters than these.
    """
    allowed = POLICIES[policy].names()
    deadline_s = time.monotonic() + DISCOVERY_S
    while True:
        found = {
            (kind, how): wrong
            for kind, names in used(node, name).items()
            for how, wrong in differences(
                allowed[kind] - set((unused or {}).get(kind, ())), names
            ).items()
            if wrong
        }
        if not found or time.monotonic() > deadline_s:
            return found
        time.sleep(0.1)


def who(right: str, name: str) -> set[str]:
    """Return whose policy has a right."""
    return {
        of for of, policy in POLICIES.items() if f'/{NAMESPACE}/{name}' in policy.rights[right]
    }


def test_every_node_has_a_policy_and_so_have_the_programs_of_a_person() -> None:
    assert set(POLICIES) == {*STACK, 'client', 'rviz'}
    assert {path.suffixes[-2:] == ['.policy', '.xml'] for path in FOLDER.iterdir()} == {True}


@pytest.mark.parametrize('name', sorted(POLICIES))
def test_enclave_is_the_one_that_the_process_is_started_with(name: str) -> None:
    assert POLICIES[name].enclave == f'/{NAMESPACE}/{name}'
    if name in STACK:
        arguments = node_arguments(name)
        assert arguments[arguments.index('--enclave') + 1] == POLICIES[name].enclave
        assert (POLICIES[name].namespace, POLICIES[name].node) == (f'/{NAMESPACE}', name)


@pytest.mark.parametrize('name', STACK)
def test_policy_allows_what_the_node_does_and_nothing_else(stack: Running, name: str) -> None:
    unused = UNUSED if name == 'state_estimator' else {kind: {CLOCK} for kind in UNUSED}

    assert unequal(stack.client.node, name, name, unused) == {}


def test_policy_of_the_estimator_allows_every_source_of_objects(
    stack: Running, ros_domain: int
) -> None:
    """What it hears beside its default source it hears with these, in a namespace of its own."""
    node, name = stack.client.node, 'state_estimator'
    params = {name: {'sources': ', '.join(CAMERAS), 'scene': 'tower', 'catalogue': 'tabletop'}}
    config = StackConfig(nodes=(name,), namespace='cameras', params=params)
    extra: set[str] = set()

    def hears_all() -> bool:
        other.check()
        if (name, '/cameras') in node.get_node_names_and_namespaces():
            heard = dict(node.get_subscriber_names_and_types_by_node(name, '/cameras'))
            extra.update(topic.replace('/cameras/', f'/{NAMESPACE}/') for topic in heard)
        return extra >= SOURCES - VISION

    with Stack(config) as other:
        until(hears_all, 'estimator that hears its cameras')

    assert extra <= POLICIES[name].names()['subscriber']


def test_policy_of_the_command_line_allows_what_its_client_does(stack: Running) -> None:
    # With a name that no other client of this process ever had.
    with StackClient(name='bbllm_looked_at') as client:
        assert unequal(stack.client.node, client.node.get_name(), 'client') == {}


def test_policy_of_rviz_allows_what_its_file_shows() -> None:
    rviz = yaml.safe_load((config_dir() / 'rviz' / 'bbllm.rviz').read_text())
    displays = rviz['Visualization Manager']['Displays']
    topics = [x.get('Topic') or x.get('Description Topic') for x in displays]
    (menus,) = [
        x['Interactive Markers Namespace']
        for x in displays
        if 'Interactive Markers Namespace' in x
    ]
    rights = POLICIES['rviz'].rights

    shown = {topic['Value'] for topic in topics if topic}
    every_node_of_rclcpp = {'/parameter_events'}
    assert rights['subscribe'] == {
        *shown,
        f'{menus}/update',
        *TRANSFORMS,
        *SIMULATED_TRANSFORMS,
        *every_node_of_rclcpp,
    }
    assert rights['publish'] == {f'{menus}/feedback', '/rosout', *every_node_of_rclcpp}
    assert rights['request'] == {f'{menus}/get_interactive_markers'}
    assert (rights['call'], rights['execute']) == (frozenset(), frozenset())


def test_only_programs_of_a_person_may_approve() -> None:
    assert who('request', 'approve') == {'client', 'task_menu'}
    assert who('reply', 'approve') == {'fr3_executor'}
    # Whoever may click in the menu may approve by it.
    assert who('publish', 'task_menu/feedback') == {'rviz'}
    assert who('publish', 'approval') == {'fr3_executor'}


def test_only_the_executor_may_move_the_arm() -> None:
    for action in (
        'fr3_arm_controller/follow_joint_trajectory',
        'franka_gripper/grasp',
        'franka_gripper/homing',
        'franka_gripper/move',
        'action_server/error_recovery',
    ):
        assert who('call', action) == {'fr3_executor'}
        for part in ('send_goal', 'get_result'):
            assert who('request', f'{action}/_action/{part}') == set()
    assert who('call', 'execute_skill') == {'brain_planner', 'client'}


def test_only_the_command_line_may_talk_to_the_planner_in_mid_task_and_tell_to_forget() -> None:
    assert who('publish', 'human_feedback') == {'client'}
    assert who('request', 'forget_open_state') == {'client'}
    assert who('call', 'run_task') == {'client', 'task_menu'}


@pytest.mark.parametrize('namespace', ['lab/left_arm', REAL_NAMESPACE])
def test_policies_for_another_namespace_allow_the_same_there(
    namespace: str, tmp_path: Path
) -> None:
    def moved(name: str) -> str:
        head, slash, rest = name.partition(f'/{NAMESPACE}/')
        return f'/{namespace}/{rest}' if slash and not head else name

    written = {
        path.name.partition('.')[0]: read(path) for path in write_policies(namespace, tmp_path)
    }

    simulated = {'mujoco_sim'} if namespace == REAL_NAMESPACE else set()
    assert set(written) == set(POLICIES) - simulated
    for name, policy in written.items():
        assert policy.enclave == f'/{namespace}/{name}'
        for right, names in POLICIES[name].rights.items():
            assert policy.rights[right] == {moved(x) for x in names}, (name, right)
        text = policy.file.read_text()
        assert not [x for x in (f'"/{NAMESPACE}"', f'/{NAMESPACE}/') if x in text]


def test_names_that_are_no_namespace_write_no_policy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='is no namespace'):
        write_policies('a"/><x y="', tmp_path / 'none')
    assert not (tmp_path / 'none').exists()


def test_view_of_rviz_shows_the_namespace_it_is_asked_for() -> None:
    text = view_file('lab/left_arm').read_text()

    whole = view_file(NAMESPACE).read_text()
    assert text.count(' /lab/left_arm/') == whole.count(f' /{NAMESPACE}/') > 0
    assert f' /{NAMESPACE}/' not in text


@pytest.mark.parametrize('name', sorted(POLICIES))
def test_policy_is_explained(name: str, repository: Path) -> None:
    assert f'| `{name}` |' in (repository / 'docs' / 'security.md').read_text()


@pytest.mark.parametrize('name', sorted(POLICIES))
def test_no_policy_allows_everything(name: str) -> None:
    names = set().union(*POLICIES[name].rights.values())

    # A client's name ends with the number of its process; that is all that may be left open.
    assert {x for x in names if '*' in x} <= {f'/{NAMESPACE}/bbllm_*/get_type_description'}


@pytest.mark.skipif(
    importlib.util.find_spec('sros2') is None,
    reason='sros2 is not installed: it comes with ROS 2, but not from PyPI',
)
@pytest.mark.parametrize('name', sorted(POLICIES))
def test_policy_is_valid_by_the_schema_of_sros2(name: str) -> None:
    from sros2.policy import load_policy

    load_policy(POLICIES[name].file)
