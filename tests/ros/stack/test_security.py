"""Policies of SROS 2: each node may do exactly what it does, and only a person may approve."""

import pytest
import yaml

from bbllm.core.constants import NAMESPACE
from bbllm.core.paths import config_dir
from bbllm_ros.stack.namespaced_files import view_file
from bbllm_ros.stack.stack import NODES, PERCEPTION, node_arguments
from tests.ros.policies import FOLDER, policies

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
