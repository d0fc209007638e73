"""The check of plans beside the simulated arm: the same refusals, and the same facts."""

import random

import pytest

from bbllm.core.types import MOVABLE, Fact, Scene, SkillCall, Status
from bbllm.scene.scene_file import ObjectSpec, SceneFile
from bbllm.skills.plan_check import ImaginedTable, check_plan
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from tests.worlds.small_tables import FAR, PLACE_A

SEQUENCES, CALLS = 20, 5
PREDICATES = ('held_by', 'on', 'in', 'occupied_by')


def random_table(dice: random.Random) -> SceneFile:
    """Return two cubes that are near each other, a tower of two, a cylinder and a cuboid."""
    x, y = dice.uniform(0.4, 0.5), dice.uniform(0.0, 0.1)
    sizes = {'kind': 'cube', 'yaw_deg': dice.uniform(-45, 45)}
    return SceneFile(
        objects=(
            ObjectSpec(name='red_cube', xy=(x, y), kind='cube'),
            ObjectSpec(name='blue_cube', xy=(x + dice.uniform(0.043, 0.07), y), kind='cube'),
            ObjectSpec(name='green_cube', xy=(0.45, 0.3), kind='cube'),
            ObjectSpec(name='white_cube', xyz=(0.45, 0.3, 0.06), kind='cube'),
            ObjectSpec(name='grey_cylinder', xy=(0.55, -0.35), kind='cylinder'),
            ObjectSpec(name='long_cube', xy=(0.35, -0.2), size=(0.1, 0.04, 0.04), **sizes),
        ),
        locations=(PLACE_A, FAR),
    )


def random_call(dice: random.Random, scene: Scene) -> SkillCall:
    """Return a call whose names are known; more often than not one that goes with the hand."""
    movables = [item.name for item in scene.objects if item.kind in MOVABLE]
    others = [item.name for item in scene.objects if item.kind not in MOVABLE]
    chance = dice.random()
    if chance < 0.1:
        return SkillCall(dice.choice(('return_to_base', 'open_gripper')))
    if (scene.held is None) is (chance < 0.85):
        return SkillCall('pick', (dice.choice(movables if chance > 0.15 else others),))
    if chance < 0.4:
        x, y, _ = scene.object(dice.choice(movables)).pose.position_m
        height_m = dice.choice((0.02, 0.06, 0.2))
        x, y = x + dice.uniform(-0.05, 0.05), y + dice.uniform(-0.05, 0.05)
        return SkillCall('place', (f'{x:.3f} {y:.3f} {height_m}',))
    return SkillCall('place', (dice.choice((*movables, *others, 'location_A')),))


def reported(facts: tuple[Fact, ...]) -> set[str]:
    return {str(fact) for fact in facts if fact.predicate in PREDICATES}


@pytest.mark.parametrize('seed', range(SEQUENCES))
def test_random_calls_are_refused_as_the_simulated_arm_refuses_them(seed: int) -> None:
    dice = random.Random(seed)
    world = TabletopWorld(random_table(dice))
    first, done = world.observe(), list[SkillCall]()
    for _ in range(CALLS):
        call = random_call(dice, world.observe())
        faults = check_plan([*done, call], first)
        outcome = world.execute(call)
        if outcome.succeeded:
            assert not faults
            done.append(call)
        elif outcome.status is Status.FAILED:
            break  # where all is now, is not known
        elif faults:
            (fault,) = faults
            assert fault.code is outcome.code
            # Later, objects are a tenth of a millimetre from where they were imagined.
            assert done or fault.sentence == outcome.message
    table = ImaginedTable(first)
    for call in done:
        table.execute(call)
    now = table.observe()
    lie_somewhere = any(fact.estimated for fact in now.facts)
    if outcome.status is not Status.FAILED and not lie_somewhere:
        assert reported(now.facts) == reported(world.observe().facts)
