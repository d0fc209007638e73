"""The forces at which the robot stops, over DDS: told to an idle robot."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from bbllm_interfaces.srv import InjectFault, ResetSim
from controller_manager_msgs.srv import ListControllers, SwitchController
from franka_msgs.action import PTPMotion

from bbllm.arm.driver import GoalStatus, RecoveryError
from bbllm.arm.envelope import ContactForce
from bbllm.robots.fr3 import FR3
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.rclpy_support.calls import ActionCall
from tests.ros.drivers import driver_of
from tests.ros.stacks import PATIENCE_S, Running, until

pytestmark = pytest.mark.ros

ARM = 'fr3_arm_controller'
SWITCH = 'controller_manager/switch_controller'
GENTLE = ContactForce(max_n=20.0).limits
SILENT_S = 5.0
"""Longer than a busy machine keeps a simulator waiting [s]."""


def is_active(running: Running) -> bool:
    reply = running.ask(ListControllers, 'controller_manager/list_controllers')
    return {item.name: item.state for item in reply.controller}[ARM] == 'active'


@pytest.fixture
def driver(sim: Running) -> RosDriver:
    driver = driver_of(sim, state_timeout_s=SILENT_S)
    assert sim.ask(SwitchController, SWITCH, activate_controllers=[ARM]).ok
    driver.wait_fresh(PATIENCE_S)
    return driver


def test_controller_is_down_only_while_limits_are_set(sim: Running, driver: RosDriver) -> None:
    assert driver.contact_limits is None

    driver.limit_contacts(GENTLE)

    assert driver.contact_limits == GENTLE
    assert is_active(sim)
    assert driver.condition().able


def test_controller_that_was_down_stays_down(sim: Running, driver: RosDriver) -> None:
    assert sim.ask(SwitchController, SWITCH, deactivate_controllers=[ARM]).ok

    driver.limit_contacts(GENTLE)

    assert driver.contact_limits == GENTLE
    assert not is_active(sim)


def test_robot_that_moves_by_itself_refuses_limits_with_the_reason(
    sim: Running, driver: RosDriver
) -> None:
    assert sim.ask(SwitchController, SWITCH, deactivate_controllers=[ARM]).ok
    name = 'action_server/ptp_motion'
    motion = ActionCall(sim.client.node, PTPMotion, name, 'mujoco_sim', sim.client.group)
    goal = PTPMotion.Goal(
        goal_joint_configuration=[0.5, *FR3.home_rad[1:]],
        maximum_joint_velocities=[0.05] * 7,  # 10 s, as it cannot be cancelled
        goal_tolerance=0.01,
    )
    before = driver.joint_state().position_rad[0]
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(motion.run, goal, PATIENCE_S)
        until(lambda: abs(driver.joint_state().position_rad[0] - before) > 0.01, 'motion')

        with pytest.raises(RecoveryError, match=r'not possible in the current mode \("Move"\)'):
            driver.limit_contacts(GENTLE)

        assert driver.contact_limits is None
        assert not is_active(sim)
        assert ended.result()[0] is GoalStatus.SUCCEEDED


def test_limits_are_sent_again_to_a_driver_that_was_silent(
    sim: Running, driver: RosDriver
) -> None:
    driver.limit_contacts(GENTLE)
    assert sim.ask(ResetSim, 'sim/reset').success
    driver.wait_fresh(PATIENCE_S)
    assert driver.contact_limits == GENTLE  # a reset of the table is no new robot

    assert sim.ask(InjectFault, 'sim/inject_fault', fault='driver_hang').success
    # Of the arm, and for longer than its driver may be silent: the hand may fall silent first.
    until(lambda: not driver.feed.wait_for_news(2 * SILENT_S), 'silence')
    received_s = driver.feed.newest_stamp_s  # not before: states were still on their way
    assert sim.ask(InjectFault, 'sim/inject_fault', fault='driver_hang', clear=True).success
    until(lambda: driver.feed.newest_stamp_s > received_s, 'joint states')

    assert driver.contact_limits is None
