"""The skill push: where the fingers go, what would do instead, and where objects end up."""

import math
from dataclasses import replace

import pytest

from bbllm.core.arguments import DIRECTIONS
from bbllm.core.types import Code, Fact, Kind, Scene, SceneObject, SkillCall, Status
from bbllm.scene.scene_file import ObjectSpec, SceneFile, load_scene
from bbllm.skills.catalog import arm_skills, skills_for
from bbllm.skills.grasps import FINGER_LAYERS, TIP_BELOW_TCP_M
from bbllm.skills.plan_check import check_plan
from bbllm.skills.push import ASIDE_M, PUSH, PUSHED_M
from bbllm.skills.risk import risk
from bbllm.skills.segments import Motion, Rise
from bbllm.skills.shapes import outline, polygon_gap
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.skills.laid_tables import (
    TABLE,
    cube,
    cylinder,
    planned,
    reached,
    rejection_of,
    scene_of,
)

RED = cube('red_cube', 0.5, 0.0)
CRATE = replace(cube('crate', 0.5, 0.0, 0.03), size_m=(0.12, 0.1, 0.06))


def push(way: str = 'left', distance: str = '0.1', name: str = 'red_cube') -> SkillCall:
    return SkillCall('push', (name, way, distance))


def far_m(motion: Motion) -> float:
    """Return how far the fingers go on their way to and with the object [m]."""
    pushing, back = motion.glides
    assert back.activity == 'moving away from red_cube'
    return math.hypot(*pushing.shift_m[:2])


@pytest.mark.parametrize('way', DIRECTIONS)
@pytest.mark.parametrize(
    'item', [RED, cylinder('red_cube', 0.5, 0.0), replace(CRATE, name='red_cube')]
)
def test_closed_fingers_come_down_behind_an_object_and_move_it_so_far(
    way: str, item: SceneObject
) -> None:
    scene = scene_of(item)

    motion = planned(push(way, '0.2'), scene)
    above = reached(push(way, '0.2'), scene)

    u, v = DIRECTIONS[way]
    extent_m = item.size_m[0] if u else item.size_m[1]
    thick_m = max(layer.half_width_m for layer in FINGER_LAYERS)
    for grip in above.grips:
        x, y, z = grip.position_m
        behind_m = -((x - 0.5) * u + y * v)
        assert behind_m > extent_m / 2 + thick_m
        assert abs((x - 0.5) * v - y * u) < 1e-9
        assert grip.opening_m == 0.0
        assert z - TIP_BELOW_TCP_M > 0.0
        # All the way, less what is between fingers and object at the start.
        lead_m = far_m(motion) - 0.2
        assert (
            behind_m - lead_m >= extent_m / 2 + min(x.half_width_m for x in FINGER_LAYERS) - 1e-9
        )
    assert motion.rest is not None
    assert motion.rest.target.centre_m == pytest.approx(
        (0.5 + 0.2 * u, 0.2 * v, item.pose.position_m[2])
    )
    assert motion.rest.tolerance_m == PUSHED_M
    assert isinstance(motion.segments[-1], Rise) and not motion.grips


def test_fingers_are_turned_with_the_face_that_they_push() -> None:
    above = reached(push(), scene_of(cube('red_cube', 0.5, 0.0, yaw_deg=10)))

    yaws = {round(math.degrees(grip.yaw_rad)) % 360 for grip in above.grips}
    assert yaws == {100, 280}


@pytest.mark.parametrize(
    ('item', 'facts', 'code', 'wording'),
    [
        (
            replace(RED, kind=Kind.FIXTURE),
            (),
            Code.NOT_GRASPABLE,
            'is a fixture, and that cannot be',
        ),
        (RED, (Fact('red_cube', 'held_by', 'hand'),), Code.ALREADY_HOLDING, 'place it first'),
        (
            RED,
            (Fact('vase', 'held_by', 'hand'),),
            Code.ALREADY_HOLDING,
            'vase is in the hand; place',
        ),
        (RED, (Fact('vase', 'on', 'red_cube'),), Code.COVERED, 'because vase stands on it'),
        (
            RED,
            (Fact('red_cube', 'on', 'vase'),),
            Code.NOT_GRASPABLE,
            'is on vase, and would be pushed off',
        ),
        (cylinder('red_cube', 0.5, 0.0, 0.12), (), Code.NOT_GRASPABLE, 'would tip over'),
        (
            cube('red_cube', 0.5, 0.0, yaw_deg=45),
            (),
            Code.NOT_GRASPABLE,
            'none of its faces points',
        ),
        (replace(RED, size_m=(0.04, 0.04, 0.004)), (), Code.NOT_GRASPABLE, '4 mm high'),
    ],
)
def test_what_cannot_be_pushed_is_refused_with_the_reason(
    item: SceneObject, facts: tuple[Fact, ...], code: Code, wording: str
) -> None:
    rejection = rejection_of(push(), scene_of(item, cube('vase', 0.3, 0.3), facts=facts))

    assert (rejection.code, wording in rejection.message) == (code, True), rejection


def test_a_cylinder_that_lies_would_roll_away() -> None:
    half = 0.5**0.5
    can = cylinder('red_cube', 0.5, 0.0)
    lying = replace(can, pose=replace(can.pose, quat_xyzw=(half, 0.0, 0.0, half)))

    assert 'would roll away' in rejection_of(push(), scene_of(lying)).message


