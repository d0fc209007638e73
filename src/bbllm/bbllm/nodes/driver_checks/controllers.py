"""Controllers and the hardware component: what is listed, and what may be switched."""

from __future__ import annotations

from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.msg import ControllerManagerActivity
from franka_msgs.msg import FrankaRobotState

from bbllm.arm.model import ARM_JOINTS
from bbllm.nodes.driver_checks import manager
from bbllm.nodes.driver_checks.check import (
    CheckFailedError,
    Evidence,
    Need,
    Theme,
    expect,
    expect_equal,
)
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.manager import (
    BEST_EFFORT,
    BROADCASTERS,
    HARDWARE,
    STATE,
    arm_controller_down,
    switch,
)
from bbllm.nodes.driver_checks.motions import Arm
from bbllm.nodes.driver_checks.story import activity_states
from bbllm.nodes.driver_checks.trajectories import DEACTIVATED_TEXT, INVALID_GOAL

LISTS = Theme(title='controllers', need=Need.NOTHING)
SWITCHES = Theme(
    title='switching controllers', need=Need.MOTION, subject=lambda session: session.arm
)
TYPES = {
    'joint_state_broadcaster': 'joint_state_broadcaster/JointStateBroadcaster',
    'franka_robot_state_broadcaster': 'franka_robot_state_broadcaster/FrankaRobotStateBroadcaster',
}
ARM_TYPE = 'joint_trajectory_controller/JointTrajectoryController'
EFFORTS = sorted(f'{name}/effort' for name in ARM_JOINTS)
QUIET_S = 0.5
"""How long a topic is listened to, to tell that it is silent [s]."""
NOBODY = 'no_such_controller'


@LISTS.check('fr 1.4, 1.5; controllers.yaml, controller_manager.cpp list_controllers_srv_cb')
def three_controllers_are_active(driver: DriverClient) -> Evidence:
    """Both broadcasters and the arm's trajectory controller are active, with their types."""
    found = manager.controllers(driver)
    wanted = {**TYPES, driver.controller: ARM_TYPE}
    types = {name: found[name].type for name in wanted if name in found}
    expect_equal('the types', types, wanted)
    states = {name: found[name].state for name in wanted}
    expect_equal('the states', states, dict.fromkeys(wanted, 'active'))
    return types


@LISTS.check('fr 1.4; controller_manager.cpp list_controllers_srv_cb')
def controllers_run_at_a_thousand_hertz(driver: DriverClient) -> Evidence:
    """list_controllers gives all three an update rate of 1000 Hz."""
    found = manager.controllers(driver)
    rates = {name: found[name].update_rate for name in (*BROADCASTERS, driver.controller)}
    expect_equal('the rates', rates, dict.fromkeys(rates, 1000))
    return rates


@LISTS.check('fr 0.4, 1.4; fr3_ros_controllers.yaml, controller_manager.cpp')
def arm_controller_claims_efforts(driver: DriverClient) -> Evidence:
    """The active arm controller has claimed the seven effort interfaces, and nothing else."""
    claimed = sorted(manager.controller(driver, driver.controller).claimed_interfaces)
    expect_equal('the claimed interfaces', claimed, EFFORTS)
    return {'claimed': claimed}


@LISTS.check('controller_manager.cpp list_controllers_srv_cb')
def broadcasters_claim_nothing(driver: DriverClient) -> Evidence:
    """Broadcasters have claimed no command interface."""
    found = manager.controllers(driver)
    claimed = {name: list(found[name].claimed_interfaces) for name in BROADCASTERS}
    expect_equal('the claimed interfaces', claimed, {name: [] for name in BROADCASTERS})
    return {}


@LISTS.check('fr 1.4, 1.5; franka_arm.ros2_control.xacro')
def hardware_component_is_active(driver: DriverClient) -> Evidence:
    """The one hardware component of the arm is FrankaHardwareInterface, an active system."""
    component = manager.hardware(driver)
    seen = (component.type, component.plugin_name, component.state.id, component.state.label)
    expect_equal('it', seen, ('system', f'franka_hardware/{HARDWARE}', 3, 'active'))
    return {'plugin': component.plugin_name}


