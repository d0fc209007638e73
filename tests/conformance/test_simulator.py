"""`mujoco_sim` passes every conformance check, and nothing moves without permission."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from control_msgs.msg import JointTrajectoryControllerState

from franka_driver_conformance.client import DriverClient
from franka_driver_conformance.motions import LONG_S, Arm
from franka_driver_conformance.recording import Recording
from franka_driver_conformance.stop_scenario import (
    Cause,
    PersonProvoker,
    SimProvoker,
    stop_while_moving,
)
from tests.conformance.conformance_runs import ALL, run_checks

pytestmark = pytest.mark.ros

PATIENCE_S = 60.0
"""For what should come at once, on a busy machine [s]."""
PATIENT = (f'--patience={PATIENCE_S}', f'--await-driver={PATIENCE_S}')


@pytest.mark.slow  # all 147 checks
def test_simulator_passes_all_147_checks_in_a_namespace(simulator: str, tmp_path: Path) -> None:
    run = run_checks(tmp_path, f'--robot-namespace={simulator}', *ALL, *PATIENT)

    bad = {
        name: each['reason'] for name, each in run.findings.items() if each['verdict'] != 'pass'
    }
    assert not bad
    assert (run.code, len(run.findings)) == (0, 147)
    assert '147 of 147 checks passed, 0 failed: mujoco_sim.' in run.output
    follow = 'fr3_arm_controller/follow_joint_trajectory'
    rejected = {each['check'] for each in run.messages if each['what'] == 'rejected'}
    assert 'no-points-are-rejected' in rejected
    assert follow in {each['name'] for each in run.messages}


@pytest.mark.slow  # a process that waits for its driver
def test_nothing_is_sent_when_the_question_is_answered_with_no(
    simulator: str, tmp_path: Path
) -> None:
    allowed = ('--allow-motion', '--allow-hand', '--provoke=person')

    run = run_checks(tmp_path, f'--robot-namespace={simulator}', *allowed, *PATIENT, typed='n\n')

    assert run.code == 1
    for word in ('joint 7', 'the fingers', 'make the robot stop', 'Nothing was moved'):
        assert word in run.output
    assert run.messages == []


def test_robot_that_another_program_commands_is_not_moved(simulator: str, tmp_path: Path) -> None:
    with DriverClient(simulator, patience_s=PATIENCE_S) as other:
        other.prepare_goals()
        run = run_checks(
            tmp_path, f'--robot-namespace={simulator}', '--allow-hand', '--yes', *PATIENT
        )

        assert run.code == 1
        assert f'/{simulator}/{other.node.get_name()}' in run.output
    assert run.messages == []


def test_interrupted_run_cancels_the_goal_that_executes(
    slow_simulator: str, tmp_path: Path
) -> None:
    record = tmp_path / 'messages.jsonl'
    command = [sys.executable, '-m', 'franka_driver_conformance', *ALL, *PATIENT]
    command += [f'--robot-namespace={slow_simulator}', f'--record-messages={record}']
    with DriverClient(slow_simulator, patience_s=PATIENCE_S) as watching:
        topic = f'{watching.controller}/controller_state'
        with watching.probe(JointTrajectoryControllerState, topic) as probe:
            run = subprocess.Popen([*command, '--check=positions-alone-are-enough'])
            try:
                probe.wait_for(_is_moving, 'a motion', 2 * PATIENCE_S)
                run.send_signal(signal.SIGINT)
                code = run.wait(PATIENCE_S)
            finally:
                run.kill()

    assert code == pytest.ExitCode.INTERRUPTED
    follow = 'fr3_arm_controller/follow_joint_trajectory'
    notes = [json.loads(line) for line in record.read_text().splitlines()]
    # Feedback that was under way may come after it.
    reported = [note['what'] for note in notes if note['name'] == follow]
    assert [what for what in reported if what != 'feedback'][-1] == 'cancel'


def test_an_interrupt_while_a_goal_is_being_accepted_cancels_it(
    slow_simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / 'messages.jsonl'
    recording = Recording(record)
    with DriverClient(slow_simulator, recording=recording, patience_s=PATIENCE_S) as client:
        arm, wait_until = Arm(client), client.wait_until
        goal = arm.swing(LONG_S)

        def interrupt(condition: Callable[[], Any], what: str, *more: float | None) -> None:
            if what.startswith('an answer of'):
                monkeypatch.undo()
                raise KeyboardInterrupt
            wait_until(condition, what, *more)

        monkeypatch.setattr(client, 'wait_until', interrupt)

        with pytest.raises(KeyboardInterrupt):
            arm.send(goal)
    recording.close()

    notes = [json.loads(line)['what'] for line in record.read_text().splitlines()]
    assert [what for what in notes if what in ('sent', 'accepted', 'cancel')] == ['sent', 'cancel']


def _is_moving(state: JointTrajectoryControllerState) -> bool:
    return abs(state.reference.velocities[6]) > 1e-3


def test_person_can_stop_the_robot_in_place_of_the_simulator(slow_simulator: str) -> None:
    """A thread plays the person, who presses the user stop once joint 7 turns."""
    with (
        DriverClient(slow_simulator, patience_s=PATIENCE_S) as driver,
        DriverClient(slow_simulator, patience_s=PATIENCE_S) as person,
    ):
        stop = SimProvoker(person)
        topic = f'{person.controller}/controller_state'

        def press_when_moving() -> None:
            with person.probe(JointTrajectoryControllerState, topic) as probe:
                probe.wait_for(_is_moving, 'a motion', PATIENCE_S)
            stop.provoke(Cause.USER_STOP)

        pressing = threading.Thread(target=press_when_moving)

        def ask(text: str) -> None:
            if 'will turn' in text:
                pressing.start()
            elif text.startswith('Release'):
                pressing.join(PATIENCE_S)
                stop.release(Cause.USER_STOP)

        driver.await_driver(PATIENCE_S)
        with person.probe(JointTrajectoryControllerState, topic) as probe:
            probe.wait_for(lambda state: not _is_moving(state), 'the end of a motion', PATIENCE_S)
        scenario = stop_while_moving(Arm(driver), PersonProvoker(ask), Cause.USER_STOP)

    assert not scenario.broke
    assert scenario['goal'][0] == 'ABORTED'
    assert scenario['recovery_while_pressed'] == 'ABORTED'
    assert scenario['swing'] == 'SUCCEEDED'
