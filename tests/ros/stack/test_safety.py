"""The safety envelope in the nodes: its file, its refusals, and the age of the scene."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from bbllm_interfaces.msg import Scene as SceneMsg
from bbllm_interfaces.srv import ResetSim, SetObjectMass
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from bbllm.api.config import RuleChoice
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ConfigError, LostNodeError
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm_ros.convert.records import LATCHED
from bbllm_ros.estimator.safety_envelope import SceneAge
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack import service_clients
from bbllm_ros.stack.service_clients import FRESH_S, ExecutorSettingsClient
from bbllm_ros.stack.stack import NODES, Stack, StackConfig
from bbllm_ros.stack.stack_checks import check_params, node_values
from tests.doubles.fork_server import serve_module
from tests.ros.members import member
from tests.ros.stacks import PATIENCE_S, Running, started, until

pytestmark = pytest.mark.ros

ARM = ('state_estimator', 'fr3_executor', 'mujoco_sim')
HEAVY_KG = 0.85
"""Weighs 8.3 N, which is less than a lift may take; joint 2 feels 5 Nm of it, and of a light cube
less than 1 Nm."""


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    with member('listener', 'bbllm') as node:
        yield node


def test_the_executor_refuses_what_the_file_forbids_and_nothing_moves(
    ros_domain: int, tmp_path: Path
) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('workspace: {min_m: [0.2, -0.01, -0.02], max_m: [0.32, 0.01, 0.6]}')

    received: list[list[float]] = []
    with started(ARM, params={'fr3_executor': {'safety': str(path)}}) as running:
        running.client.node.create_subscription(
            JointState, 'franka/joint_states', lambda msg: received.append(list(msg.position)), 100
        )
        until(lambda: received, 'joint states')
        outcome = running.client.execute(SkillCall('pick', ('red_cube',)))
        count = len(received)
        until(lambda: len(received) > count, 'joint states after the call')

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE)
    assert 'the safety rule workspace forbids moving above red_cube' in outcome.message
    assert all(position == pytest.approx(received[0], abs=1e-3) for position in received)


def test_the_executor_keeps_constraints_in_plain_words_and_does_all_else(ros_domain: int) -> None:
    words = {'never': 'touch the white cylinder; place anything on location_B'}
    calls = (
        SkillCall('pick', ('white_cylinder',)),
        SkillCall('pick', ('red_cube',)),
        SkillCall('place', ('location_B',)),
        SkillCall('place', ('location_D',)),
    )
    with started(ARM, params={'fr3_executor': words}) as running:
        before = running.client.scene().object('white_cylinder').pose
        outcomes = [running.client.execute(call) for call in calls]
        after = running.client.scene().object('white_cylinder').pose

    taken, picked, put, placed = outcomes
    for outcome, rule in ((taken, 'touch white_cylinder'), (put, 'place anything on location_B')):
        assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE), outcome
        assert f"the constraint 'never {rule}' forbids {outcome.call}" in outcome.message
        assert outcome.message.endswith('would do.')
    assert picked.succeeded and placed.succeeded, outcomes
    assert after.position_m == pytest.approx(before.position_m, abs=1e-3)


@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        (
            {'never': 'move any cube; touch the cat'},
            "'never touch the cat' cannot be kept: it names",
        ),
        ({'never': 'move any cube; eat'}, "'eat' is no constraint; write `touch OBJECT`"),
        ({'keep_out': '0 0 0 1 1 1; 1 2 3'}, "'1 2 3' is no box; write two opposite corners"),
    ],
)
def test_constraints_of_a_simulated_stack_are_checked_before_a_node_starts(
    given: dict[str, Value], expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_params(NODES, {'fr3_executor': given}, simulated=True)

    assert expected in str(caught.value)


def test_rules_of_another_type_than_text_are_read_and_an_unusable_one_is_an_error(
    monkeypatch: pytest.MonkeyPatch, node: Node
) -> None:
    values = node_values('fr3_executor', simulated=True)
    reply = GetParameters.Response()
    call = SimpleNamespace(run=lambda *_, **__: reply)
    monkeypatch.setattr(service_clients, 'ServiceCall', lambda *_: call)
    client = ExecutorSettingsClient(node, ReentrantCallbackGroup())

    def constraints(**changed: object) -> list[str]:
        given = [{**values, **changed}[name] for name in RuleChoice.model_fields]
        reply.values = [Parameter('x', value=value).get_parameter_value() for value in given]
        return client.constraints(CancelToken())

    assert constraints(never=['touch the cat', 'move any cube']) == [
        'never touch the cat',
        'never move any cube',
    ]
    with pytest.raises(ConfigError, match='cannot be read by this node: never cannot be 3'):
        constraints(never=3)
    reply.values = []  # as rclpy answers where one is not declared
    with pytest.raises(ConfigError, match='fr3_executor lacks a parameter of never'):
        client.constraints(CancelToken())


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('tcp_sped: {max_m_s: 1}', "unknown field 'tcp_sped'; did you mean 'tcp_speed'?"),
        ('contact_force: {max_n: 12}', 'A lift_cap_n of 5.1 N or less would do'),
    ],
)
def test_an_executor_whose_safety_file_cannot_be_used_does_not_start(
    ros_domain: int, tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(text)
    given = {'fr3_executor': {'safety': str(path)}}
    config = StackConfig(nodes=('fr3_executor',), params=given, start=serve_module)

    with Stack(config) as stack, pytest.raises(LostNodeError, match='fr3_executor') as caught:
        stack.wait_ready(PATIENCE_S)

    assert expected in str(caught.value)
    assert 'Traceback' not in str(caught.value)


@pytest.fixture
def spun(node: Node) -> Iterator[SingleThreadedExecutor]:
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    yield executor
    executor.shutdown()


def test_a_scene_that_was_latched_long_ago_does_not_count(
    node: Node, spun: SingleThreadedExecutor
) -> None:
    publisher = node.create_publisher(SceneMsg, 'scene', LATCHED)
    publisher.publish(SceneMsg())
    latched: list[SceneMsg] = []
    node.create_subscription(SceneMsg, 'scene', latched.append, LATCHED)
    age = SceneAge(node, ReentrantCallbackGroup(), max_age_s=0.0)

    def spin_until(received: object) -> None:
        def observe() -> bool:
            spun.spin_once(timeout_sec=0.01)
            return bool(received() if callable(received) else received)

        until(observe, 'scene')

    spin_until(lambda: latched and publisher.get_subscription_count() == 2)
    assert age() == float('inf')

    publisher.publish(SceneMsg())
    spin_until(lambda: len(latched) == 2)
    spun.spin_once(timeout_sec=0.1)
    received_s = time.monotonic()

    assert age() < time.monotonic() - received_s + PATIENCE_S


def lift(running: Running) -> Outcome:
    assert running.ask(ResetSim, 'sim/reset').success
    assert running.ask(
        SetObjectMass, 'sim/set_object_mass', name='red_cube', mass=HEAVY_KG
    ).success
    until(lambda: running.client.scene().held is None, 'scene of an empty hand')
    time.sleep(FRESH_S)  # the scene that the executor has may be as old
    return running.client.execute(SkillCall('pick', ('red_cube',)))


@pytest.mark.parametrize(
    ('most_nm', 'ended'),
    [
        pytest.param(35.0, (Status.SUCCEEDED, Code.NONE), marks=pytest.mark.slow),
        (3.0, (Status.FAILED, Code.REFLEX)),
    ],
)
def test_what_is_heavier_than_the_file_allows_stops_the_arm(
    ros_domain: int, tmp_path: Path, most_nm: float, ended: tuple[Status, Code]
) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(f'contact_force: {{max_joint_nm: [35, {most_nm}, 32, 30, 29, 27, 24]}}')

    with started(ARM, params={'fr3_executor': {'safety': str(path)}}) as running:
        # Twice: it also holds after a reset of the table, and after the recovery of the first.
        outcomes = [lift(running) for _ in range(2)]

    assert [(outcome.status, outcome.code) for outcome in outcomes] == [ended] * 2, outcomes
