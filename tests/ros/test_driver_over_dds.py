"""The simulated driver seen through DDS: what the real one does is what this one does."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import mujoco
import numpy as np
import pytest
from action_msgs.srv import CancelGoal
from bbllm_interfaces.srv import InjectFault, ResetSim, SetObjectMass, SetObjectPose
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import SwitchController
from drivers import inject, move
from franka_msgs.srv import SetLoad
from geometry_msgs.msg import TransformStamped
from stacks import Background, Running, until
from tf2_msgs.msg import TFMessage

from bbllm.arm.driver import (
    FollowError,
    GoalStatus,
    Tolerances,
)
from bbllm.core.errors import LostNodeError
from bbllm.ros.convert.qos import LATCHED
from bbllm.ros.driver.ros_driver import RosDriver
from bbllm.ros.rclpy_support.fast_subscription import Poller

pytestmark = pytest.mark.ros


SMALL_RAD = 0.2


def test_trajectory_ends_where_and_when_it_should(driver: RosDriver) -> None:
    trajectory = move(driver, SMALL_RAD, 0.6)
    begun_s = driver.now_s()

    result = driver.follow(trajectory, Tolerances())

    assert result.status is GoalStatus.SUCCEEDED
    assert (result.error_code, result.error_string) == (
        FollowError.SUCCESSFUL,
        'Goal successfully reached!',
    )
    assert driver.now_s() - begun_s >= 0.6 - 1e-6  # both stamps are rounded
    np.testing.assert_allclose(
        driver.joint_state().position_rad, trajectory.position_rad[-1], atol=0.01
    )


def test_bad_goal_is_rejected_and_nothing_moves(driver: RosDriver) -> None:
    good = move(driver, SMALL_RAD, 0.6)
    before = driver.joint_state().position_rad
    still_moving = np.zeros((2, 7))
    still_moving[-1, 0] = 0.1
    for change in (
        {'velocity_rad_s': still_moving},
        {'time_s': np.array([0.5, 0.5])},
        {'position_rad': np.full((2, 7), np.nan)},
    ):
        bad = dataclasses.replace(good, **change)

        result = driver.follow(bad, Tolerances())

        assert result.status is GoalStatus.REJECTED
        assert 'rejected' in result.error_string
    np.testing.assert_allclose(driver.joint_state().position_rad, before, atol=1e-3)


def test_new_goal_preempts_the_old_one(sim: Running, driver: RosDriver) -> None:
    poller = Poller(sim.client.node)
    second_driver = RosDriver(sim.client.node, poller, sim.client.group)
    poller.start()
    first = Background(lambda: driver.follow(move(driver, 0.5, 4.0), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.02, 'motion')

    second = second_driver.follow(move(driver, -0.1, 1.0), Tolerances())

    assert second.status is GoalStatus.SUCCEEDED
    old = first.result()
    assert (old.status, old.error_code) == (GoalStatus.ABORTED, FollowError.INVALID_GOAL)
    assert old.error_string == 'Current goal preempted by new incoming action.'


def test_cancel_ends_the_goal_and_holds(driver: RosDriver) -> None:
    running = Background(lambda: driver.follow(move(driver, 0.8, 4.0), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.1, 'motion')

    driver.stop()

    assert running.result().status is GoalStatus.CANCELED
    driver.wait(0.3)
    held = driver.joint_state()
    driver.wait(0.3)
    np.testing.assert_allclose(driver.joint_state().position_rad, held.position_rad, atol=2e-3)


def test_stop_between_two_motions_ends_the_next_unless_a_new_call_begins(
    driver: RosDriver,
) -> None:
    driver.stop()

    assert driver.follow(move(driver, 0.3, 2.0), Tolerances()).status is GoalStatus.CANCELED
    driver.stop()
    driver.begin()
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_anybody_can_cancel_all_goals_at_once(sim: Running, driver: RosDriver) -> None:
    running = Background(lambda: driver.follow(move(driver, 0.8, 4.0), Tolerances()))
    until(lambda: abs(driver.joint_state().velocity_rad_s[0]) > 0.1, 'motion')

    sim.ask(CancelGoal, 'fr3_arm_controller/follow_joint_trajectory/_action/cancel_goal')

    assert running.result().status is GoalStatus.CANCELED


def test_path_tolerance_aborts(driver: RosDriver) -> None:
    far = move(driver, 0.3, 0.02)  # nobody moves 0.3 rad in 20 ms

    result = driver.follow(far, Tolerances(path_rad=0.02))

    assert result.status is GoalStatus.ABORTED
    assert result.error_code is FollowError.PATH_TOLERANCE_VIOLATED
    assert 'path tolerance' in result.error_string


def test_goal_that_never_ends_is_cancelled(sim: Running, driver: RosDriver) -> None:
    inject(sim, 'endless_goal')

    result = driver.follow(move(driver, 0.05, 0.3), Tolerances(goal_time_s=0.1))

    assert result.status is GoalStatus.TIMED_OUT
    assert 'gave no result within' in result.error_string
    inject(sim, 'endless_goal', clear=True)
    assert driver.follow(move(driver, 0.1, 0.5), Tolerances()).status is GoalStatus.SUCCEEDED


def test_load_is_taken_only_when_idle(sim: Running, driver: RosDriver) -> None:
    def set_load() -> Any:
        return sim.ask(SetLoad, 'service_server/set_load', mass=0.1)

    refused = set_load()
    assert not refused.success
    assert 'not possible in the current mode ("Move")' in refused.error
    arm = ['fr3_arm_controller']
    switch = 'controller_manager/switch_controller'
    assert sim.ask(SwitchController, switch, deactivate_controllers=arm).ok
    assert set_load().success
    assert sim.ask(SwitchController, switch, activate_controllers=arm).ok
    unknown = sim.ask(SwitchController, switch, activate_controllers=['nobody'])
    assert not unknown.ok
    assert "'nobody'" in unknown.message


def test_services_of_the_simulator_answer_mistakes_in_words(
    sim: Running, driver: RosDriver
) -> None:
    for kind, name, fields, says in (
        (ResetSim, 'reset', {'scene': 'tabeltop'}, "Did you mean 'tabletop'?"),
        (SetObjectPose, 'set_object_pose', {'name': 'red_cub'}, "Did you mean 'red_cube'?"),
        (SetObjectMass, 'set_object_mass', {'name': 'red_cube', 'mass': -1.0}, 'above 0 kg'),
        (InjectFault, 'inject_fault', {'fault': 'reflx'}, "Did you mean 'reflex'?"),
    ):
        reply = sim.ask(kind, f'sim/{name}', **fields)

        assert not reply.success
        assert says in reply.message


def test_controller_tells_what_it_wants_and_where_the_links_are(
    sim: Running, driver: RosDriver
) -> None:
    states: list[JointTrajectoryControllerState] = []
    frames: dict[str, TransformStamped] = {}

    def learn(msg: TFMessage) -> None:
        frames.update({item.child_frame_id: item for item in msg.transforms})

    node = sim.client.node
    subscriptions = [
        node.create_subscription(
            JointTrajectoryControllerState,
            'fr3_arm_controller/controller_state',
            states.append,
            10,
        ),
        node.create_subscription(TFMessage, 'tf', learn, 10),
        node.create_subscription(TFMessage, 'tf_static', learn, LATCHED),
    ]
    links = {*(f'fr3_link{i}' for i in range(1, 9)), 'fr3_hand', 'fr3_hand_tcp'}
    until(lambda: states and links <= set(frames), 'state and transforms')
    for subscription in subscriptions:
        node.destroy_subscription(subscription)

    assert list(states[0].joint_names) == [f'fr3_joint{i}' for i in range(1, 8)]
    np.testing.assert_allclose(states[0].error.positions, np.zeros(7), atol=0.01)
    # The ready posture, by the published kinematics.
    tcp = place_in_base(frames, 'fr3_hand_tcp')
    np.testing.assert_allclose(tcp, [0.306891, 0.0, 0.486882], atol=2e-3)


def place_in_base(frames: dict[str, TransformStamped], name: str) -> np.ndarray:
    """Return where a frame is, through all its parents."""
    place = np.zeros(3)
    while name in frames:
        at = frames[name].transform
        turned = np.empty(3)
        quat_wxyz = np.array([at.rotation.w, at.rotation.x, at.rotation.y, at.rotation.z])
        mujoco.mju_rotVecQuat(turned, place, quat_wxyz)
        place = turned + np.array([at.translation.x, at.translation.y, at.translation.z])
        name = frames[name].header.frame_id
    assert name == 'base'
    return place


def test_clock_never_runs_backwards_over_a_change_of_scene(
    sim: Running, driver: RosDriver
) -> None:
    before_s = driver.now_s()

    assert sim.ask(ResetSim, 'sim/reset', scene='tower').success

    driver.wait(0.1)
    assert driver.now_s() > before_s
    assert sim.ask(ResetSim, 'sim/reset', scene='tabletop').success


def test_wait_lasts_on_the_clock_of_the_world_and_ends_with_stop(driver: RosDriver) -> None:
    begun_s = driver.now_s()
    driver.wait(0.2)
    assert driver.now_s() - begun_s >= 0.2

    threading.Timer(0.2, driver.stop).start()
    driver.wait(30.0)
    assert driver.now_s() - begun_s < 20.0


def test_frozen_joint_states_are_an_error_that_names_the_node(
    sim: Running, driver: RosDriver
) -> None:
    # The driver of a robot that has gone: its process is stopped, not its connection.
    process = sim.stack.processes['mujoco_sim']
    process.send_signal(19)
    try:
        with pytest.raises(LostNodeError, match='mujoco_sim has gone: no joint states'):
            driver.wait(60.0)
    finally:
        process.send_signal(18)
    until(lambda: driver.feed.fresh, 'joint states')
