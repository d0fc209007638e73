"""How states of a robot, its hand and its connection are judged, and which command comes next."""

import numpy as np
import pytest

from bbllm.arm.driver import RobotMode
from bbllm.arm.robot_settings import T_FLANGE_NOMINAL, Load
from bbllm.arm.robot_state import Mounted
from bbllm.core.findings import Finding, Level, fail, ok, warn
from bbllm_franka.checks.fr3 import RobotToCheck, next_step
from bbllm_franka.checks.mode import MODES, judge_mode
from bbllm_franka.checks.states import (
    judge_quality,
    judge_tool,
)
from bbllm_franka.messages import LinkQuality

ROBOT = RobotToCheck(address='172.16.0.2')


def settings(mass_kg: float = 0.73, load_kg: float = 0.0, length_m: float = 0.1034) -> Mounted:
    frame = T_FLANGE_NOMINAL.copy()
    frame[2, 3] = length_m
    return Mounted(
        tool=Load(mass_kg=mass_kg),
        load=Load(mass_kg=load_kg),
        T_flange_ee=frame,
        T_ee_stiffness=np.eye(4),
    )


def test_every_mode_is_judged_and_a_newer_one_is_named() -> None:
    assert set(MODES) == set(RobotMode)
    assert judge_mode(RobotMode.IDLE, ()).level is Level.OK
    stopped = judge_mode(RobotMode.USER_STOPPED, ())
    assert (stopped.level, 'Execution' in stopped.remedy) == (Level.FAIL, True)
    assert judge_mode(9, ()).text == 'the robot is in mode 9, which is unknown'


def test_errors_of_now_and_of_the_last_motion_are_listed() -> None:
    found = judge_mode(RobotMode.REFLEX, ['cartesian_reflex'], ['joint_reflex'])

    assert 'errors: cartesian_reflex' in found.text
    assert 'the last motion was ended by joint_reflex' in found.text


@pytest.mark.parametrize(
    ('share', 'widest_s', 'simulated', 'level'),
    [
        (0.999, 0.002, False, Level.OK),
        (0.9, 0.002, False, Level.FAIL),
        (0.999, 0.03, False, Level.FAIL),
        (0.9, 0.002, True, Level.WARN),
    ],
)
def test_a_computer_that_does_not_keep_up_is_unfit_for_a_robot(
    share: float, widest_s: float, simulated: bool, level: Level
) -> None:
    quality = LinkQuality(share=share, widest_s=widest_s, prioritized=False)

    found = judge_quality(quality, simulated=simulated)

    assert found.level is level
    assert f'{share:.1%}' in found.text and 'without real-time priority' in found.text


@pytest.mark.parametrize(
    ('found', 'stated_kg', 'levels'),
    [
        (settings(), 0.0, [Level.OK, Level.OK]),
        (settings(mass_kg=0.0), 0.0, [Level.WARN, Level.OK]),
        (settings(length_m=0.2), 0.0, [Level.WARN, Level.OK]),
        (settings(load_kg=0.5), 0.0, [Level.OK, Level.FAIL]),
        (settings(load_kg=0.5), 0.5, [Level.OK, Level.OK]),
        (settings(), 0.5, [Level.OK, Level.FAIL]),
    ],
)
def test_tool_and_load_are_compared_with_the_hand_and_with_what_was_stated(
    found: Mounted, stated_kg: float, levels: list[Level]
) -> None:
    tool, load = judge_tool(found, stated_kg)

    assert [tool.level, load.level] == levels
    assert (load.level is Level.OK) or '--load' in load.remedy


@pytest.mark.parametrize(
    ('robot', 'findings', 'last'),
    [
        (ROBOT, [], '--ip 172.16.0.2 --scene my_table.yaml'),
        (ROBOT, [warn('kernel', '', 'x')], '--scene my_table.yaml --realtime ignore'),
        (RobotToCheck(address='127.0.0.2'), [warn('kernel', '', 'x')], '--simulated-robot'),
        (RobotToCheck(address='172.16.0.2', load_kg=0.5), [], '--load 0.5'),
        (ROBOT, [ok('wheels', ''), fail('fci', '', 'a'), fail('mode', '', 'b')], 'doctor'),
    ],
)
def test_the_next_command_follows_from_what_was_found(
    robot: RobotToCheck, findings: list[Finding], last: str
) -> None:
    *_, command = next_step(robot, findings).splitlines()

    if last == 'doctor':
        assert next_step(robot, findings) == 'a\nbbllm doctor --fr3 --ip 172.16.0.2'
    else:
        assert command.startswith("bbllm run 'put the red cube") and command.endswith(last)
