"""The nodes as managed nodes: what a lifecycle manager can do with them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Log

from bbllm.core.errors import LostNodeError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code, SkillCall
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import NODES, Stack, StackConfig
from tests.doubles.fork_server import serve_module
from tests.ros.robots import Robot
from tests.ros.stacks import Background, Running, real_time, set_parameter, until

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
UP = (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
DOWN = (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP)


@pytest.fixture(scope='module')
def managed(ros_domain: int) -> Iterator[Running]:
    given = {node: {'autostart': False} for node in NODES}
    given['mujoco_sim']['speed'] = 0.0  # type: ignore[assignment]  # another parameter's type
    config = StackConfig(params=given, start=serve_module)  # type: ignore[arg-type]  # dicts of one type each
    with Stack(config) as stack, StackClient(config.namespace) as client:
        running = Running(stack, client)
        for node in NODES:
            until(lambda node=node: node in client.node.get_node_names(), node)
        yield running


def state_of(running: Running, node: str) -> int:
    return int(running.ask(GetState, f'{node}/get_state').current_state.id)


def change(running: Running, node: str, *transitions: int) -> None:
    for transition in transitions:
        reply = running.ask(
            ChangeState, f'{node}/change_state', transition=Transition(id=transition)
        )
        assert reply.success, f'{node} {transition}'


def test_unconfigured_nodes_serve_nothing_and_a_manager_brings_them_up_and_down_and_up_again(
    managed: Running,
) -> None:
    assert {state_of(managed, node) for node in NODES} == {State.PRIMARY_STATE_UNCONFIGURED}
    assert set(managed.client.missing(NODES)) == set(NODES)

    for transitions in (UP, DOWN, UP):
        for node in NODES:
            change(managed, node, *transitions)
    managed.client.wait_ready(NODES, 60.0)

    assert {state_of(managed, node) for node in NODES} == {State.PRIMARY_STATE_ACTIVE}
    assert managed.run(TASK).ending is Ending.FINISHED


def test_deactivated_executor_has_stopped_the_arm_and_serves_again_after_activation(
    managed: Running,
) -> None:
    managed.client.wait_ready(NODES, 60.0)
    robot = Robot(managed)
    activity: list[str] = []
    assert set_parameter(managed, 'fr3_executor', 'speed_scale', 0.1) == ''
    with real_time(managed):
        call = Background(
            lambda: managed.client.execute(
                SkillCall('pick', ('green_cube',)), on_activity=activity.append
            )
        )
        until(lambda: activity, 'begin of the call')

        change(managed, 'fr3_executor', Transition.TRANSITION_DEACTIVATE)

        with suppress(LostNodeError):  # its server may be gone before its result is there
            assert call.result().code is Code.CANCELLED
    robot.begin()
    assert robot.stood_still()
    change(managed, 'fr3_executor', Transition.TRANSITION_ACTIVATE)
    managed.client.wait_ready(NODES, 60.0)
    assert set_parameter(managed, 'fr3_executor', 'speed_scale', 1.0) == ''
    assert managed.client.execute(SkillCall('return_to_base', ())).succeeded


def test_transition_that_is_not_possible_is_refused_and_ends_nothing(managed: Running) -> None:
    request = Transition(id=Transition.TRANSITION_ACTIVATE)

    assert not managed.ask(ChangeState, 'body_mapper/change_state', transition=request).success

    assert state_of(managed, 'body_mapper') == State.PRIMARY_STATE_ACTIVE
    managed.stack.check()


def test_parameter_that_cannot_be_used_leaves_the_node_unconfigured_with_its_reason(
    managed: Running,
) -> None:
    logs: list[Log] = []
    managed.client.node.create_subscription(Log, '/rosout', logs.append, 100)
    change(managed, 'body_mapper', *DOWN)
    assert set_parameter(managed, 'body_mapper', 'llm_config', '/no/such.yaml') == ''

    configure = Transition(id=Transition.TRANSITION_CONFIGURE)
    assert not managed.ask(ChangeState, 'body_mapper/change_state', transition=configure).success

    until(lambda: any('/no/such.yaml' in log.msg for log in logs), 'reason in /rosout')
    assert state_of(managed, 'body_mapper') == State.PRIMARY_STATE_UNCONFIGURED
    assert set_parameter(managed, 'body_mapper', 'llm_config', '') == ''
    change(managed, 'body_mapper', *UP)
    managed.client.wait_ready(NODES, 60.0)


def test_parameters_change_when_they_can(managed: Running) -> None:
    managed.client.wait_ready(NODES, 60.0)

    assert set_parameter(managed, 'brain_planner', 'feedback_loops', 2) == ''
    assert set_parameter(managed, 'fr3_executor', 'speed_scale', 0.5) == ''
    assert 'out of range' in set_parameter(managed, 'fr3_executor', 'speed_scale', 7.0)
    assert 'read-only' in set_parameter(managed, 'fr3_executor', 'approval', 'none')
    assert 'inactive' in set_parameter(managed, 'brain_planner', 'planner', 'llm_pop')

    result = managed.run('put the red cube on location_H')  # out of reach: it takes repairs
    assert result.feedback_loops <= 2


def test_dynamic_parameter_is_refused_in_the_middle_of_a_task(managed: Running) -> None:
    with real_time(managed):
        task = managed.begin('wait for 60 seconds')
        managed.wait_for(EventKind.CALL)

        reason = set_parameter(managed, 'brain_planner', 'feedback_loops', 2)

        managed.client.cancel()
        task.result()
    assert 'at rest only: the episode' in reason


LATE = """
import threading, time
from std_srvs.srv import Trigger
from bbllm_ros.rclpy_support.stack_node import StackNode, run

class Late(StackNode):
    def build(self):
        self.client = self.create_client(Trigger, 'nobody_serves_it')
        self.begun, self.returned = threading.Event(), threading.Event()
    def begin(self):
        self.every(0.01, self.use_late)
    def use_late(self):
        self.begun.set()
        try:
            while True:
                self.client.service_is_ready()
                time.sleep(0.001)
        finally:
            self.returned.set()

def down_and_up(node):
    while node._state_machine.current_state[1] != 'active' or not node.begun.is_set():
        time.sleep(0.01)
    returned = node.returned
    node.trigger_deactivate()
    assert returned.wait(60.0)
    print('returned', flush=True)
    time.sleep(0.1)  # a fault would have been reported by then
    os.kill(os.getpid(), 15)

import os
def make():
    node = Late('late')
    threading.Thread(target=down_and_up, args=[node], daemon=True).start()
    return node
run(make)
"""


def test_a_callback_under_way_that_meets_what_was_destroyed_is_no_fault_of_the_node(
    ros_domain: int,
) -> None:
    done = subprocess.run(
        [sys.executable, '-c', LATE], capture_output=True, text=True, timeout=120.0, check=False
    )

    assert 'returned' in done.stdout, done.stderr
    assert (done.returncode, 'InvalidHandle' in done.stderr) == (0, False), done.stderr
