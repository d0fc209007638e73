"""Controllers and the hardware component: what is listed, and what may be switched."""

import pytest
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.msg import ControllerManagerActivity
from franka_msgs.msg import FrankaRobotState

from franka_driver_conformance import manager
from franka_driver_conformance.checks.test_trajectories import DEACTIVATED
from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import Record, close, expect
from franka_driver_conformance.manager import (
    ACTIVITY,
    BEST_EFFORT,
    BROADCASTERS,
    HARDWARE,
    ROBOT_STATE,
    activity_states,
    arm_controller_down,
    switch,
)
from franka_driver_conformance.motions import ARM_JOINTS, Arm

TYPES = {
    'joint_state_broadcaster': 'joint_state_broadcaster/JointStateBroadcaster',
    'franka_robot_state_broadcaster': 'franka_robot_state_broadcaster/FrankaRobotStateBroadcaster',
}
ARM_TYPE = 'joint_trajectory_controller/JointTrajectoryController'
EFFORTS = sorted(f'{name}/effort' for name in ARM_JOINTS)
QUIET_S = 0.5


def test_three_controllers_are_active(driver: DriverClient, record_property: Record) -> None:
    found = manager.controllers(driver)
    wanted = {**TYPES, driver.controller: ARM_TYPE}
    types = {name: found[name].type for name in wanted if name in found}
    assert types == wanted
    assert [found[name].state for name in wanted] == ['active'] * 3
    record_property('types', types)


def test_controllers_run_at_a_thousand_hertz(driver: DriverClient) -> None:
    found = manager.controllers(driver)
    rates = {name: found[name].update_rate for name in (*BROADCASTERS, driver.controller)}
    assert rates == dict.fromkeys(rates, 1000)


def test_arm_controller_claims_efforts(driver: DriverClient) -> None:
    assert sorted(manager.arm_controller(driver).claimed_interfaces) == EFFORTS


def test_broadcasters_claim_nothing(driver: DriverClient) -> None:
    found = manager.controllers(driver)
    assert [list(found[name].claimed_interfaces) for name in BROADCASTERS] == [[], []]


def test_hardware_component_is_active(driver: DriverClient) -> None:
    component = manager.hardware(driver)
    seen = (component.type, component.plugin_name, component.state.id, component.state.label)
    assert seen == ('system', f'franka_hardware/{HARDWARE}', 3, 'active')


def test_hardware_lists_its_interfaces(driver: DriverClient, record_property: Record) -> None:
    component = manager.hardware(driver)
    kinds = ('position', 'velocity', 'effort')
    wanted = {f'{name}/{kind}' for name in ARM_JOINTS for kind in kinds}
    for what in ('command_interfaces', 'state_interfaces'):
        assert wanted <= {interface.name for interface in getattr(component, what)}, what
    record_property('commands', len(component.command_interfaces))


def test_claimed_efforts_are_marked(driver: DriverClient) -> None:
    interfaces = manager.hardware(driver).command_interfaces
    assert sorted(each.name for each in interfaces if each.is_claimed) == EFFORTS


def test_activity_tells_latecomers_what_is_active(driver: DriverClient) -> None:
    states = activity_states(driver.receive(ControllerManagerActivity, ACTIVITY, latched=True))
    listed = manager.controller_states(driver) | {HARDWARE: manager.hardware(driver).state.label}
    assert {name: states.get(name) for name in listed} == listed


@pytest.mark.moves_arm
def test_strict_switch_refuses_unknown_controllers(arm: Arm, record_property: Record) -> None:
    driver = arm.driver
    before = manager.controller_states(driver)
    answer = switch(driver, activate=['no_such_controller'], deactivate=[driver.controller])
    assert not answer.ok
    assert 'no controller with this name exists' in answer.message
    assert manager.controller_states(driver) == before
    record_property('message', answer.message)


@pytest.mark.moves_arm
def test_strict_switch_refuses_active_controllers(arm: Arm, record_property: Record) -> None:
    answer = switch(arm.driver, activate=[arm.driver.controller])
    assert not answer.ok
    assert 'is already active' in answer.message
    record_property('message', answer.message)


@pytest.mark.moves_arm
def test_best_effort_switch_leaves_active_controllers(arm: Arm) -> None:
    answer = switch(arm.driver, activate=[arm.driver.controller], strictness=BEST_EFFORT)
    assert answer.ok, answer.message
    assert manager.arm_controller(arm.driver).state == 'active'


@pytest.mark.moves_arm
def test_unknown_hardware_is_refused(arm: Arm) -> None:
    assert not manager.set_hardware_active(arm.driver, 'NoSuchHardware').ok


@pytest.mark.moves_arm
def test_active_hardware_can_be_activated(arm: Arm) -> None:
    answer = manager.set_hardware_active(arm.driver)
    assert (answer.ok, answer.state.label) == (True, 'active')


@pytest.mark.moves_arm
def test_one_controller_goes_down_alone(arm: Arm) -> None:
    with arm_controller_down(arm.driver):
        states = manager.controller_states(arm.driver)
        assert list(states.values()) == ['active', 'active', 'inactive']
        arm.measured()
        arm.driver.receive(FrankaRobotState, ROBOT_STATE)


@pytest.mark.moves_arm
def test_robot_without_controller_is_idle(arm: Arm) -> None:
    with arm_controller_down(arm.driver), arm.driver.probe(FrankaRobotState, ROBOT_STATE) as probe:
        idle = FrankaRobotState.ROBOT_MODE_IDLE
        what = 'robot_mode IDLE'
        probe.wait_for(lambda state: state.robot_mode == idle, what, arm.driver.patience_s)


@pytest.mark.moves_arm
def test_activity_is_told_at_every_switch(arm: Arm) -> None:
    driver, name = arm.driver, arm.driver.controller
    with driver.probe(ControllerManagerActivity, ACTIVITY, latched=True) as probe:

        def need(wanted: str) -> None:
            probe.wait_for(
                lambda message: activity_states(message).get(name) == wanted,
                f'{name} {wanted}',
                driver.patience_s,
            )

        need('active')
        with arm_controller_down(driver):
            need('inactive')
        need('active')


@pytest.mark.moves_arm
def test_inactive_controller_claims_nothing(arm: Arm) -> None:
    with arm_controller_down(arm.driver):
        assert list(manager.arm_controller(arm.driver).claimed_interfaces) == []


@pytest.mark.moves_arm
def test_inactive_controller_rejects_goals(arm: Arm) -> None:
    goal = arm.stay()
    with arm_controller_down(arm.driver):
        expect(not arm.send(goal).accepted, 'a rejection', 'the goal is accepted')


@pytest.mark.moves_arm
def test_inactive_controller_tells_nothing(arm: Arm) -> None:
    driver = arm.driver
    topic = f'{driver.controller}/controller_state'
    with driver.probe(JointTrajectoryControllerState, topic) as probe:
        probe.next(driver.patience_s)
        with arm_controller_down(driver):
            probe.collect(QUIET_S)  # those that were on their way
            assert len(probe.collect(QUIET_S)) == 0
        probe.next(driver.patience_s)


@pytest.mark.moves_arm
def test_switching_off_ends_the_goal(arm: Arm) -> None:
    with arm.moving() as sent, arm_controller_down(arm.driver):
        ended = sent.ended()
    assert ended.trajectory_end == DEACTIVATED


@pytest.mark.moves_arm
def test_activated_controller_holds_still(arm: Arm) -> None:
    before = arm.positions()
    with arm_controller_down(arm.driver):
        pass
    assert arm.positions() == close(before, 0.02)
    arm.must_reach(arm.swing())
