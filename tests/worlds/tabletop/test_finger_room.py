"""The room that prompts state for the fingers is what the arm needs, and no more."""

import math

import pytest

from bbllm.core.types import Code, SkillCall
from bbllm.scene.scene_file import make_scene
from bbllm.skills.grasps import FINGER_LAYERS, in_mm, room_m
from bbllm.worlds.tabletop.tabletop import TabletopWorld

STATED_MM = in_mm(room_m(FINGER_LAYERS[0]))
MIDDLE = (0.5413, 0.0774)


def crowded(gap_mm: float, axis: str, place: bool) -> TabletopWorld:
    """Return a table with a cube that can be gripped along one axis only, beside another cube."""

    def at(along_m: float, across_m: float) -> list[float]:
        dx, dy = (along_m, across_m) if axis == 'x' else (-across_m, along_m)
        return [MIDDLE[0] + dx, MIDDLE[1] + dy]

    where = {
        'near_cube': at(0.04 + gap_mm / 1000, 0),
        'left': at(0, 0.046),
        'right': at(0, -0.046),
    }
    where['red_cube'] = [0.45, -0.3] if place else at(0, 0)
    objects = [{'name': name, 'kind': 'cube', 'xy': xy} for name, xy in where.items()]
    return TabletopWorld(make_scene({'objects': objects}), seed=0)


@pytest.mark.parametrize('axis', ['x', 'y'])
@pytest.mark.parametrize('gap_mm', [STATED_MM, STATED_MM + 4])
@pytest.mark.parametrize('place', [False, True])
def test_a_gap_that_is_stated_as_enough_is_used_and_nothing_is_touched(
    axis: str, gap_mm: float, place: bool
) -> None:
    world = crowded(gap_mm, axis, place)
    before = {item.name: item.pose.position_m for item in world.observe().objects}

    outcome = world.execute(SkillCall('pick', ('red_cube',)))
    if place:
        x, y = MIDDLE
        outcome = world.execute(SkillCall('place', (f'{x} {y} 0.02 0',)))

    assert outcome.succeeded, outcome
    for item in world.truth().objects:
        if item.name in ('near_cube', 'left', 'right'):
            assert math.dist(item.pose.position_m, before[item.name]) < 1e-4


def test_a_millimetre_less_is_refused_with_what_is_there_and_what_is_needed() -> None:
    outcome = crowded(STATED_MM - 1, 'x', place=False).execute(SkillCall('pick', ('red_cube',)))

    assert outcome.code is Code.NO_CLEARANCE
    assert (
        f'along x, {STATED_MM - 1} of {STATED_MM} mm are free beside near_cube (away from the '
        'robot)' in outcome.message
    )
