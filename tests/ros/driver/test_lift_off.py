"""A lift over ROS: what is fixed is told by the force, and the robot never has to stop itself."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controller_manager_msgs.srv import SwitchController
from franka_msgs.msg import FrankaRobotState

from bbllm.arm.driver import GoalStatus, Tolerances
from bbllm.arm.force_estimator import SilentForceError
from bbllm.core.types import Code, SkillCall, Status
from bbllm_ros.driver.activity_feed import STATE_BROADCASTER
from bbllm_ros.driver.ros_driver import RosDriver
from tests.ros.drivers import move
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

SCENE = """
objects:
  - {name: red_cube, kind: cube, color: red, xy: [0.45, 0.15], yaw_deg: 20, fixed: true}
  - {name: blue_cube, kind: cube, color: blue, xy: [0.5, -0.15]}
"""
ARM = ('state_estimator', 'fr3_executor', 'mujoco_sim')
LONG = (2.0, 20.0)
"""A motion that lasts until it is stopped, also where a test is kept waiting [rad, s]."""
STATE = f'{STATE_BROADCASTER}/robot_state'


@pytest.mark.parametrize('speed', [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_a_fixed_block_ends_its_pick_without_a_reflex_and_the_next_one_goes_on(
    ros_domain: int, tmp_path: Path, speed: float
) -> None:
    path = tmp_path / 'fixed.yaml'
    path.write_text(SCENE)
    stopped: list[FrankaRobotState] = []

    def receive(msg: FrankaRobotState) -> None:
        if msg.robot_mode == FrankaRobotState.ROBOT_MODE_REFLEX:
            stopped.append(msg)

    params = {'mujoco_sim': {'scene': str(path), 'speed': speed, 'seed': 5}}
    with started(ARM, params=params, speed=speed) as running:
        running.client.node.create_subscription(FrankaRobotState, STATE, receive, 50)
        fixed = running.client.execute(SkillCall('pick', ('red_cube',)))
        scene = running.client.scene()
        free = running.client.execute(SkillCall('pick', ('blue_cube',)))

    assert (fixed.status, fixed.code) == (Status.FAILED, Code.WOULD_NOT_RISE), fixed.message
    assert 'the lift took more than 10 N' in fixed.message
    assert scene.held is None
    assert free.succeeded, free.message
    assert stopped == []


@pytest.fixture(scope='module')
def sim(ros_domain: int) -> Iterator[Running]:
    """Start `mujoco_sim` alone, in real time, with a sensor that is exact."""
    exact: Any = {'mujoco_sim': {'force_noise_n': 0.0, 'speed': 1.0}}
    with started(('mujoco_sim',), params=exact) as running:
        yield running


def test_a_motion_ends_at_its_stop_condition_and_is_cancelled_once(
    driver: RosDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    trajectory = move(driver, *LONG)
    observations: list[str] = []

    def turned() -> bool:
        observations.append(threading.current_thread().name)
        return bool(driver.joint_state().position_rad[0] > trajectory.position_rad[0, 0] + 0.05)

    cancels: list[bool] = []
    cancel = driver._follow.cancel

    def count() -> bool:
        cancels.append(cancel())
        return cancels[-1]

    monkeypatch.setattr(driver._follow, 'cancel', count)

    result = driver.follow(trajectory, Tolerances(), stop_condition=turned)

    assert result.status is GoalStatus.CANCELED
    assert driver.joint_state().position_rad[0] < trajectory.position_rad[-1, 0] - 0.2
    checked = len(observations)
    assert checked >= 2
    assert cancels == [True]
    driver.wait(0.5)
    assert len(observations) == checked  # nobody looks once the motion has ended


def test_a_motion_that_is_to_end_before_it_was_sent_is_cancelled_once_it_is(
    driver: RosDriver,
) -> None:
    result = driver.follow(move(driver, *LONG), Tolerances(), stop_condition=lambda: True)

    assert result.status is GoalStatus.CANCELED
    assert driver.joint_state().position_rad[0] < 0.2


def test_a_force_that_stays_away_after_a_motion_is_silent_and_not_unknown(
    sim: Running, driver: RosDriver
) -> None:
    until(lambda: driver.vertical_force_n() is not None, 'force')
    assert sim.ask(
        SwitchController,
        'controller_manager/switch_controller',
        deactivate_controllers=[STATE_BROADCASTER],
        strictness=SwitchController.Request.STRICT,
    ).ok
    assert driver.follow(move(driver, 0.05, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED

    with pytest.raises(SilentForceError, match='external_wrench_in_base_frame has sent no force'):
        driver.vertical_force_n(settled=True)

    driver.activate_broadcasters()
    assert driver.vertical_force_n(settled=True) == pytest.approx(0.0, abs=0.5)
