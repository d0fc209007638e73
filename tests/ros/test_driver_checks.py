"""Every check of the list, run against `mujoco_sim`: one test each, so that CI shows each."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from control_msgs.msg import JointTrajectoryControllerState

from bbllm.core.namespaces import NAMESPACE
from bbllm.nodes.driver_checks.catalogue import CHECKS
from bbllm.nodes.driver_checks.check import Check, Need
from bbllm.nodes.driver_checks.client import DriverClient, await_driver
from bbllm.nodes.driver_checks.provoker import Cause, PersonProvoker, SimProvoker
from bbllm.nodes.driver_checks.runner import Verdict, run_check
from bbllm.nodes.driver_checks.session import Session
from bbllm.nodes.driver_checks.story import tell_stop
from bbllm.ros.stack.stack import Stack, StackConfig

pytestmark = pytest.mark.ros

SPEED = 3.0
"""Simulated seconds per second: motions are short, and long enough to be broken off."""
START_S = 60.0
PATIENCE_S = 30.0
"""For what should come at once, on a machine with much else to do [s]."""


@pytest.fixture(scope='module')
def session(ros_domain: int) -> Iterator[Session]:
    """Start `mujoco_sim` alone, and a client that speaks the driver's interfaces only."""
    config = StackConfig(nodes=('mujoco_sim',), params={'mujoco_sim': {'speed': SPEED}})
    with Stack(config), DriverClient(NAMESPACE, patience_s=PATIENCE_S) as driver:
        await_driver(driver, 'in the test', START_S)
        yield Session(driver, SimProvoker(driver))


@pytest.mark.parametrize('check', CHECKS, ids=lambda check: check.name)
def test_client_cannot_tell_the_simulator_from_the_driver(session: Session, check: Check) -> None:
    finding = run_check(check, session, frozenset(Need))

    assert finding.verdict is Verdict.PASSED, f'{check.says} {finding.reason}'


def test_person_can_stop_the_robot_in_place_of_the_simulator(session: Session) -> None:
    """A thread plays the person, who presses the user stop once joint 7 turns."""
    simulator, driver = SimProvoker(session.driver), session.driver
    pressing: list[threading.Thread] = []

    def press_when_moving() -> None:
        topic = f'{driver.controller}/controller_state'
        with driver.listen(JointTrajectoryControllerState, topic) as ear:
            ear.wait_for(lambda state: abs(state.reference.velocities[6]) > 1e-3, 'a motion', 20.0)
        simulator.provoke(Cause.USER_STOP)

    def ask(text: str) -> None:
        if 'will turn' in text:
            pressing.append(threading.Thread(target=press_when_moving))
            pressing[0].start()
        elif text.startswith('Release'):
            simulator.release(Cause.USER_STOP)

    story = tell_stop(session.arm, PersonProvoker(ask), Cause.USER_STOP)

    pressing[0].join(20.0)
    assert not story.broke
    assert story['ended'].status == 'ABORTED'
    assert story['recovery_while_pressed'] == 'ABORTED'
    assert story['swing'].status == 'SUCCEEDED'
