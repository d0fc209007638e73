"""What the robot tells of itself: poses, twists, wrenches and masses that belong together."""

from typing import Any

import numpy as np
import pytest

from bbllm.arm import robot_settings as orders
from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal
from bbllm.arm.driver import GraspGoal
from bbllm.sim.reading import read_wrenches
from bbllm.sim.robot import SimulatedRobot


def test_a_held_weight_is_carried_upwards_in_the_base_frame(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0], 'mass': 1.0})
    arm.go(0.5, 0.0, 0.02)
    assert arm.driver.grasp(GraspGoal(0.04, 0.1, 60.0, 0.005, 0.005)).success
    arm.go(0.5, 0.0, 0.15)
    arm.driver.wait(1.0)

    k_f_ext, o_f_ext = read_wrenches(arm.robot)

    # As libfranka has it, this is what the robot does to the thing.
    assert o_f_ext[:3] == pytest.approx([0, 0, 9.81], abs=0.3)
    # The stiffness frame is between the finger tips, where the weight is, and points down.
    assert k_f_ext[2] == pytest.approx(-9.81, abs=0.3)
    assert np.abs(k_f_ext[3:]).max() < 0.1


def test_another_stiffness_frame_turns_the_wrench(make_arm: Any) -> None:
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0], 'mass': 1.0})
    arm.go(0.5, 0.0, 0.02)
    arm.driver.grasp(GraspGoal(0.04, 0.1, 60.0, 0.005, 0.005))
    arm.go(0.5, 0.0, 0.15)
    arm.driver.wait(1.0)
    about_x = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    arm.robot.deactivate_controllers()
    k_before, o_before = read_wrenches(arm.robot)
    assert arm.robot.order(orders.stiffness_frame_order(about_x.T.ravel())) == ''

    k_after, o_after = read_wrenches(arm.robot)

    assert k_after[1] == pytest.approx(k_before[2], abs=0.05)
    assert o_after[:3] == pytest.approx(o_before[:3], abs=0.05)


# A hand that points straight down has a rotation that is its own inverse, a tilted one has not.
@pytest.mark.parametrize('wrist_deg', [(0, 0, -35), (20, -25, -35)], ids=['yaw 35', 'tilted'])
@pytest.mark.parametrize('push_n', [(4.0, 0.0, 0.0), (0.0, -3.0, 0.0), (2.0, 3.0, -1.0)])
def test_a_push_from_the_side_is_reported_in_world_axes_however_the_hand_is_turned(
    robot: SimulatedRobot, push_n: tuple[float, float, float], wrist_deg: tuple[float, ...]
) -> None:
    turned = robot.joint_state().position_rad
    turned[4:] += np.radians(wrist_deg)
    robot.follow(
        TrajectoryGoal(
            joint_names=robot.robot_model.joints,
            time_s=(1.0,),
            position_rad=(tuple(turned),),
            velocity_rad_s=((0.0,) * 7,),
        )
    )
    robot.advance(1.5)
    felt: list[np.ndarray] = []
    robot.on_force = lambda force_n, _stamp_s, _fastest_rad_s: felt.append(force_n)

    with robot.paused() as simulation:
        simulation.data.body('fr3_hand').xfrc_applied[:3] = push_n
    robot.advance(0.5)

    _, o_f_ext = read_wrenches(robot)
    assert felt[-1] == pytest.approx(push_n, abs=0.05)
    # As libfranka has it, this is what the robot does to what pushes it.
    assert -o_f_ext[:3] == pytest.approx(push_n, abs=0.05)