@pytest.mark.parametrize('way', DIRECTIONS)
def test_a_push_that_is_blocked_proposes_a_distance_that_is_free(way: str) -> None:
    u, v = DIRECTIONS[way]
    vase = cube('vase', 0.5 + 0.13 * u, 0.13 * v)
    scene = scene_of(RED, vase)

    rejection = rejection_of(push(way, '0.2'), scene)

    assert rejection.code is Code.OCCUPIED
    assert 'because vase is in its way' in rejection.message
    proposed = rejection.message.partition('Up to ')[2].partition(' m')[0]
    motion = planned(push(way, proposed), scene)
    assert motion.rest is not None
    there = replace(RED, pose=replace(RED.pose, position_m=motion.rest.target.centre_m))
    assert polygon_gap(outline(there), outline(vase)) >= ASIDE_M


def test_a_push_that_cannot_even_begin_proposes_other_directions() -> None:
    scene = scene_of(RED, cube('vase', 0.5, 0.055), cube('jar', 0.555, 0.0))

    message = rejection_of(push(), scene).message

    assert 'As far to the right or back would do.' in message
    planned(push('right'), scene)
    planned(push('back'), scene)


def test_nothing_is_pushed_off_the_table() -> None:
    edge = cube('red_cube', 0.5, 0.715)

    rejection = rejection_of(push('left', '0.1'), scene_of(edge))

    assert 'too near to the edge of table' in rejection.message
    assert 'Up to 0.04 m would do.' in rejection.message
    assert TABLE.size_m[1] / 2 == 0.8


def test_to_pass_something_closely_is_a_risk() -> None:
    near, wide = cube('vase', 0.56, 0.1), cube('jar', 0.62, 0.1)

    assert risk(push(), scene_of(RED, wide)) == ''
    assert risk(push(), scene_of(RED, near)) == 'it pushes red_cube past vase, 2.0 cm beside it'


def test_where_an_object_lies_after_a_push_is_not_certain() -> None:
    vase = cube('vase', 0.5, -0.2)
    offered = skills_for((), ('push',))
    scene: Scene = replace(
        scene_of(RED, vase, facts=(Fact('red_cube', 'on', 'table'), Fact('hand', 'is', 'empty'))),
        skills=offered,
    )
    place = SkillCall('place', ('0.5 0.1 0.02',))
    picked = SkillCall('pick', ('vase',))

    assert not check_plan([push(), picked, SkillCall('place', ('0.5 0 0.02',))], scene)
    assert not check_plan([push(), picked, place], scene)  # it may be there or not
    assert check_plan([push('right', '0.3')], scene)[0].code is Code.OCCUPIED


def test_push_is_offered_where_a_scene_asks_for_it() -> None:
    assert PUSH.signature not in skills_for((RED,))
    assert skills_for((RED,), ('push',))[-1] == PUSH.signature
    assert arm_skills()['push'] is PUSH


def world_of(friction: float | None = 0.4, **more: object) -> TabletopWorld:
    spec = {'name': 'red_cube', 'kind': 'cube', 'xy': (0.48, 0.0), **more}
    objects = (ObjectSpec.model_validate(spec),)
    return TabletopWorld(SceneFile(objects=objects, skills=('push',), friction=friction))


@pytest.mark.parametrize(
    ('way', 'spec'),
    [
        ('right', {}),
        ('left', {'yaw_deg': 10}),
        ('back', {'size': (0.12, 0.1, 0.06), 'mass': 0.4}),
        ('forward', {'kind': 'cylinder', 'size': (0.04, 0.05)}),
        ('left', {'size': (0.05, 0.05, 0.01)}),
    ],
)
def test_an_object_is_pushed_as_far_as_was_asked_and_can_be_picked_next(
    way: str, spec: dict[str, object]
) -> None:
    world = world_of(**spec)
    x, y, z = world.truth().object('red_cube').pose.position_m

    outcome = world.execute(push(way, '12 cm'))

    assert outcome.succeeded, outcome.message
    u, v = DIRECTIONS[way]
    there = world.truth().object('red_cube').pose.position_m
    assert math.dist(there, (x + 0.12 * u, y + 0.12 * v, z)) < 0.012
    if 'mass' not in spec:  # the crate is wider than the hand opens
        assert world.execute(SkillCall('pick', ('red_cube',))).succeeded


def test_what_is_fixed_stays_and_the_arm_stops() -> None:
    world = world_of(fixed=True)
    before = world.truth().object('red_cube').pose.position_m

    outcome = world.execute(push())

    assert outcome.status is Status.FAILED
    assert outcome.code in (Code.REFLEX, Code.PATH_TOLERANCE, Code.CONTROLLER_ABORTED)
    assert math.dist(world.truth().object('red_cube').pose.position_m, before) < 0.003


def test_a_push_that_jams_at_the_default_friction_states_the_friction() -> None:
    outcome = world_of(friction=None).execute(push('forward', '0.12'))

    assert outcome.code is Code.REFLEX
    assert 'With a lower `friction` in the scene file it would slide' in outcome.message


def test_a_push_beyond_the_reach_of_the_arm_is_refused_before_anything_moves() -> None:
    world = world_of(xy=(0.6, 0.0))
    activities: list[str] = []
    world.set_activity_callback(activities.append)

    outcome = world.execute(push('forward', '0.3'))

    assert outcome.status is Status.REJECTED, outcome
    assert 'shorter distance or another direction would do' in outcome.message
    assert activities == []


def test_a_crate_that_is_too_wide_to_grip_is_within_reach_and_is_pushed() -> None:
    world, call = TabletopWorld(load_scene('push_and_turn')), push('left', '0.15', 'brown_crate')

    scene = world.observe()
    refused = world.execute(SkillCall('pick', ('brown_crate',)))

    assert scene.has('brown_crate', 'reachable', 'yes')
    assert check_plan([call], scene) == ()
    assert refused.code is Code.NOT_GRASPABLE
    assert refused.message == 'brown_crate is 10.0 cm wide, but the hand grips at most 7.6 cm.'
    assert world.execute(call).succeeded
    assert world.observe().has('brown_crate', 'on', 'location_A')
