"""
The robot is made to stop, and brought back: told once, and judged by many checks.

A person cannot be asked to push the arm for every sentence. So everything that a client can see
in the course of one stop and one recovery is written down here, in order, and the checks only
read it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from controller_manager_msgs.msg import ControllerManagerActivity
from franka_msgs.action import ErrorRecovery
from franka_msgs.msg import FrankaRobotState
from sensor_msgs.msg import JointState

from bbllm.core.errors import BbllmError
from bbllm.nodes.driver_checks import manager
from bbllm.nodes.driver_checks.check import CheckFailedError
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.motions import LONG_S, SLACK_S, Arm, seconds
from bbllm.nodes.driver_checks.provoker import Cause, Provoker

QUIET_S = 0.6
"""How long a topic is listened to, to tell that it is silent [s]."""
IN_FLIGHT_S = 0.3
"""What was sent before a stop has come by then [s]."""
RECOVERY_S = 15.0
ROBOT_STATE = f'{manager.STATE}/robot_state'


class Story:
    """Facts by name, as far as it went; reading one that was not reached fails the check."""

    def __init__(self, facts: dict[str, Any], broke: str = ''):
        self.facts = facts
        self.broke = broke
        """Why it could not go on; empty where it went to its end."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.facts:
            raise CheckFailedError(
                f'to come to {name.replace("_", " ")!r}', self.broke or 'nothing'
            )
        return self.facts[name]


def tell_stop(arm: Arm, provoker: Provoker, cause: Cause) -> Story:
    """Stop the arm while it follows a trajectory, look around, and bring it back."""
    facts: dict[str, Any] = {}

    def tell() -> None:
        stay = arm.stay()
        provoker.prepare(cause, True)
        with arm.driver.listen(ControllerManagerActivity, _ACTIVITY, latched=True) as activity:
            activity.next(arm.driver.patience_s)
            with arm.moving() as sent:
                provoker.provoke(cause)
                facts['ended'] = sent.ended(LONG_S + SLACK_S)
            what = 'a hardware component that is down'
            down = activity.wait_for(_hardware_down, what, arm.driver.patience_s)
            facts['activity'] = activity_states(down)
        _look_while_down(arm, stay, facts)
        if cause is Cause.USER_STOP:
            facts['recovery_while_pressed'] = error_recovery(arm.driver)
        provoker.release(cause)
        facts['hardware_after_release'] = manager.hardware(arm.driver).state.label
        _recover_in_order(arm, facts)

    return _told(tell, facts, arm, provoker, cause)


def tell_idle_stop(arm: Arm, provoker: Provoker, cause: Cause) -> Story:
    """Stop the robot while no controller holds it."""
    facts: dict[str, Any] = {}
    driver = arm.driver

    def tell() -> None:
        with manager.arm_controller_down(driver):
            provoker.prepare(cause, False)
            provoker.provoke(cause)
            with driver.listen(FrankaRobotState, ROBOT_STATE) as states:
                time.sleep(IN_FLIGHT_S)
                states.drain()
                facts['state'] = states.some(1, driver.patience_s)
            facts['hardware'] = manager.hardware(driver).state.label
            facts['recovery_while_pressed'] = error_recovery(driver)
            provoker.release(cause)
            facts['recovery'] = error_recovery(driver)
        facts['swing'] = arm.follow(arm.swing())

    return _told(tell, facts, arm, provoker, cause)


def error_recovery(driver: DriverClient) -> str:
    """Run error recovery; return how it ended."""
    sent = driver.send(ErrorRecovery, 'action_server/error_recovery', ErrorRecovery.Goal())
    return sent.ended(RECOVERY_S).status


def activity_states(activity: ControllerManagerActivity) -> dict[str, str]:
    """Return the state of every controller and hardware component of a message."""
    entries = [*activity.controllers, *activity.hardware_components]
    return {entry.name: entry.state.label for entry in entries}


def _look_while_down(arm: Arm, stay: Any, facts: dict[str, Any]) -> None:
    driver = arm.driver
    facts['controllers'] = _controllers(driver)
    facts['hardware'] = manager.hardware(driver).state.label
    hand = f'{driver.gripper or "no_hand"}/joint_states'
    topics = {'arm': (JointState, 'franka/joint_states'), 'state': (FrankaRobotState, ROBOT_STATE)}
    topics |= {'all': (JointState, 'joint_states'), 'hand': (JointState, hand)}
    ears = {name: driver.listen(*topic) for name, topic in topics.items()}
    try:
        time.sleep(IN_FLIGHT_S)
        for ear in ears.values():
            ear.drain()
        time.sleep(QUIET_S)
        heard = {name: ear.drain() for name, ear in ears.items()}
        # Those that are not silent may be late on a busy machine.
        heard['all'] += ears['all'].some(2, driver.patience_s)
        if driver.gripper:
            heard['hand'] += ears['hand'].some(1, driver.patience_s)
        facts['heard'] = heard
    finally:
        for ear in ears.values():
            ear.close()
    facts['goal_accepted'] = arm.send(stay).accepted
    facts['early_switch'] = manager.switch(driver, activate=[driver.controller])


def _controllers(driver: DriverClient) -> dict[str, str | None]:
    """Return the states of the three that matter here; others may be loaded too."""
    states = manager.controller_states(driver)
    return {name: states.get(name) for name in (*manager.BROADCASTERS, driver.controller)}


def _recover_in_order(arm: Arm, facts: dict[str, Any]) -> None:
    driver = arm.driver
    facts['recovery'] = error_recovery(driver)
    facts['hardware_after_recovery'] = manager.hardware(driver).state.label
    facts['set_hardware'] = manager.set_hardware_active(driver)
    facts['controllers_after_hardware'] = _controllers(driver)
    everything = [*manager.BROADCASTERS, driver.controller]
    facts['switch'] = manager.switch(driver, activate=everything)
    facts['controllers_after_switch'] = _controllers(driver)
    with driver.listen(JointState, 'franka/joint_states') as ear:
        first = seconds(ear.next(driver.patience_s).header.stamp)
        facts['fresh_s'] = seconds(ear.next(driver.patience_s).header.stamp) - first
    facts['state_after'] = driver.hear(FrankaRobotState, ROBOT_STATE)
    facts['swing'] = arm.follow(arm.swing())


def _told(
    tell: Callable[[], None],
    facts: dict[str, Any],
    arm: Arm,
    provoker: Provoker,
    cause: Cause,
) -> Story:
    try:
        tell()
    except BbllmError as error:
        # Checks of what came before still count; the robot must not stay stopped.
        _bring_back(arm, provoker, cause)
        return Story(facts, str(error))
    return Story(facts)


def _bring_back(arm: Arm, provoker: Provoker, cause: Cause) -> None:
    """Do whatever may help, in the driver's order, and let nothing of it matter."""
    driver = arm.driver
    everything = [*manager.BROADCASTERS, driver.controller]
    for step in (
        lambda: provoker.release(cause),
        lambda: error_recovery(driver),
        lambda: manager.set_hardware_active(driver),
        lambda: manager.switch(driver, activate=everything, strictness=manager.BEST_EFFORT),
    ):
        try:
            step()
        except BbllmError as error:
            driver.recording.note('no way back', cause.value, str(error))


def _hardware_down(activity: ControllerManagerActivity) -> bool:
    return activity_states(activity).get(manager.HARDWARE) != 'active'


_ACTIVITY = 'controller_manager/activity'
