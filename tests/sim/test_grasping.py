"""Friction grasps: things are held by nothing else, and are weighed in the hand."""

from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import GoalStatus, GraspGoal
from bbllm.arm.robot_settings import load_order


def lift(make_arm: Any, *, force_n: float, mass: float = 0.1, **more: Any) -> Any:
    """Grasp what stands at (0.5, 0) and lift it by 10 cm; return arm and slip [m]."""
    arm = make_arm({'name': 'it', 'kind': 'cube', 'xy': [0.5, 0.0], 'mass': mass, **more})
    arm.go(0.5, 0.0, 0.12)
    arm.go(0.5, 0.0, 0.02, duration_s=0.6)
    result = arm.driver.grasp(GraspGoal(0.04, 0.1, force_n, 0.005, 0.005))
    assert result.success, result.error
    before = arm.in_hand['it']
    assert arm.go(0.5, 0.0, 0.12, duration_s=0.6).status is GoalStatus.SUCCEEDED
    return arm, before


@pytest.mark.parametrize(('mass', 'force_n'), [(0.1, 10.0), (0.1, 40.0), (0.3, 20.0), (1.0, 40.0)])
def test_a_cube_is_lifted_and_carried_with_less_than_a_millimetre_of_slip(
    make_arm: Any, mass: float, force_n: float
) -> None:
    arm, before = lift(make_arm, force_n=force_n, mass=mass)
    assert arm.simulation.object_poses()['it'].position_m[2] == pytest.approx(0.12, abs=1e-3)
    assert np.linalg.norm(arm.in_hand['it'] - before) < 1e-3
    assert arm.go(0.45, 0.25, 0.15, duration_s=0.9).status is GoalStatus.SUCCEEDED
    arm.driver.wait(2.0)
    assert np.linalg.norm(arm.in_hand['it'] - before) < 1e-3


def test_too_weak_a_grip_lets_a_heavy_cube_go(make_arm: Any) -> None:
    """Friction 1 and 4 N in all carry 0.4 kg at most, so nothing but friction holds things."""
    arm, _ = lift(make_arm, force_n=4.0, mass=1.0)
    arm.driver.wait(0.5)
    assert arm.simulation.object_poses()['it'].position_m[2] < 0.05


@pytest.mark.parametrize('mass', [0.05, 0.1, 0.3])
def test_what_is_in_the_hand_can_be_weighed_at_the_flange(make_arm: Any, mass: float) -> None:
    arm, _ = lift(make_arm, force_n=20.0, mass=mass)
    arm.driver.wait(0.2)
    force = arm.robot.flange_wrench()[:3]
    assert force[2] / 9.81 == pytest.approx(mass, abs=2e-3)  # the flange's z axis points down
    assert np.abs(force[:2]).max() < 0.05


def test_the_known_load_takes_the_sag_away(make_arm: Any) -> None:
    heights = []
    for known in (False, True):
        arm, _ = lift(make_arm, force_n=70.0, mass=2.0)
        if known:
            arm.robot.deactivate_controllers()
            assert arm.robot.order(load_order(2.0, (0.0, 0.0, 0.1034))) == ''
            assert arm.robot.activate_controllers()
        else:
            assert 'current mode' in arm.robot.order(load_order(2.0, np.zeros(3)))
        arm.go(0.5, 0.0, 0.15)
        arm.driver.wait(0.5)
        heights.append(arm.simulation.data.site('tcp').xpos[2])
    assert heights[0] < 0.149
    assert heights[1] == pytest.approx(0.15, abs=5e-4)
