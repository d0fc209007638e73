"""Things are put in and on containers, in physics; of a failure it is told which half failed."""

from dataclasses import replace
from typing import Any

from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.scene.scene_file import SceneFile, make_scene
from bbllm.skills.catalog import SKILLS
from bbllm.worlds.tabletop.tabletop import TabletopWorld

PLACES = {
    'plate': (0.44, 0.36),
    'bowl': (0.34, -0.40),
    'box': (0.60, -0.30),
    'banana': (0.42, 0.10),
    'pear': (0.56, 0.02),
    'strawberry': (0.44, -0.08),
    'orange': (0.60, 0.17),
    'bottle': (0.52, -0.12),
}


def table(*kinds: str) -> SceneFile:
    entities: list[dict[str, Any]] = [
        {'name': kind, 'kind': kind, 'xy': PLACES[kind], 'yaw_deg': 90 if kind == 'box' else 20}
        for kind in kinds
    ]
    return make_scene({'tables': [{'xy': [0.45, 0], 'size': [1.0, 1.4]}], 'objects': entities})


def put(world: TabletopWorld, entity: str, container: str) -> Outcome:
    return world.execute(SkillCall('grab_and_putin', (entity, container)))


def facts(world: TabletopWorld) -> list[str]:
    world.settled()
    return [str(fact) for fact in world.observe().facts if fact.predicate in ('on', 'in')]


def test_only_a_table_with_a_container_offers_to_put_objects_there() -> None:
    assert TabletopWorld('tabletop').observe().skills == SKILLS
    world = TabletopWorld(table('plate', 'pear'))
    names = [skill.name for skill in world.observe().skills]
    assert names == [*(skill.name for skill in SKILLS), 'grab_and_putin']
    assert world.skills == world.observe().skills


def test_fruit_and_bottle_come_to_rest_in_and_on_their_containers() -> None:
    world = TabletopWorld(table('plate', 'bowl', 'box', 'banana', 'pear', 'strawberry', 'bottle'))

    outcomes = [
        put(world, 'banana', 'bowl'),
        put(world, 'pear', 'plate'),
        put(world, 'strawberry', 'plate'),
        put(world, 'bottle', 'box'),
    ]

    assert [outcome.message for outcome in outcomes if not outcome.succeeded] == []
    assert facts(world) == [
        '(banana in bowl)',
        '(pear on plate)',
        '(strawberry on plate)',
        '(bottle in box)',
    ]


def test_a_failure_names_the_half_that_failed() -> None:
    world = TabletopWorld(table('bowl', 'plate', 'banana', 'orange'))
    assert put(world, 'banana', 'bowl').succeeded

    first = put(world, 'bowl', 'plate')
    second = put(world, 'orange', 'bowl')

    assert (first.status, first.code) == (Status.REJECTED, Code.NOT_GRASPABLE)
    assert first.message == (
        'The first half, pick(bowl), failed: bowl is a container, and that cannot be picked.'
    )
    assert (second.status, second.code) == (Status.FAILED, Code.OCCUPIED)
    assert second.message == (
        'orange is picked, but the second half, place(bowl), failed: orange cannot be put into '
        'bowl because banana leaves no room for it and the fingers. Where it would fit best, it '
        'needs 19 mm more beside banana (to the left). There is room for it in plate.'
    )
    assert world.observe().held == 'orange'
    assert put(world, 'orange', 'plate').succeeded  # another container would have done


def test_poses_in_containers_and_what_lies_below_a_rim_are_refused_with_the_reason() -> None:
    world = TabletopWorld(table('bowl', 'orange', 'strawberry'))
    assert put(world, 'orange', 'bowl').succeeded

    out = world.execute(SkillCall('pick', ('orange',)))
    assert world.execute(SkillCall('pick', ('strawberry',))).succeeded
    x, y = PLACES['bowl']
    pose = world.execute(SkillCall('place', (f'{x + 0.03} {y + 0.03} 0.025',)))

    assert out.code is Code.NO_CLEARANCE
    assert out.message.endswith('it lies deeper than the rim, and has to stay there.')
    assert pose.code is Code.OCCUPIED
    assert 'place takes a container by its name alone, bowl' in pose.message


def test_nothing_is_put_into_a_bowl_that_lies_upside_down() -> None:
    world = TabletopWorld(table('bowl', 'orange'))
    bowl = world.observe().object('bowl')
    over = replace(bowl.pose, quat_xyzw=(1.0, 0.0, 0.0, 0.0))
    world.robot.simulation.set_object_pose('bowl', over)

    outcome = put(world, 'orange', 'bowl')

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.BAD_ARGUMENTS)
    assert 'bowl does not stand upright' in outcome.message
    assert world.observe().held == 'orange'
