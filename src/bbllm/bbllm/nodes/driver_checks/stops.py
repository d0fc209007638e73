"""What a client sees when the robot stops, and how it is brought back."""

from __future__ import annotations

from bbllm.nodes.driver_checks.check import Evidence, Need, Theme, expect, expect_equal, rounded
from bbllm.nodes.driver_checks.manager import BROADCASTERS, HARDWARE
from bbllm.nodes.driver_checks.motions import in_order, seconds
from bbllm.nodes.driver_checks.story import Story
from bbllm.nodes.driver_checks.trajectories import DEACTIVATED_TEXT, INVALID_GOAL

REFLEX = Theme(title='a reflex', need=Need.STOP, subject=lambda session: session.reflex)
USER_STOP = Theme(title='a user stop', need=Need.STOP, subject=lambda session: session.user_stop)
IDLE_STOP = Theme(
    title='a user stop while idle',
    need=Need.STOP,
    subject=lambda session: session.idle_user_stop,
)
USER_STOPPED = 5
MOVE = 2
DOWN = 'fr 0.5, 5; controller_manager.cpp read'


@REFLEX.check('fr 1.7, 5; joint_trajectory_controller.cpp on_deactivate')
def reflex_ends_the_goal(story: Story) -> Evidence:
    """The trajectory under way ends ABORTED, INVALID_GOAL, with the text of a deactivation."""
    return _goal_was_deactivated(story)


@REFLEX.check('fr 0.5, 5; franka_hardware/doc/index.rst')
def reflex_takes_the_hardware_down(story: Story) -> Evidence:
    """The hardware component is unconfigured after a reflex."""
    expect_equal('the state', story['hardware'], 'unconfigured')
    return {}


@REFLEX.check(DOWN)
def reflex_takes_all_controllers_down(story: Story) -> Evidence:
    """All three controllers are inactive after a reflex, the broadcasters too."""
    states = story['controllers']
    expect_equal('the states', states, dict.fromkeys(states, 'inactive'))
    return states


@REFLEX.check('fr 1.5; controller_manager.cpp publish_activity')
def reflex_is_told_by_activity(story: Story) -> Evidence:
    """Activity tells of a reflex by itself: hardware unconfigured, controllers inactive."""
    activity = story['activity']
    expect_equal('the hardware', activity.get(HARDWARE), 'unconfigured')
    states = {name: activity.get(name) for name in BROADCASTERS}
    expect_equal('the broadcasters', states, dict.fromkeys(BROADCASTERS, 'inactive'))
    return activity


@REFLEX.check(DOWN)
def reflex_silences_the_arm(story: Story) -> Evidence:
    """franka/joint_states is silent after a reflex."""
    expect_equal('the number of messages', len(story['heard']['arm']), 0)
    return {}


@REFLEX.check('fr 0.5; controller_manager.cpp read')
def reflex_silences_robot_state(story: Story) -> Evidence:
    """robot_state is silent after a reflex, when one would read the error in it."""
    expect_equal('the number of messages', len(story['heard']['state']), 0)
    return {}


@REFLEX.check('fr 0.6 [inferred from joint_state_publisher]')
def reflex_freezes_joint_states(story: Story) -> Evidence:
    """joint_states goes on after a reflex, with fresh stamps and the arm's last positions."""
    messages = story['heard']['all']
    expect(len(messages) >= 2, 'messages', len(messages))
    stamps = [seconds(message.header.stamp) for message in messages]
    expect(stamps[-1] > stamps[0], 'growing stamps', rounded(stamps))
    first, last = (list(in_order(message).position) for message in (messages[0], messages[-1]))
    expect_equal('the last positions', last, first)
    return {}


@REFLEX.check('fr 5 [inferred]; gripper.launch.py (a process of its own)')
def reflex_leaves_the_hand_alone(story: Story) -> Evidence:
    """The hand goes on telling its width after a reflex."""
    expect(story['heard']['hand'], 'messages of the hand', 'none')
    return {}


@REFLEX.check('fr 1.7; joint_trajectory_controller.cpp goal_received_callback')
def reflex_rejects_goals(story: Story) -> Evidence:
    """Goals for the arm are rejected until it is brought back."""
    expect_equal('accepted', story['goal_accepted'], False)
    return {}


@REFLEX.check('fr 5; controller_manager.cpp check_for_interfaces_availability_to_activate')
def controllers_need_their_hardware(story: Story) -> Evidence:
    """The arm's controller cannot be activated before the hardware component is."""
    answer = story['early_switch']
    expect(not answer.ok, 'a refusal', 'ok')
    expect(answer.message, 'the reason as text', answer.message)
    return {'message': answer.message}


@REFLEX.check('fr 1.6, 5; franka_action_server.cpp errorRecoveryAction')
def reflex_can_be_recovered(story: Story) -> Evidence:
    """error_recovery ends SUCCEEDED after a reflex."""
    expect_equal('the status', story['recovery'], 'SUCCEEDED')
    return {}


@REFLEX.check('fr 0.7, 5; franka_hardware/doc/index.rst')
def recovery_alone_brings_nothing_back(story: Story) -> Evidence:
    """After error_recovery the hardware component is still unconfigured."""
    expect_equal('the state', story['hardware_after_recovery'], 'unconfigured')
    return {}


@REFLEX.check('fr 0.7, 5; franka_hardware/doc/index.rst')
def hardware_comes_back_second(story: Story) -> Evidence:
    """After error_recovery the hardware component can be activated."""
    answer = story['set_hardware']
    expect_equal(
        'the answer', (answer.ok, answer.state.id, answer.state.label), (True, 3, 'active')
    )
    return {}