@LISTS.check('fr 1.4; franka_hardware_interface.cpp export_command_interfaces')
def hardware_lists_its_interfaces(driver: DriverClient) -> Evidence:
    """The hardware component has position, velocity and effort of every joint, both ways."""
    component = manager.hardware(driver)
    wanted = {f'{name}/{kind}' for name in ARM_JOINTS for kind in _KINDS}
    for what in ('command_interfaces', 'state_interfaces'):
        seen = {interface.name for interface in getattr(component, what)}
        expect(
            wanted <= seen, f'{what} with all of the joints', f'{sorted(wanted - seen)} missing'
        )
    return {'commands': len(component.command_interfaces)}


@LISTS.check('controller_manager.cpp list_hardware_components_srv_cb')
def claimed_efforts_are_marked(driver: DriverClient) -> Evidence:
    """The hardware component tells that just the seven efforts are claimed."""
    interfaces = manager.hardware(driver).command_interfaces
    claimed = sorted(interface.name for interface in interfaces if interface.is_claimed)
    expect_equal('the claimed interfaces', claimed, EFFORTS)
    return {}


@LISTS.check('fr 1.5; controller_manager.cpp publish_activity')
def activity_tells_latecomers_what_is_active(driver: DriverClient) -> Evidence:
    """Whoever subscribes activity late hears the same states as the lists tell."""
    topic = 'controller_manager/activity'
    states = activity_states(driver.hear(ControllerManagerActivity, topic, latched=True))
    listed = manager.controller_states(driver) | {HARDWARE: manager.hardware(driver).state.label}
    told = {name: states.get(name) for name in (*BROADCASTERS, driver.controller, HARDWARE)}
    expect_equal('the states', told, {name: listed[name] for name in told})
    return told


@SWITCHES.check('controller_manager.cpp switch_controller_cb')
def strict_switch_refuses_unknown_controllers(arm: Arm) -> Evidence:
    """A STRICT switch with an unknown controller is refused, says so, and switches nothing."""
    before = manager.controller_states(arm.driver)
    answer = switch(arm.driver, activate=[NOBODY], deactivate=[arm.driver.controller])
    expect(not answer.ok, 'a refusal', 'ok')
    wanted = 'no controller with this name exists'
    expect(wanted in answer.message, f'a message with {wanted!r}', answer.message)
    expect_equal('the states', manager.controller_states(arm.driver), before)
    return {'message': answer.message}


@SWITCHES.check('controller_manager.cpp switch_controller_cb')
def strict_switch_refuses_active_controllers(arm: Arm) -> Evidence:
    """A STRICT switch that activates an active controller is refused."""
    answer = switch(arm.driver, activate=[arm.driver.controller])
    expect(not answer.ok, 'a refusal', 'ok')
    wanted = 'is already active'
    expect(wanted in answer.message, f'a message with {wanted!r}', answer.message)
    return {'message': answer.message}


@SWITCHES.check('controller_manager.cpp switch_controller_cb')
def best_effort_switch_leaves_active_controllers(arm: Arm) -> Evidence:
    """A BEST_EFFORT switch that activates an active controller is fine, and changes nothing."""
    answer = switch(arm.driver, activate=[arm.driver.controller], strictness=BEST_EFFORT)
    expect(answer.ok, 'success', answer.message)
    expect_equal(
        'the state', manager.controller(arm.driver, arm.driver.controller).state, 'active'
    )
    return {}


@SWITCHES.check('controller_manager.cpp set_hardware_component_state_srv_cb')
def unknown_hardware_is_refused(arm: Arm) -> Evidence:
    """A hardware component that does not exist cannot be activated."""
    answer = manager.set_hardware_active(arm.driver, 'NoSuchHardware')
    expect(not answer.ok, 'a refusal', 'ok')
    return {}


@SWITCHES.check('resource_manager.cpp set_component_state')
def active_hardware_can_be_activated(arm: Arm) -> Evidence:
    """Activating the active hardware component is fine."""
    answer = manager.set_hardware_active(arm.driver)
    expect_equal('the answer', (answer.ok, answer.state.label), (True, 'active'))
    return {}


@SWITCHES.check('controller_manager.cpp switch_controller_cb')
def one_controller_goes_down_alone(arm: Arm) -> Evidence:
    """Without the arm's controller both broadcasters are active, and their topics alive."""
    with arm_controller_down(arm.driver):
        states = manager.controller_states(arm.driver)
        names = (*BROADCASTERS, arm.driver.controller)
        wanted = ['active', 'active', 'inactive']
        expect_equal('the states', [states.get(name) for name in names], wanted)
        arm.measured()
        arm.driver.hear(FrankaRobotState, f'{STATE}/robot_state')
    return states


