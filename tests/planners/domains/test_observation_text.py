"""What an observation lists where, and by which of its places a thing is told."""

from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.types import Kind, PlanStep, Pose, Scene, SceneObject, Task
from bbllm.planners.brain_body.prompting import Prompts
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ShortNames, text_of
from bbllm.skills.catalog import SKILLS
from tests.planners.made_scenes import made_scene


def house(objects: str, *facts: str) -> Scene:
    """Return a scene of a room `kitchen_1`, of who acts, and of things."""
    return made_scene(f'kitchen_1 character_2 {objects}', *facts, rooms='kitchen_1')


def lists_of(scene: Scene) -> dict[str, str]:
    names = ShortNames()
    names.see(scene)
    lines = text_of(language_of(scene).observation(scene, names)).splitlines()
    return dict(line.split(': ', 1) for line in lines)


def test_what_can_be_taken_or_switched_is_an_object_beside_what_it_holds_and_others_are_not() -> (
    None
):
    lists = lists_of(
        house(
            'box_3 cabinet_4 oven_5 tray_6 spoon_7',
            *('box_3 affords containers', 'box_3 affords grabbable', 'cabinet_4 affords can_open'),
            *('cabinet_4 affords containers', 'oven_5 affords containers'),
            *('oven_5 affords has_switch', 'tray_6 affords surfaces', 'spoon_7 affords cut'),
        )
    )

    assert lists['Object List'] == '[box1, oven1, spoon1]'
    assert lists['Container List'] == '[box1, cabinet1, oven1]'
    assert lists['Surface List'] == '[tray1]'


def test_an_object_is_described_by_its_support_else_its_container_else_its_room() -> None:
    objects = 'mug_3 fork_4 lamp_5 tray_6 drawer_7'
    facts = [f'{name} affords grabbable' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += [f'{name} in_room kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += ['mug_3 on tray_6', 'mug_3 inside drawer_7', 'fork_4 inside drawer_7']
    facts += [f'{name} inside kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]

    assert lists_of(house(objects, *facts))['Object List'] == (
        '[mug1 ON tray1, fork1 IN drawer1, lamp1 IN kitchen1]'
    )


LOST = LostObject(name='red_cube', position_m=(0.45, 0.16, 0.02), seen_s=88.0)
STEP = PlanStep(0, 'pick red_cube')


def scene() -> Scene:
    objects = tuple(
        SceneObject(
            name=name,
            kind=Kind.CUBE,
            pose=Pose(position_m=(0.5, y, 0.02)),
            size_m=(0.04, 0.04, 0.04),
            color=name.split('_')[0],
        )
        for name, y in (('blue_cube', 0.0), ('green_cube', 0.2))
    )
    return Scene(objects, SKILLS, lost_facts([LOST], 100.0), 100.0)


def test_a_lost_object_is_marked_lost_and_not_among_the_objects() -> None:
    prompt = Prompts().planning(Task('t', 'put the red cube on the blue cube'), scene())

    assert '(red_cube is lost)' in prompt
    assert '(red_cube last_seen_at 0.450 0.160 0.020)' in prompt
    assert '(red_cube unseen_for 12 s)' in prompt
    assert '\nred_cube cube' not in prompt
    assert '\nblue_cube cube' in prompt


def test_objects_of_a_class_are_numbered_by_first_sight_and_never_share_a_name() -> None:
    names = ShortNames()
    for text in ('cup_9 bed_3', 'cup_2 cup_9', 'bed_1'):
        names.see(made_scene(text))
    assert list(map(names.short, ('cup_9', 'cup_2', 'bed_3', 'bed_1'))) == [
        'cup1',
        'cup2',
        'bed1',
        'bed2',
    ]
    assert [names.name(word) for word in ('cup2', 'Cup 2', 'cup_2')] == ['cup_2'] * 3

    ending_in_a_digit = ['box1_100', *(f'box_{i}' for i in range(1, 13))]
    names.see(made_scene(' '.join(ending_in_a_digit)))
    shorts = list(map(names.short, ending_in_a_digit))
    assert len({*shorts}) == 13
    assert list(map(names.name, shorts)) == ending_in_a_digit
