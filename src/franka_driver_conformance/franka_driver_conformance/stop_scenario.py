"""
Stop the robot once, bring it back, and record everything that a client can observe meanwhile.

A person cannot be asked to push the arm for every check. So the checks only read the record.
"""

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from enum import Enum
from typing import Any

from controller_manager_msgs.msg import ControllerManagerActivity
from franka_msgs.action import ErrorRecovery
from franka_msgs.msg import FrankaRobotState
from sensor_msgs.msg import JointState

from franka_driver_conformance import manager
from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.expectations import CheckFailedError, expect
from franka_driver_conformance.manager import ACTIVITY, BROADCASTERS, HARDWARE, ROBOT_STATE
from franka_driver_conformance.motions import LONG_S, SLACK_S, Arm, in_order, seconds

QUIET_S = 0.6
IN_FLIGHT_S = 0.3
"""Messages sent before a stop have arrived after this time [s]."""
RECOVERY_S = 15.0


class Cause(Enum):
    """Why a robot stops."""

    REFLEX = 'reflex'
    USER_STOP = 'user_stop'
    """The external activation device is pressed."""


DEEDS = {
    Cause.REFLEX: 'push against the hand, firmly and sideways, until the robot stops',
    Cause.USER_STOP: 'press the external activation device, and keep it pressed',
}


