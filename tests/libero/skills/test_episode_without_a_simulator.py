"""An episode from scene to success with the skills as they are, on a robot without physics."""

import numpy as np
import pytest

from bbllm.core.types import Code, SkillCall, Status
from bbllm_libero.expert import calls_for
from bbllm_libero.skills import SKILLS
from bbllm_libero.skills.place import resolve
from bbllm_libero.skills.push import _within
from bbllm_libero.world import LiberoWorld
from tests.libero.skills.kinematic_panda import BASKET, OVEN, TRAY, KinematicPanda, with_a_basket


def test_a_box_goes_into_a_basket_by_the_calls_of_the_expert() -> None:
    robot = with_a_basket(KinematicPanda)
    world = LiberoWorld(robot, SKILLS)  # type: ignore[arg-type]
    goal = [('in', 'box_1', BASKET)]

    outcomes = [world.execute(call) for call in calls_for(goal, world.observe())]

    assert [o.status for o in outcomes] == [Status.SUCCEEDED] * 2, outcomes
    assert world.observe().has('box_1', 'in', BASKET)
    assert world.observe().held is None
    assert calls_for(goal, world.observe()) == ()
    assert 0 < world.steps < 300


def test_the_hand_returns_to_where_it_began_with_what_is_in_it() -> None:
    robot = with_a_basket(KinematicPanda)
    first = robot.state.tool.position_m
    world = LiberoWorld(robot, SKILLS)  # type: ignore[arg-type]
    world.execute(SkillCall('pick', ('box_1',)))
    picked = robot.state.tool.position_m

    outcome = world.execute(SkillCall('return_to_base', ()))

    assert outcome.succeeded
    assert np.linalg.norm(picked - first) > 0.05
    assert robot.state.tool.position_m == pytest.approx(first, abs=0.02)
    assert world.observe().held == 'box_1'


@pytest.mark.parametrize(
    ('place', 'code'), [('nowhere_1', Code.UNKNOWN_OBJECT), (OVEN, Code.OCCUPIED)]
)
def test_a_place_that_cannot_be_had_is_refused_with_the_object_still_in_the_hand(
    place: str, code: Code
) -> None:
    world = LiberoWorld(with_a_basket(KinematicPanda), SKILLS)  # type: ignore[arg-type]
    world.execute(SkillCall('pick', ('box_1',)))
    steps = world.steps

    outcome = world.execute(SkillCall('place', (place,)))

    assert (outcome.status, outcome.code) == (Status.REJECTED, code)
    assert world.steps == steps
    assert world.observe().held == 'box_1'


def test_a_hollow_object_with_something_behind_it_is_taken_along_by_its_rim() -> None:
    robot = with_a_basket(KinematicPanda)
    place = resolve(robot.task, robot.state, TRAY)

    found = _within(robot, 'tray_1', place)  # type: ignore[arg-type]

    assert found is not None
    start, touch_m, _ = found
    assert start[0, 3] == pytest.approx(0.65)
    assert 0.08 < start[1, 3] < 0.15  # near the rim that it pushes, away from the wall
    assert 0.005 < start[2, 3] < 0.015  # above the bottom, below the rim
    assert -0.07 < touch_m < -0.04  # the rim is 77 mm away; a pair of fingers is 8 to 21 mm deep
