"""Constraints in plain words: what is read, which objects it is about, which calls break it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.constraints import (
    WORDS,
    Ban,
    Never,
    broken_by_call,
    broken_by_motion,
    descriptions,
    fault_of,
    objects_of,
    parse_never,
    unbound,
)
from tests.skills.laid_tables import OPEN_HAND, cube, cylinder, location, planned, scene_of

RED = replace(cube('red_cube', 0.45, 0.2), color='red')
RED_2 = replace(cube('red_cube_2', 0.55, 0.2), color='red')
BLUE = replace(cylinder('blue_cylinder', 0.45, -0.2), color='blue')
ODD = replace(cylinder('thing', 0.6, -0.2), color='blue')
"""A blue cylinder by its kind and colour only."""
PLATE = SceneObject(
    name='plate',
    kind=Kind.CONTAINER,
    pose=Pose(position_m=(0.5, 0.0, 0.01)),
    size_m=(0.2, 0.2, 0.02),
)
PLACE_A = replace(location('location_A', 0.35, 0.0), size_m=(0.04, 0.04, 0.0))
SCENE = scene_of(RED, RED_2, BLUE, ODD, PLATE, PLACE_A)
IN_HAND = Fact('red_cube', 'held_by', 'hand')
HAND = replace(OPEN_HAND, width_m=0.04)
HELD = replace(scene_of(replace(RED, pose=HAND.tcp), BLUE, PLATE, PLACE_A), facts=(IN_HAND,))
"""The red cube is in the hand, high above a free place of the table."""


@pytest.mark.parametrize(
    ('text', 'verb', 'words'),
    [
        ('touch the blue cylinder', Ban.TOUCH, 'the blue cylinder'),
        ('  Touch   blue_cylinder ', Ban.TOUCH, 'blue_cylinder'),
        ('move any cube', Ban.MOVE, 'any cube'),
        ('pick up the red cube', Ban.MOVE, 'the red cube'),
        ('pick the red cube', Ban.MOVE, 'the red cube'),
        ('push red_cube', Ban.MOVE, 'red_cube'),
        ('place anything on location_A', Ban.PLACE_ON, 'location_A'),
        ('put anything in the plate', Ban.PLACE_ON, 'the plate'),
    ],
)
def test_each_form_is_read(text: str, verb: Ban, words: str) -> None:
    assert parse_never(text) == Never(verb, words)


@pytest.mark.parametrize(
    'text',
    [
        '',
        'touch',
        'touch ',
        'the blue cylinder',
        'never touch the blue cylinder',
        'do not touch the blue cylinder',
        'touch the blue cylinder; open_gripper()',
        'touch the blue cylinder, or the red cube',
        'place the red cube on location_A',
        'eat the cube',
        'touch __import__("os").system("x")',
        'touch blue_cylinder\u202e',
        'touch {blue_cylinder}',
        'touch <data>',
        f'touch {"x" * 200}',
    ],
)
def test_other_texts_are_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match='write `touch OBJECT`, `move OBJECT` or') as caught:
        parse_never(text)

    assert '\u202e' not in str(caught.value)


@given(st.sampled_from(sorted(WORDS)), st.from_regex(r'[a-z]\w{0,9}(_\d)?', fullmatch=True))
def test_every_verb_binds_the_object_of_exactly_that_name(verb: str, name: str) -> None:
    never = parse_never(f'{verb} {name}')
    item = cube(name, 0.4, 0.0)

    assert never.verb is WORDS[verb]
    assert objects_of(never, (item, cube(f'{name}_other', 0.5, 0.0))) == (item,)


@given(st.text())
def test_any_text_is_a_constraint_of_plain_words_or_refused(text: str) -> None:
    try:
        never = parse_never(text)
    except ValueError:
        return
    assert str(never).isprintable()
    assert not set(str(never)) & set('`\'"<>(){};:\\')


@pytest.mark.parametrize(
    ('text', 'names'),
    [
        ('touch blue_cylinder', ['blue_cylinder']),
        ('touch the blue cylinder', ['blue_cylinder', 'thing']),
        ('touch the cylinders', ['blue_cylinder', 'thing']),
        ('touch any cube', ['red_cube', 'red_cube_2']),
        ('touch red_cube', ['red_cube']),
        ('touch the red cube', ['red_cube', 'red_cube_2']),
        ('move the thing', ['thing']),
        ('touch the plate', ['plate']),
        ('place anything on location_A', ['location_A']),
        ('place anything on the table', ['table']),
    ],
)
def test_words_stand_for_every_object_that_they_fit_and_a_name_for_itself(
    text: str, names: list[str]
) -> None:
    never = parse_never(text)

    assert [item.name for item in objects_of(never, SCENE.objects)] == names
    assert fault_of(never, SCENE.objects) == ''


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('touch the pink cube', 'names no object of the scene, which has red_cube, '),
        ('touch the blue cylinder unless asked', 'names no object of the scene'),
        ('touch anything', '`touch '),
        ('touch location_A', '`place anything on location_A` would do'),
        ('move the table', '`place anything on table` would do'),
    ],
)
def test_words_that_no_object_fits_are_a_fault_with_what_would_do(text: str, wording: str) -> None:
    fault = fault_of(parse_never(text), SCENE.objects)

    assert wording in fault
    assert fault.endswith('would do')
    assert [why for _, why in unbound([parse_never(text)], SCENE)] == [fault]


def test_of_a_lost_object_the_last_place_is_stated() -> None:
    facts = lost_facts([LostObject(name='cup', position_m=(0.4, 0.1, 0.0), seen_s=1.0)], 5.0)

    ((_, why),) = unbound([parse_never('touch the cup')], replace(SCENE, facts=facts))

    assert why.startswith('cup is lost: it was last seen at 0.400 0.100 0.000 4 s ago')


@pytest.mark.parametrize(
    ('text', 'call', 'scene', 'why'),
    [
        ('touch blue_cylinder', 'pick blue_cylinder', SCENE, 'it would take blue_cylinder'),
        ('move blue_cylinder', 'pick blue_cylinder', SCENE, 'it would take blue_cylinder'),
        ('move red_cube', 'grab_and_putin red_cube plate', SCENE, 'it would take red_cube'),
        (
            'place anything on the plate',
            'grab_and_putin red_cube plate',
            SCENE,
            'red_cube would be put on plate',
        ),
        ('touch blue_cylinder', 'place blue_cylinder', HELD, 'red_cube would be put on'),
        ('place anything on location_A', 'place location_A', HELD, 'red_cube would be put on'),
        ('move red_cube', 'return_to_base', HELD, 'red_cube is in the hand'),
        ('touch red_cube', 'reach plate', HELD, 'red_cube is in the hand'),
    ],
)
def test_a_call_that_breaks_a_constraint_is_named_with_what_would_do(
    text: str, call: str, scene: Scene, why: str
) -> None:
    skill, *args = call.split()

    constraint, because = broken_by_call(SkillCall(skill, tuple(args)), [parse_never(text)], scene)

    assert constraint == f'never {text.replace("the ", "")}'
    assert because.startswith(why)
    assert because.endswith('would do')


@pytest.mark.parametrize(
    ('text', 'call', 'scene'),
    [
        ('touch blue_cylinder', 'pick red_cube', SCENE),
        ('touch blue_cylinder', 'reach blue_cylinder', SCENE),
        ('touch blue_cylinder', 'place location_A', HELD),
        ('touch blue_cylinder', 'open_gripper', HELD),
        ('move blue_cylinder', 'place blue_cylinder', HELD),
        ('place anything on blue_cylinder', 'pick blue_cylinder', SCENE),
        ('touch red_cube', 'place location_A', HELD),
        ('touch red_cube', 'open_gripper', HELD),
        ('touch red_cube', 'wait 1', HELD),
    ],
)
def test_calls_that_break_none_go_on(text: str, call: str, scene: Scene) -> None:
    skill, *args = call.split()

    broken = broken_by_call(SkillCall(skill, tuple(args)), [parse_never(text)], scene)

    assert broken == ('', '')


@pytest.mark.parametrize('text', ['touch blue_cylinder', 'place anything on blue_cylinder'])
def test_nothing_is_dropped_onto_what_may_bear_nothing(text: str) -> None:
    above = replace(RED, pose=Pose(position_m=(0.45, -0.19, 0.3)))
    scene = replace(scene_of(above, BLUE), facts=(IN_HAND,))

    constraint, why = broken_by_call(SkillCall('open_gripper'), [parse_never(text)], scene)

    assert constraint == f'never {text}'
    assert 'red_cube would fall on blue_cylinder' in why


@pytest.mark.parametrize(
    ('target', 'text', 'broken'),
    [
        ('0.45 -0.2 0.06', 'touch blue_cylinder', True),
        ('0.45 -0.2 0.06', 'place anything on blue_cylinder', True),
        ('0.45 -0.2 0.06', 'move blue_cylinder', False),
        ('0.37 0.01 0.02', 'place anything on location_A', True),
        ('0.41 0.01 0.02', 'place anything on location_A', False),
        ('0.45 0.3 0.02', 'place anything on the table', True),
        ('0.45 0.3 0.02', 'place anything on location_A', False),
    ],
)
def test_a_place_in_numbers_is_judged_by_what_the_object_would_rest_on(
    target: str, text: str, broken: bool
) -> None:
    place = planned(SkillCall('place', (target,)), HELD, HAND)

    constraint, why = broken_by_motion(place, [parse_never(text)], HELD)

    assert bool(constraint) is broken
    assert why.endswith('would do') is broken


def test_people_read_which_objects_a_constraint_is_about() -> None:
    nevers = map(parse_never, ('touch any cube', 'move thing'))

    assert descriptions(nevers, SCENE.objects) == (
        'never touch any cube (red_cube, red_cube_2)',
        'never move thing',
    )