@SWITCHES.check('fr 1.6; franka_hardware_interface.cpp perform_command_mode_switch')
def robot_without_controller_is_idle(arm: Arm) -> Evidence:
    """While no controller holds the arm, robot_mode is IDLE."""
    with arm_controller_down(arm.driver), arm.driver.listen(FrankaRobotState, _ROBOT) as ear:
        ear.wait_for(
            lambda state: state.robot_mode == FrankaRobotState.ROBOT_MODE_IDLE,
            'robot_mode IDLE',
            arm.driver.patience_s,
        )
    return {'mode': FrankaRobotState.ROBOT_MODE_IDLE}


@SWITCHES.check('fr 1.5; controller_manager.cpp publish_activity')
def activity_is_told_at_every_switch(arm: Arm) -> Evidence:
    """Activity tells when the arm's controller goes down, and when it comes back."""
    topic, name = 'controller_manager/activity', arm.driver.controller
    with arm.driver.listen(ControllerManagerActivity, topic, latched=True) as ear:
        for wanted in ('active', 'inactive', 'active'):
            if wanted == 'inactive':
                switch(arm.driver, deactivate=[name])
            elif manager.controller(arm.driver, name).state != 'active':
                switch(arm.driver, activate=[name])
            ear.wait_for(
                lambda told, wanted=wanted: activity_states(told).get(name) == wanted,
                f'{name} {wanted}',
                arm.driver.patience_s,
            )
    return {}


@SWITCHES.check('controller_manager.cpp list_controllers_srv_cb')
def inactive_controller_claims_nothing(arm: Arm) -> Evidence:
    """While it is inactive, the arm's controller has claimed nothing."""
    with arm_controller_down(arm.driver):
        entry = manager.controller(arm.driver, arm.driver.controller)
        expect_equal('the claimed interfaces', list(entry.claimed_interfaces), [])
    return {}


@SWITCHES.check('fr 1.7; joint_trajectory_controller.cpp goal_received_callback')
def inactive_controller_rejects_goals(arm: Arm) -> Evidence:
    """While it is inactive, the arm's controller rejects every goal."""
    goal = arm.stay()
    with arm_controller_down(arm.driver):
        expect(not arm.send(goal).accepted, 'a rejection', 'the goal is accepted')
    return {}


@SWITCHES.check('controller_manager.cpp update, joint_trajectory_controller.cpp update')
def inactive_controller_tells_nothing(arm: Arm) -> Evidence:
    """While it is inactive, the arm's controller publishes no controller_state."""
    topic = f'{arm.driver.controller}/controller_state'
    with arm.driver.listen(JointTrajectoryControllerState, topic) as ear:
        ear.next(arm.driver.patience_s)
        with arm_controller_down(arm.driver):
            ear.hear_for(QUIET_S)  # what was under way
            heard = len(ear.hear_for(QUIET_S))
            expect_equal('the number of messages', heard, 0)
        ear.next(arm.driver.patience_s)
    return {}


@SWITCHES.check('fr 0.3, 1.7; joint_trajectory_controller.cpp on_deactivate')
def switching_off_ends_the_goal(arm: Arm) -> Evidence:
    """A goal under way when its controller is deactivated ends ABORTED with the driver's text."""
    with arm.moving() as sent:
        switch(arm.driver, deactivate=[arm.driver.controller])
        try:
            ended = sent.ended(arm.driver.patience_s)
        finally:
            switch(arm.driver, activate=[arm.driver.controller], strictness=BEST_EFFORT)
    seen = (ended.status, ended.result.error_code, ended.result.error_string)
    expect_equal('the end', seen, ('ABORTED', INVALID_GOAL, DEACTIVATED_TEXT))
    return {'text': ended.result.error_string}


@SWITCHES.check('joint_trajectory_controller.cpp on_activate')
def activated_controller_holds_still(arm: Arm) -> Evidence:
    """After a restart the arm's controller stays where the arm is, and takes goals again."""
    before = arm.positions()
    with arm_controller_down(arm.driver):
        pass
    after = arm.positions()
    moved = max(abs(a - b) for a, b in zip(after, before, strict=True))
    if moved > 0.02:
        raise CheckFailedError('an arm that stays within 0.02 rad', moved)
    arm.must_reach(arm.swing())
    return {}


_KINDS = ('position', 'velocity', 'effort')
_ROBOT = f'{STATE}/robot_state'
