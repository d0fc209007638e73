"""The skills push and rotate in physics: where objects end up, and what stops them."""

import math

import pytest

from bbllm.core.types import Code, SceneObject, SkillCall, Status
from bbllm.scene.scene_file import ObjectSpec, SceneFile, load_scene
from bbllm.skills.plan_check import check_plan
from bbllm.skills.shapes import flat_axes
from bbllm.worlds.tabletop.tabletop import TabletopWorld

SKILLS = ('push', 'rotate')
WAYS = {'left': (0.0, 1.0), 'right': (0.0, -1.0), 'forward': (1.0, 0.0), 'back': (-1.0, 0.0)}


def world_of(*objects: ObjectSpec) -> TabletopWorld:
    return TabletopWorld(SceneFile(objects=objects, skills=SKILLS, friction=0.4))


def cube(x: float = 0.48, y: float = 0.0, **more: object) -> ObjectSpec:
    data = {'name': 'thing', 'kind': 'cube', 'xy': (x, y), **more}
    return ObjectSpec.model_validate(data)


def run(world: TabletopWorld, *args: str) -> None:
    outcome = world.execute(SkillCall(args[0], args[1:]))
    assert outcome.succeeded, outcome.message


def entity(world: TabletopWorld) -> SceneObject:
    return world.truth().object('thing')


@pytest.mark.parametrize(
    'spec',
    [
        cube(),
        cube(yaw_deg=10),
        cube(size=(0.12, 0.1, 0.06), mass=0.4),
        cube(kind='cylinder', size=(0.04, 0.05)),
        cube(size=(0.05, 0.05, 0.01)),
    ],
    ids=['cube', 'turned', 'crate', 'cylinder', 'flat'],
)
@pytest.mark.parametrize('way', WAYS)
def test_an_object_is_pushed_as_far_as_was_asked(spec: ObjectSpec, way: str) -> None:
    world = world_of(spec)
    x, y, z = entity(world).pose.position_m

    run(world, 'push', 'thing', way, '0.12')

    u, v = WAYS[way]
    there = entity(world).pose.position_m
    assert math.dist(there, (x + 0.12 * u, y + 0.12 * v, z)) < 0.012
    assert world.observe().has('hand', 'is', 'empty')


def test_what_is_pushed_can_be_picked_next() -> None:
    world = world_of(cube())

    run(world, 'push', 'thing', 'left', '10 cm')
    run(world, 'pick', 'thing')


@pytest.mark.parametrize('degrees', ['45', '-90', '180', '-135', '10'])
@pytest.mark.parametrize(
    'spec', [cube(0.45, 0.2), cube(0.5, -0.25, size=(0.14, 0.03, 0.04))], ids=['cube', 'plank']
)
def test_an_object_is_rotated_where_it_stands(spec: ObjectSpec, degrees: str) -> None:
    world = world_of(spec)
    before = entity(world)

    run(world, 'rotate', 'thing', degrees)

    after = entity(world)
    turned = flat_axes(after)[0][0] - flat_axes(before)[0][0] - math.radians(float(degrees))
    assert abs(math.remainder(turned, math.tau)) < math.radians(3)
    assert math.dist(after.pose.position_m, before.pose.position_m) < 0.008


@pytest.mark.parametrize('call', [('push', 'thing', 'left', '0.1'), ('rotate', 'thing', '45')])
def test_what_is_fixed_stays_and_the_arm_stops(call: tuple[str, ...]) -> None:
    world = world_of(cube(fixed=True))
    before = entity(world).pose

    outcome = world.execute(SkillCall(call[0], call[1:]))

    assert outcome.status is Status.FAILED
    assert outcome.code in (
        *(Code.REFLEX, Code.PATH_TOLERANCE, Code.CONTROLLER_ABORTED, Code.WOULD_NOT_RISE),
    )
    assert math.dist(entity(world).pose.position_m, before.position_m) < 0.003


def test_a_push_that_jams_at_the_default_friction_states_the_friction() -> None:
    world = TabletopWorld(SceneFile(objects=(cube(),), skills=SKILLS))

    outcome = world.execute(SkillCall('push', ('thing', 'forward', '0.12')))

    assert outcome.code is Code.REFLEX
    assert 'With a lower `friction` in the scene file it would slide' in outcome.message


def test_a_push_beyond_the_reach_of_the_arm_is_refused_before_anything_moves() -> None:
    world = world_of(cube(0.6, 0.0))
    activities: list[str] = []
    world.set_activity_callback(activities.append)

    outcome = world.execute(SkillCall('push', ('thing', 'forward', '0.3')))

    assert outcome.status is Status.REJECTED, outcome
    assert 'shorter distance or another direction would do' in outcome.message
    assert activities == []


def test_a_skill_that_the_scene_does_not_ask_for_is_unknown() -> None:
    world = TabletopWorld(SceneFile(objects=(cube(),)))

    outcome = world.execute(SkillCall('push', ('thing', 'left', '0.1')))

    assert outcome.code is Code.UNKNOWN_SKILL


def test_a_crate_that_is_too_wide_to_grip_is_within_reach_and_is_pushed() -> None:
    file = load_scene('push_and_turn')
    assert file.skills == SKILLS
    world = TabletopWorld(file)
    push = SkillCall('push', ('brown_crate', 'left', '0.15'))

    scene = world.observe()
    refused = world.execute(SkillCall('pick', ('brown_crate',)))

    assert scene.has('brown_crate', 'reachable', 'yes')
    assert check_plan([push], scene) == ()
    assert refused.code is Code.NOT_GRASPABLE
    assert refused.message == 'brown_crate is 10.0 cm wide, but the hand grips at most 7.6 cm.'
    run(world, push.skill, *push.args)
    assert world.observe().has('brown_crate', 'on', 'location_A')
