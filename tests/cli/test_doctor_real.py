"""What `bbllm doctor --real` says of a robot, its driver and the nodes."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import Result

from bbllm.core.findings import Finding, Level
from bbllm_franka.address import ROBOT_IP
from bbllm_ros.checks import real_arm
from bbllm_ros.checks.real_arm import (
    BEST_EFFORT,
    CONTROLLERS,
    HAND,
    LATCHED,
    NODES,
    RECOVERY,
    RELIABLE,
    STATE,
    RealArm,
    judge_graph,
)
from bbllm_ros.driver.robot_graph import Giver, ReceivedStates, RobotGraph

Command = Callable[..., Result]
JOINTS = tuple(f'fr3_joint{i}' for i in range(1, 8))
FINGERS = ('fr3_finger_joint1', 'fr3_finger_joint2')
ARM = ReceivedStates(names=JOINTS, count=900, rate_hz=900.0, news=True, position=(0.0,) * 7)
FINGER_JOINTS = ReceivedStates(
    names=FINGERS, count=20, rate_hz=15.0, news=True, position=(0.04, 0.04)
)


def giver(*, reliable: bool = True, latched: bool = False) -> Giver:
    return Giver(node='driver', type='a/msg/B', reliable=reliable, latched=latched)


HEALTHY = RobotGraph(
    nodes=frozenset((*NODES, 'controller_manager')),
    topics={
        **{name: (giver(),) for name in RELIABLE},
        **{name: (giver(latched=True),) for name in LATCHED},
        **{name: (giver(reliable=False),) for name in BEST_EFFORT},
    },
    services=frozenset(RECOVERY[1:]) | {'franka_gripper/stop'},
    actions=frozenset(f'franka_gripper/{name}' for name in HAND[:-1]) | {RECOVERY[0]},
    controllers=dict.fromkeys(CONTROLLERS, 'active'),
    hardware={'FrankaHardwareInterface': 'active'},
    arm=ARM,
    hand=FINGER_JOINTS,
    robot_mode=2,
    success_rate=0.999,
    executor={'approval': 'plan', 'simulated': False, 'safety': ''},
)


def judged(graph: RobotGraph, gripper: str = 'franka_gripper') -> list[Finding]:
    return list(judge_graph(graph, RealArm(namespace='bbllm', gripper=gripper)))


def test_a_healthy_robot_has_one_step_left_to_do_by_hand() -> None:
    found = judged(HEALTHY)

    assert {item.name for item in found if item.level is Level.WARN} == {'homed'}
    assert not [item for item in found if item.level is Level.FAIL]
    homed = next(item for item in found if item.name == 'homed')
    assert 'no interface reports whether' in homed.text
    assert '/bbllm/franka_gripper/homing' in homed.remedy


def test_a_simulated_robot_needs_no_homing_and_nobody_to_approve() -> None:
    graph = replace(
        HEALTHY,
        nodes=HEALTHY.nodes | {'mujoco_sim'},
        executor={'approval': 'none', 'simulated': True, 'safety': ''},
    )

    assert {item.level for item in judged(graph)} == {Level.OK}


def topic(name: str, *givers: Giver) -> dict[str, tuple[Giver, ...]]:
    return {**HEALTHY.topics, name: givers}


OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL


@pytest.mark.parametrize(
    ('changes', 'check', 'level', 'printed', 'remedy'),
    [
        ({'hardware': {'FrankaHardwareInterface': 'unconfigured'}},
         'hardware', FAIL, 'is unconfigured', 'error_recovery'),
        ({'hardware': {'left_FrankaHardwareInterface': 'active'}},
         'hardware', OK, 'left_FrankaHardwareInterface is active', ''),
        ({'controllers': dict.fromkeys(CONTROLLERS[:2], 'active')},
         'control', FAIL, 'fr3_arm_controller is not loaded', 'spawner fr3_arm_controller'),
        ({'controllers': dict.fromkeys(CONTROLLERS, 'inactive')},
         'control', FAIL, 'joint_state_broadcaster is inactive', '--activate joint_state_b'),
        ({'topics': topic(BEST_EFFORT[0], giver())},
         'qos', WARN, 'since 3.3.0 sends it best effort', 'Another driver'),
        ({'topics': topic('franka/joint_states', giver(reliable=False))},
         'qos', FAIL, 'joint_states: best effort from driver', 'may get nothing'),
        ({'topics': topic('controller_manager/activity', giver())},
         'qos', FAIL, 'sends it reliable, latched', 'nothing from before'),
        ({'topics': {k: v for k, v in HEALTHY.topics.items() if k != f'{STATE}/robot_state'}},
         'topics', FAIL, f'nobody publishes {STATE}/robot_state', 'franka_real.launch.py'),
        ({'arm': replace(ARM, news=False)},
         'joints', FAIL, 'their stamps stand still', 'start the driver anew'),
        ({'arm': replace(ARM, names=tuple(f'fer_joint{i}' for i in range(1, 8)))},
         'joints', FAIL, 'lacks fr3_joint1', 'robot_type:=fr3'),
        ({'robot_mode': 5}, 'mode', FAIL, 'user stopped', 'Release the user stop'),
        ({'robot_mode': 4, 'errors': ('cartesian_reflex',)},
         'mode', WARN, 'reflex; errors: cartesian_reflex', 'the next task recovers'),
        ({'robot_mode': 0}, 'mode', FAIL, 'mode other', 'Unlock the joints'),
        ({'success_rate': 0.9}, 'mode', WARN, '90.0 %', 'network'),
        ({'actions': frozenset({'action_server/error_recovery'}), 'hand': None},
         'gripper', FAIL, 'missing: franka_gripper/homing', 'franka_real.launch.py'),
        ({'nodes': HEALTHY.nodes - {'body_mapper'}},
         'nodes', FAIL, 'missing: body_mapper', 'franka_nodes.launch.py'),
        ({'executor': {'approval': 'none', 'simulated': False}},
         'approval', FAIL, 'without anybody having allowed it', 'approval:=plan'),
        ({'executor': None},
         'approval', FAIL, 'fr3_executor does not answer', 'franka_nodes.launch.py'),
        ({'executor': {'approval': 'plan', 'simulated': True}},
         'approval', FAIL, 'takes the robot for a simulated one', 'simulated:=true'),
        ({'services': HEALTHY.services - {'service_server/set_load'}},
         'recovery', FAIL, 'missing: service_server/set_load', 'franka_real.launch.py'),
        ({'cameras': {'table_camera': 'The camera table_camera is covered.', 'hand_camera': ''}},
         'camera', FAIL, 'table_camera is covered', 'docs/perception.md'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_with_a_way_out(
    changes: dict[str, Any], check: str, level: Level, printed: str, remedy: str
) -> None:
    found = judged(replace(HEALTHY, **changes))

    fitting = [item for item in found if item.name == check and printed in item.text]
    assert [item.level for item in fitting] == [level], found
    assert remedy in fitting[0].remedy


def test_another_prefix_of_the_hand_and_another_namespace_are_named() -> None:
    graph = RobotGraph(services=frozenset({'/left/controller_manager/list_controllers'}))

    hand = next(x for x in judged(HEALTHY, gripper='fr3_gripper') if 'fr3_gripper/hom' in x.text)
    manager = next(item for item in judged(graph) if item.name == 'manager')

    assert 'there is franka_gripper/grasp: --gripper' in hand.text
    assert 'there is /left/controller_manager: --namespace' in manager.text


def test_where_nothing_runs_there_is_one_line_for_the_driver_and_one_for_the_nodes() -> None:
    found = judged(RobotGraph())

    assert [(item.name, item.level) for item in found] == [
        ('manager', Level.FAIL),
        ('nodes', Level.FAIL),
    ]
    assert 'nothing else of a driver is there' in found[0].text
    assert 'franka_real.launch.py' in found[0].remedy
    assert found[1].remedy == 'The line above starts these too.'


@pytest.mark.parametrize('simulated', [True, False])
def test_network_of_a_simulated_robot_is_not_measured(
    simulated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = {'mujoco_sim'} if simulated else set()
    graph = replace(HEALTHY, nodes=HEALTHY.nodes | extra)
    measured: list[str] = []
    for name in ('missing_ros', 'joins'):
        monkeypatch.setattr(real_arm, name, lambda: None)
    monkeypatch.setattr(
        real_arm,
        'check_network',
        lambda address: measured.append(address) or Finding('network', Level.FAIL, ''),
    )
    monkeypatch.setattr('bbllm_ros.driver.real_probe.probe', lambda *_: graph)

    found = list(real_arm.check_real_arm(real_arm.RealArm(), lambda doing: None))

    assert measured == ([] if simulated else ['172.16.0.2'])
    level = Level.OK if simulated else Level.FAIL
    assert [item.level for item in found if item.name == 'network'] == [level]


def test_the_report_of_a_real_arm_is_one_object(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def observe(arm: Any, report: Callable[[str], None]) -> list[Finding]:
        seen.append(arm)
        return [Finding('network', Level.OK, 'good'), Finding('mode', Level.FAIL, 'bad', 'do it')]

    monkeypatch.setattr('bbllm_bench.commands.doctor.check_real_arm', observe)

    result = bbllm(
        'doctor', '--real', '--namespace', '/left', '--gripper', 'fr3_gripper', '--json'
    )

    data = json.loads(result.stdout)
    assert (result.exit_code, data['arm_ready']) == (1, False)
    assert [item['level'] for item in data['findings']] == ['ok', 'fail']
    assert (seen[0].namespace, seen[0].gripper) == ('left', 'fr3_gripper')
    assert seen[0].robot_ip == ROBOT_IP
    without = bbllm('doctor', '--ip', '127.0.0.1')
    assert (without.exit_code, '--ip: only with --fr3 or --real' in without.output) == (2, True)