class SimProvoker:
    """
    Makes the robot stop by `sim/inject_fault` of `mujoco_sim`, which no real driver has.

    `prepare` comes before the arm moves, `provoke` stops the robot, and `release` removes the
    cause before the recovery.
    """

    def __init__(self, driver: DriverClient):
        self._driver = driver

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Do nothing."""

    def provoke(self, cause: Cause, *, clear: bool = False) -> None:
        from bbllm_interfaces.srv import InjectFault  # only here: an interface of the simulator

        request = InjectFault.Request(fault=cause.value, clear=clear)
        answer = self._driver.call(InjectFault, 'sim/inject_fault', request)
        expect(answer.success, f'that sim/inject_fault does {cause.value}', answer.message)

    def release(self, cause: Cause) -> None:
        self.provoke(cause, clear=True)


class SocketProvoker:
    """
    Makes a simulated robot below the driver stop, by lines to its Unix socket.

    A line is `fault reflex`, `fault user_stop` or the same with `clear`; it is answered by
    `done: LINE`, or by why it cannot be done.
    """

    def __init__(self, path: str, patience_s: float):
        self._path, self._patience_s = path, patience_s

    def prepare(self, cause: Cause, moving: bool) -> None:
        """Do nothing."""

    def provoke(self, cause: Cause) -> None:
        self._send(f'fault {cause.value}')

    def release(self, cause: Cause) -> None:
        self._send(f'clear {cause.value}')

    def _send(self, line: str) -> None:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as robot:
                robot.settimeout(self._patience_s)
                robot.connect(self._path)
                robot.sendall(f'{line}\n'.encode())
                answer = robot.makefile().readline().strip()
        except OSError as error:
            answer = str(error)
        expect(answer == f'done: {line}', f'that the simulated robot does {line!r}', answer)


class PersonProvoker:
    """Asks the person at the terminal; *ask* shows a text and returns when they are done."""

    def __init__(self, ask: Callable[[str], object]):
        self._ask = ask
        self._moving = False

    def prepare(self, cause: Cause, moving: bool) -> None:
        self._moving = moving
        if moving:
            self._ask(
                f'Joint 7 will turn slowly for {LONG_S:g} s. While it does, {DEEDS[cause]}. '
                'Press Enter when you are ready: it starts then.'
            )

    def provoke(self, cause: Cause) -> None:
        if not self._moving:
            self._ask(f'The arm stands. Now {DEEDS[cause]}, then press Enter.')

    def release(self, cause: Cause) -> None:
        if cause is Cause.USER_STOP:
            self._ask('Release the external activation device, then press Enter.')
        else:
            self._ask('Take your hands off the arm, then press Enter: it recovers then.')


Provoker = SimProvoker | SocketProvoker | PersonProvoker


class StopScenario:
    """
    Observations by name; reading one that was not reached fails the check.

    *course* stops the robot and adds observations to the dictionary it receives; where it fails,
    *way_back* brings the robot back.
    """

    def __init__(self, course: Callable[[dict[str, Any]], None], way_back: Callable[[], None]):
        self._facts: dict[str, Any] = {}
        self.broke = ''
        """Why it could not continue; empty if it was completed."""
        try:
            course(self._facts)
        except CheckFailedError as error:
            self.broke = str(error)
            way_back()

    def __getitem__(self, name: str) -> Any:
        if name not in self._facts:
            raise CheckFailedError(f'to reach the step {name!r}', self.broke or 'nothing')
        return self._facts[name]


def stop_while_moving(arm: Arm, provoker: Provoker, cause: Cause) -> StopScenario:
    """Stop the arm while it follows a trajectory, observe, and bring it back."""
    driver = arm.driver

    def course(facts: dict[str, Any]) -> None:
        stay = arm.stay()
        provoker.prepare(cause, True)
        with driver.probe(ControllerManagerActivity, ACTIVITY, latched=True) as activity:
            activity.next(driver.patience_s)
            with arm.moving() as sent:
                provoker.provoke(cause)
                facts['goal'] = sent.ended(LONG_S + SLACK_S).trajectory_end
            down = activity.wait_for(
                lambda message: manager.activity_states(message).get(HARDWARE) != 'active',
                'a hardware component that is down',
                driver.patience_s,
            )
            states = manager.activity_states(down)
            facts['activity'] = [states.get(name) for name in (HARDWARE, *BROADCASTERS)]
        _observe_while_down(arm, stay, facts)
        if cause is Cause.USER_STOP:
            facts['recovery_while_pressed'] = error_recovery(driver)
        provoker.release(cause)
        facts['hardware_after_release'] = manager.hardware(driver).state.label
        _recover_in_order(arm, facts)

    return StopScenario(course, lambda: _bring_back(driver, provoker, cause))


def stop_while_idle(arm: Arm, provoker: Provoker, cause: Cause) -> StopScenario:
    """Stop the robot while no controller commands it."""
    driver = arm.driver

    def course(facts: dict[str, Any]) -> None:
        with manager.arm_controller_down(driver):
            provoker.prepare(cause, False)
            provoker.provoke(cause)
            with driver.probe(FrankaRobotState, ROBOT_STATE) as states:
                time.sleep(IN_FLIGHT_S)
                states.drain()
                facts['mode'] = states.next(driver.patience_s).robot_mode
            facts['hardware'] = manager.hardware(driver).state.label
            facts['recovery_while_pressed'] = error_recovery(driver)
            provoker.release(cause)
            facts['recovery'] = error_recovery(driver)
        facts['swing'] = arm.follow(arm.swing()).status

    return StopScenario(course, lambda: _bring_back(driver, provoker, cause))


def error_recovery(driver: DriverClient) -> str:
    sent = driver.send(ErrorRecovery, 'action_server/error_recovery', ErrorRecovery.Goal())
    return sent.ended(RECOVERY_S).status


def _observe_while_down(arm: Arm, stay: Any, facts: dict[str, Any]) -> None:
    driver = arm.driver
    facts['controllers'] = list(manager.controller_states(driver).values())
    facts['hardware'] = manager.hardware(driver).state.label
    hand = f'{driver.gripper or "no_hand"}/joint_states'
    topics = {'arm': (JointState, 'franka/joint_states'), 'state': (FrankaRobotState, ROBOT_STATE)}
    topics |= {'all': (JointState, 'joint_states'), 'hand': (JointState, hand)}
    with ExitStack() as stack:
        probes = {
            name: stack.enter_context(driver.probe(*topic)) for name, topic in topics.items()
        }
        time.sleep(IN_FLIGHT_S)
        for probe in probes.values():
            probe.drain()
        time.sleep(QUIET_S)
        received = {name: probe.drain() for name, probe in probes.items()}
        # Those that are not silent may be late on a busy machine.
        received['all'] += probes['all'].some(2, driver.patience_s)
        if driver.gripper:
            received['hand'] += probes['hand'].some(1, driver.patience_s)
    for name, messages in received.items():
        facts[f'messages_of_{name}'] = len(messages)
    facts['joint_states'] = (
        [seconds(message.header.stamp) for message in received['all']],
        [list(in_order(message).position) for message in received['all']],
    )
    facts['goal_accepted'] = arm.send(stay).accepted
    facts['early_switch'] = manager.switch(driver, activate=[driver.controller])


def _recover_in_order(arm: Arm, facts: dict[str, Any]) -> None:
    driver = arm.driver
    facts['recovery'] = error_recovery(driver)
    facts['hardware_after_recovery'] = manager.hardware(driver).state.label
    answer = manager.set_hardware_active(driver)
    facts['hardware_switch'] = (answer.ok, answer.state.id, answer.state.label)
    facts['controllers_after_hardware'] = list(manager.controller_states(driver).values())
    facts['switch'] = manager.switch(driver, activate=[*BROADCASTERS, driver.controller])
    facts['controllers_after_switch'] = list(manager.controller_states(driver).values())
    with driver.probe(JointState, 'franka/joint_states') as probe:
        first_s = seconds(probe.next(driver.patience_s).header.stamp)
        facts['fresh_s'] = seconds(probe.next(driver.patience_s).header.stamp) - first_s
    facts['state_after'] = driver.receive(FrankaRobotState, ROBOT_STATE)
    facts['swing'] = arm.follow(arm.swing()).status


def _bring_back(driver: DriverClient, provoker: Provoker, cause: Cause) -> None:
    everything = [*BROADCASTERS, driver.controller]
    steps: tuple[Callable[[], object], ...] = (
        lambda: provoker.release(cause),
        lambda: error_recovery(driver),
        lambda: manager.set_hardware_active(driver),
        lambda: manager.switch(driver, activate=everything, strictness=manager.BEST_EFFORT),
    )
    for step in steps:
        with suppress(CheckFailedError):
            step()