@REFLEX.check('fr 0.7, 5; franka_hardware/doc/index.rst')
def hardware_brings_no_controller_back(story: Story) -> Evidence:
    """Activating the hardware component activates no controller."""
    states = story['controllers_after_hardware']
    expect_equal('the states', states, dict.fromkeys(states, 'inactive'))
    return {}


@REFLEX.check('fr 0.7, 5; franka_hardware/doc/index.rst')
def controllers_come_back_third(story: Story) -> Evidence:
    """One STRICT switch then activates both broadcasters and the arm's controller."""
    expect(story['switch'].ok, 'success', story['switch'].message)
    states = story['controllers_after_switch']
    expect_equal('the states', states, dict.fromkeys(states, 'active'))
    return {}


@REFLEX.check('fr 5')
def joint_states_are_fresh_again(story: Story) -> Evidence:
    """After the recovery franka/joint_states comes again, with growing stamps."""
    expect(story['fresh_s'] > 0, 'growing stamps', story['fresh_s'])
    return {}


@REFLEX.check('fr 1.6; Errors.msg, franka_robot_state.cpp')
def recovered_robot_is_in_move_without_errors(story: Story) -> Evidence:
    """After the recovery robot_mode is MOVE, and no current error is set."""
    state = story['state_after']
    expect_equal('the mode', state.robot_mode, MOVE)
    names = state.current_errors.get_fields_and_field_types()
    wrong = [name for name in names if getattr(state.current_errors, name)]
    expect_equal('the errors', wrong, [])
    # What the robot goes on telling of the last motion is written nowhere, so it is only shown.
    return {'last': [name for name in names if getattr(state.last_motion_errors, name)]}


@REFLEX.check('fr 5')
def recovered_arm_moves_again(story: Story) -> Evidence:
    """After the recovery a trajectory is followed to its end."""
    expect_equal('the status', story['swing'].status, 'SUCCEEDED')
    return {}


@USER_STOP.check('fr 1.7, 5; joint_trajectory_controller.cpp on_deactivate')
def user_stop_ends_the_goal(story: Story) -> Evidence:
    """The trajectory under way ends ABORTED, INVALID_GOAL, with the text of a deactivation."""
    return _goal_was_deactivated(story)


@USER_STOP.check(DOWN)
def user_stop_takes_everything_down(story: Story) -> Evidence:
    """A user stop during a motion leaves hardware unconfigured and controllers inactive."""
    expect_equal('the hardware', story['hardware'], 'unconfigured')
    states = story['controllers']
    expect_equal('the controllers', states, dict.fromkeys(states, 'inactive'))
    return states


@USER_STOP.check('fr 5; franka_action_server.cpp errorRecoveryAction')
def pressed_user_stop_cannot_be_recovered(story: Story) -> Evidence:
    """error_recovery ends ABORTED while the user stop is pressed."""
    expect_equal('the status', story['recovery_while_pressed'], 'ABORTED')
    return {}


@USER_STOP.check('fr 5; franka_hardware/doc/index.rst')
def release_alone_brings_nothing_back(story: Story) -> Evidence:
    """Releasing the user stop activates nothing by itself."""
    expect_equal('the hardware', story['hardware_after_release'], 'unconfigured')
    return {}


@USER_STOP.check('fr 5; franka_hardware/doc/index.rst')
def released_user_stop_is_recovered_as_a_reflex(story: Story) -> Evidence:
    """After the release the same three steps bring the arm back, and it moves."""
    expect_equal('error_recovery', story['recovery'], 'SUCCEEDED')
    expect(story['set_hardware'].ok, 'active hardware', story['set_hardware'].state.label)
    expect(story['switch'].ok, 'active controllers', story['switch'].message)
    expect_equal('the trajectory', story['swing'].status, 'SUCCEEDED')
    return {}


@IDLE_STOP.check('fr 5; franka_hardware_interface.cpp read, robot.cpp readOnce')
def idle_user_stop_leaves_the_hardware_up(story: Story) -> Evidence:
    """A user stop while no controller holds the arm leaves the hardware component active."""
    expect_equal('the hardware', story['hardware'], 'active')
    return {}


@IDLE_STOP.check('fr 1.6, 5; robot.cpp readOnce')
def idle_user_stop_shows_in_robot_state(story: Story) -> Evidence:
    """robot_state goes on during such a stop, with robot_mode USER_STOPPED."""
    expect(story['state'], 'messages', 'none')
    expect_equal('the mode', story['state'][-1].robot_mode, USER_STOPPED)
    return {}


@IDLE_STOP.check('fr 5; franka_action_server.cpp errorRecoveryAction')
def idle_user_stop_cannot_be_recovered_either(story: Story) -> Evidence:
    """error_recovery ends ABORTED while the user stop is pressed, also when idle."""
    expect_equal('the status', story['recovery_while_pressed'], 'ABORTED')
    return {}


@IDLE_STOP.check('fr 5; robot.cpp initializeTorqueInterface')
def arm_moves_after_an_idle_user_stop(story: Story) -> Evidence:
    """After the release the arm's controller can be activated, and the arm moves."""
    expect_equal('the trajectory', story['swing'].status, 'SUCCEEDED')
    return {}


def _goal_was_deactivated(story: Story) -> Evidence:
    ended = story['ended']
    seen = (ended.status, ended.result.error_code, ended.result.error_string)
    expect_equal('the end', seen, ('ABORTED', INVALID_GOAL, DEACTIVATED_TEXT))
    return {'text': ended.result.error_string}
