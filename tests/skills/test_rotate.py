"""The skill rotate: grips before and after, what would do instead, and where objects end up."""

import math
import re
from dataclasses import replace

import pytest

from bbllm.core.types import Code, Fact, SkillCall, Status
from bbllm.scene.scene_file import ObjectSpec, SceneFile
from bbllm.skills.catalog import skills_for
from bbllm.skills.rotate import ROTATE
from bbllm.skills.segments import CloseOn, Glide, LetGo, Lift, MoveAbove, Rise
from bbllm.skills.shapes import flat_axes
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.skills.laid_tables import cube, planned, reached, rejection_of, scene_of

PLANK = replace(cube('plank', 0.5, 0.0), size_m=(0.14, 0.03, 0.04))


def rotate(degrees: str, name: str = 'plank') -> SkillCall:
    return SkillCall('rotate', (name, degrees))


@pytest.mark.parametrize(('degrees', 'parts'), [('45', 1), ('-90', 1), ('135', 2), ('-180', 2)])
def test_an_object_is_gripped_lifted_turned_set_down_and_let_go(degrees: str, parts: int) -> None:
    motion = planned(rotate(degrees), scene_of(PLANK))

    kinds = [type(segment) for segment in motion.segments]
    assert kinds == [MoveAbove, CloseOn, Lift, *[Glide] * (parts + 1), LetGo, Rise]
    turned = sum(glide.turn_rad for glide in motion.glides)
    assert math.degrees(turned) == pytest.approx(float(degrees))
    assert motion.rest is not None
    assert motion.rest.target.centre_m == PLANK.pose.position_m
    assert motion.grips and motion.moved == ('plank',)


def test_a_turn_into_a_neighbour_proposes_one_that_is_free() -> None:
    vase = cube('vase', 0.5, 0.06)
    scene = scene_of(PLANK, vase)

    rejection = rejection_of(rotate('90'), scene)

    assert rejection.code is Code.OCCUPIED
    assert 'because vase is in its way' in rejection.message
    proposed = re.search(r'A turn by (\S+) degrees would do', rejection.message)
    assert proposed is not None
    planned(rotate(proposed[1]), scene)


def test_grips_need_room_for_the_fingers_after_the_turn_too() -> None:
    posts = (cube('post', 0.565, 0.0), cube('pole', 0.435, 0.0))
    red = cube('red_cube', 0.5, 0.0)
    scene = scene_of(red, *posts)

    free = reached(rotate('90', 'red_cube'), scene_of(red)).grips
    tight = reached(rotate('90', 'red_cube'), scene).grips

    assert max(grip.opening_m for grip in tight) < max(grip.opening_m for grip in free)


@pytest.mark.parametrize(
    ('facts', 'code', 'wording'),
    [
        ((Fact('plank', 'held_by', 'hand'),), Code.ALREADY_HOLDING, 'place it with a yaw'),
        ((Fact('vase', 'held_by', 'hand'),), Code.ALREADY_HOLDING, 'place that first'),
        ((Fact('vase', 'on', 'plank'),), Code.COVERED, 'because vase stands on it'),
    ],
)
def test_what_cannot_be_rotated_is_refused(
    facts: tuple[Fact, ...], code: Code, wording: str
) -> None:
    rejection = rejection_of(rotate('45'), scene_of(PLANK, cube('vase', 0.3, 0.3), facts=facts))

    assert rejection.code is code
    assert wording in rejection.message


def test_what_is_too_wide_cannot_be_rotated() -> None:
    crate = replace(PLANK, size_m=(0.12, 0.1, 0.06))

    assert 'is 10.0 cm wide' in rejection_of(rotate('45'), scene_of(crate)).message


def test_rotate_is_offered_where_a_scene_asks_for_it() -> None:
    assert ROTATE.signature not in skills_for((PLANK,))
    assert ROTATE.signature in skills_for((PLANK,), ('rotate',))


@pytest.mark.parametrize(
    ('degrees', 'xy', 'size'),
    [
        ('45', (0.45, 0.2), (0.04, 0.04, 0.04)),
        *((d, (0.5, -0.25), (0.14, 0.03, 0.04)) for d in ('180', '-90')),
    ],
)
def test_an_object_is_rotated_where_it_stands(
    degrees: str, xy: tuple[float, float], size: tuple[float, float, float]
) -> None:
    spec = ObjectSpec(name='plank', kind='cube', xy=xy, size=size)
    world = TabletopWorld(SceneFile(objects=(spec,), skills=('rotate',)))
    before = world.truth().object('plank')

    assert world.execute(rotate(degrees)).succeeded

    after = world.truth().object('plank')
    turned = flat_axes(after)[0][0] - flat_axes(before)[0][0] - math.radians(float(degrees))
    assert abs(math.remainder(turned, math.tau)) < math.radians(3)
    assert math.dist(after.pose.position_m, before.pose.position_m) < 0.008


def test_what_is_fixed_is_not_rotated() -> None:
    spec = ObjectSpec(name='plank', kind='cube', xy=(0.48, 0.0), fixed=True)
    world = TabletopWorld(SceneFile(objects=(spec,), skills=('rotate',)))

    outcome = world.execute(rotate('45'))

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.WOULD_NOT_RISE)
