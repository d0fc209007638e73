"""What a client observes when the robot stops, and how it is brought back."""

from typing import Any

import pytest
from franka_msgs.msg import FrankaRobotState

from franka_driver_conformance.checks.test_trajectories import DEACTIVATED
from franka_driver_conformance.expectations import Record
from franka_driver_conformance.stop_scenario import StopScenario

pytestmark = pytest.mark.stops_robot
DOWN, UP = ['inactive'] * 3, ['active'] * 3
REFLEX: dict[str, tuple[str, Any]] = {
    'reflex-ends-the-goal': ('goal', DEACTIVATED),
    'reflex-takes-the-hardware-down': ('hardware', 'unconfigured'),
    'reflex-takes-all-controllers-down': ('controllers', DOWN),
    'reflex-is-told-by-activity': ('activity', ['unconfigured', 'inactive', 'inactive']),
    'reflex-silences-the-arm': ('messages_of_arm', 0),
    'reflex-silences-robot-state': ('messages_of_state', 0),
    'reflex-rejects-goals': ('goal_accepted', False),
    'reflex-can-be-recovered': ('recovery', 'SUCCEEDED'),
    'recovery-alone-brings-nothing-back': ('hardware_after_recovery', 'unconfigured'),
    'hardware-comes-back-second': ('hardware_switch', (True, 3, 'active')),
    'hardware-brings-no-controller-back': ('controllers_after_hardware', DOWN),
    'recovered-arm-moves-again': ('swing', 'SUCCEEDED'),
}
USER_STOP: dict[str, tuple[str, Any]] = {
    'user-stop-ends-the-goal': ('goal', DEACTIVATED),
    'pressed-user-stop-cannot-be-recovered': ('recovery_while_pressed', 'ABORTED'),
    'release-alone-brings-nothing-back': ('hardware_after_release', 'unconfigured'),
}
IDLE_STOP: dict[str, tuple[str, Any]] = {
    'idle-user-stop-leaves-the-hardware-up': ('hardware', 'active'),
    'idle-user-stop-shows-in-robot-state': ('mode', FrankaRobotState.ROBOT_MODE_USER_STOPPED),
    'idle-user-stop-cannot-be-recovered-either': ('recovery_while_pressed', 'ABORTED'),
    'arm-moves-after-an-idle-user-stop': ('swing', 'SUCCEEDED'),
}


@pytest.mark.parametrize(('step', 'wanted'), REFLEX.values(), ids=REFLEX)
def test_reflex(reflex: StopScenario, step: str, wanted: Any) -> None:
    assert reflex[step] == wanted


@pytest.mark.parametrize(('step', 'wanted'), USER_STOP.values(), ids=USER_STOP)
def test_user_stop(user_stop: StopScenario, step: str, wanted: Any) -> None:
    assert user_stop[step] == wanted


@pytest.mark.parametrize(('step', 'wanted'), IDLE_STOP.values(), ids=IDLE_STOP)
def test_idle_stop(idle_user_stop: StopScenario, step: str, wanted: Any) -> None:
    assert idle_user_stop[step] == wanted


def test_reflex_freezes_joint_states(reflex: StopScenario) -> None:
    stamps, positions = reflex['joint_states']
    assert stamps[-1] > stamps[0]
    assert positions[-1] == positions[0]


@pytest.mark.hand
def test_reflex_leaves_the_hand_alone(reflex: StopScenario) -> None:
    assert reflex['messages_of_hand'] > 0


def test_controllers_need_their_hardware(reflex: StopScenario, record_property: Record) -> None:
    answer = reflex['early_switch']
    assert not answer.ok
    assert answer.message
    record_property('message', answer.message)


def test_controllers_come_back_third(reflex: StopScenario) -> None:
    assert reflex['switch'].ok, reflex['switch'].message
    assert reflex['controllers_after_switch'] == UP


def test_joint_states_are_fresh_again(reflex: StopScenario) -> None:
    assert reflex['fresh_s'] > 0


def test_recovered_robot_is_in_move_without_errors(
    reflex: StopScenario, record_property: Record
) -> None:
    state = reflex['state_after']
    assert state.robot_mode == FrankaRobotState.ROBOT_MODE_MOVE
    names = state.current_errors.get_fields_and_field_types()
    assert [name for name in names if getattr(state.current_errors, name)] == []
    # What last_motion_errors contains then is not documented, so it is only recorded.
    record_property('last', [name for name in names if getattr(state.last_motion_errors, name)])


def test_user_stop_takes_everything_down(user_stop: StopScenario) -> None:
    assert user_stop['hardware'] == 'unconfigured'
    assert user_stop['controllers'] == DOWN


def test_released_user_stop_is_recovered_as_a_reflex(user_stop: StopScenario) -> None:
    assert user_stop['recovery'] == 'SUCCEEDED'
    assert user_stop['hardware_switch'] == (True, 3, 'active')
    assert user_stop['switch'].ok, user_stop['switch'].message
    assert user_stop['swing'] == 'SUCCEEDED'
