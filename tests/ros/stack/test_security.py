"""Policies of SROS 2: each node may do exactly what it does, and only a person may approve."""

import importlib.util
from pathlib import Path

import pytest
import yaml

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm_ros.stack.namespaced_files import view_file, write_policies
from bbllm_ros.stack.stack import NODES, PERCEPTION, node_arguments
from tests.ros.policies import FOLDER, policies, read

pytestmark = pytest.mark.ros

POLICIES = policies()
STACK = (*NODES, PERCEPTION)
TRANSFORMS = {'/tf', '/tf_static'}
"""Of a real arm; a simulation has its own in its namespace."""


def who(right: str, name: str) -> set[str]:
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


def test_policy_of_rviz_allows_what_its_file_shows() -> None:
    rviz = yaml.safe_load((config_dir() / 'rviz' / 'bbllm.rviz').read_text())
    displays = rviz['Visualization Manager']['Displays']
    topics = [x.get('Topic') or x.get('Description Topic') for x in displays]
    rights = POLICIES['rviz'].rights

    shown = {topic['Value'] for topic in topics if topic}
    every_node_of_rclcpp = {'/parameter_events'}
    assert rights['subscribe'] == {
        *shown,
        *TRANSFORMS,
        *(f'/{NAMESPACE}{name}' for name in TRANSFORMS),
        *every_node_of_rclcpp,
    }
    assert rights['publish'] == {'/rosout', *every_node_of_rclcpp}
    assert not rights['request'] | rights['call'] | rights['execute']


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


def test_only_programs_of_a_person_may_approve_begin_tasks_and_talk_to_the_planner() -> None:
    assert who('request', 'approve') == {'client'}
    assert who('reply', 'approve') == {'fr3_executor'}
    assert who('publish', 'approval') == {'fr3_executor'}
    assert who('publish', 'human_feedback') == set()
    assert who('request', 'say') == {'client'}
    assert who('call', 'run_task') == {'client'}


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
def test_policy_does_not_allow_everything(name: str) -> None:
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
