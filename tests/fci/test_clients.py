"""Unmodified franky and pylibfranka drive the arm of the simulated table."""

import json
import subprocess
import sys
import time

import pytest

from bbllm.robots.fr3 import FR3
from bbllm_fci.process import ANSWER_S, TableProcess
from tests.fci.conftest import height_m, run_client

FRANKY = """
import json, sys
import franky

robot = franky.Robot(sys.argv[1], realtime_config=franky.RealtimeConfig.Ignore)
robot.recover_from_errors()
robot.relative_dynamics_factor = 0.06

def outcome(motion):
    try:
        robot.move(motion)
    except (franky.ControlException, franky.CommandException) as error:
        return str(error)
    return ''
"""
TURN = """
q = list(robot.state.q)
q[0] += 0.6 if q[0] < 0.3 else -0.6
turn = franky.JointMotion(q)
"""
PICK = """
x, y = 0.45, 0.16
gripper = franky.Gripper(sys.argv[1])
gripper.homing()
down = robot.state.O_T_EE.quaternion
for z in (0.15, 0.02):
    robot.move(franky.CartesianMotion(franky.Affine([x, y, z], down)))
held = gripper.grasp(0.04, 0.05, 40.0, epsilon_inner=0.01, epsilon_outer=0.01)
robot.move(franky.CartesianMotion(franky.Affine([x, y, 0.25], down)))
print(json.dumps([held, gripper.is_grasped, gripper.width]))
"""
STATES = """
import json, sys
import pylibfranka

robot = pylibfranka.Robot(sys.argv[1], pylibfranka.RealtimeConfig.kIgnore)
states = [robot.read_once() for _ in range(50)]
print(json.dumps({
    'ms': [round(state.time.to_sec() * 1000) for state in states],
    'q': list(states[-1].q),
    'ee_kg': states[-1].m_ee,
    'mode': states[-1].robot_mode.name,
}))
"""
CONNECT = """
import json, sys
import pylibfranka

try:
    pylibfranka.Robot(sys.argv[1], pylibfranka.RealtimeConfig.kIgnore)
except pylibfranka.NetworkException as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps(''))
"""
STAY = """
import sys, time
import pylibfranka

robot = pylibfranka.Robot(sys.argv[1], pylibfranka.RealtimeConfig.kIgnore)
print('connected', flush=True)
time.sleep(600)
"""
DOWN = """
import threading
robot.set_collision_behavior([5.0] * 7, [10.0] * 7, [5.0] * 6, [10.0] * 6)
at = robot.state.O_T_EE
below = [0.5, -0.12, -0.02]
robot.move(franky.CartesianMotion(franky.Affine([0.5, -0.12, 0.1], at.quaternion)))
first = outcome(franky.CartesianMotion(franky.Affine(below, at.quaternion)))
mode = str(robot.state.robot_mode)
robot.recover_from_errors()
robot.set_collision_behavior([20.0] * 7, [40.0] * 7, [20.0] * 6, [40.0] * 6)
up = outcome(franky.CartesianMotion(franky.Affine([0, 0, -0.1]), franky.ReferenceType.Relative))
print(json.dumps([first, mode, up]))
"""
STOPPED = """
q = list(robot.state.q)
q[0] += 1.2 if q[0] < 0.3 else -1.2
print('moving', flush=True)
first = outcome(franky.JointMotion(q))
mode = str(robot.state.robot_mode)
again = outcome(turn)
try:
    robot.recover_from_errors()
except franky.CommandException as error:
    refused = str(error)
print(json.dumps([first, mode, again, refused]))
"""


def test_franky_lifts_a_cube_of_the_table(served: TableProcess) -> None:
    served.send('reset')
    assert height_m(served, 'red_cube') == pytest.approx(0.02, abs=0.002)

    held, is_grasped, width_m = run_client(FRANKY + PICK, served.address)

    assert (held, is_grasped) == (True, True)
    assert 0.038 < width_m < 0.05
    assert height_m(served, 'red_cube') == pytest.approx(0.25, abs=0.01)


def test_the_readiness_probe_of_franka_sim_passes(served: TableProcess) -> None:
    probe_at = ['franka_sim.health_check', '--host', served.address, '--timeout', str(ANSWER_S)]

    probe = subprocess.run(
        [sys.executable, '-m', *probe_at], capture_output=True, text=True, timeout=2 * ANSWER_S
    )

    assert probe.returncode == 0, probe.stderr
    assert 'protocol v10' in probe.stdout


def test_states_count_milliseconds_and_describe_the_hand(served: TableProcess) -> None:
    served.send('reset')

    read = run_client(STATES, served.address)

    steps = [after - before for before, after in zip(read['ms'], read['ms'][1:], strict=False)]
    assert min(steps) >= 1
    assert read['mode'] == 'Idle'
    assert read['q'] == pytest.approx(FR3.home_rad, abs=0.001)
    assert 0.6 < read['ee_kg'] < 0.8


def test_a_collision_is_a_reflex_that_a_client_recovers_from(served: TableProcess) -> None:
    served.send('reset')

    first, mode, up = run_client(FRANKY + DOWN, served.address)

    assert 'reflex' in first and '_reflex"' in first, first
    assert mode == 'RobotMode.Reflex'
    assert up == ''


def test_the_user_stop_ends_a_motion_and_refuses_the_next(served: TableProcess) -> None:
    served.send('reset')
    with subprocess.Popen(
        [sys.executable, '-c', FRANKY + TURN + STOPPED, served.address],
        stdout=subprocess.PIPE,
        text=True,
    ) as client:
        assert client.stdout is not None and client.stdout.readline() == 'moving\n'
        time.sleep(1.0)  # the motion takes 5 s and more
        served.send('fault user_stop')
        first, mode, again, refused = json.loads(client.communicate(timeout=ANSWER_S)[0])
    served.send('clear user_stop')

    assert 'User Stop pressed!' in first
    assert mode == 'RobotMode.UserStopped'
    assert 'command not possible in the current mode ("User stopped")' in again
    assert 'User Stop pressed!' in refused
    # The next client recovers, and moves.
    moved = run_client(FRANKY + TURN + 'print(json.dumps(outcome(turn)))', served.address)
    assert moved == ''


def test_a_second_client_is_refused_until_the_first_has_gone(served: TableProcess) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', STAY, served.address], stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None and first.stdout.readline() == 'connected\n'
        assert 'TCP connection got interrupted' in run_client(CONNECT, served.address)
        first.kill()
    end_s = time.monotonic() + ANSWER_S
    while run_client(CONNECT, served.address):
        assert time.monotonic() < end_s, 'the server did not notice that its client was killed'
