"""Which calls a person should look at first, and what the words of a step cover."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.catalog import SKILLS
from bbllm.skills.risk import risk, unmentioned
from tests.skills.declared import SWEEP, TWIRL, declared

__all__ = ['declared']


def cube(name: str, x: float, y: float, z: float = 0.02) -> SceneObject:
    pose = Pose(position_m=(x, y, z))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(0.04, 0.04, 0.04))


DOWN = '0.4 0 0.2 0.7071 0.7071 0 0'
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.4, 1.6, 0.04),
)
PLACE_A = SceneObject(name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0.4, 0.3, 0.0)))


def scene(*objects: SceneObject, facts: tuple[Fact, ...] = ()) -> Scene:
    return Scene((*objects, PLACE_A, TABLE), SKILLS, facts, 0.0)


ALONE = scene(cube('red_cube', 0.5, 0.0), cube('blue_cube', 0.5, 0.2))
HELD = scene(
    cube('red_cube', 0.5, 0.0, 0.12),
    cube('blue_cube', 0.5, 0.2),
    facts=(Fact('red_cube', 'held_by', 'hand'),),
)


@pytest.mark.parametrize(
    ('call', 'seen'),
    [
        (SkillCall('pick', ('red_cube',)), ALONE),
        (SkillCall('place', ('location_A',)), HELD),
        (SkillCall('reach', ('red_cube',)), ALONE),
        (SkillCall('return_to_base'), HELD),
        (SkillCall('open_gripper'), ALONE),
        (SkillCall('wait', ('2',)), HELD),
    ],
    ids=str,
)
def test_a_call_that_can_disturb_only_what_it_is_about_is_no_risk(
    call: SkillCall, seen: Scene
) -> None:
    assert risk(call, seen) == ''


@pytest.mark.parametrize('skill', ['place', 'reach'])
def test_a_place_in_numbers_is_a_risk(skill: str) -> None:
    assert 'goes to 0.45 -0.1 0.02' in risk(SkillCall(skill, ('0.45 -0.1 0.02',)), HELD)


def test_putting_one_object_on_top_of_another_is_a_risk() -> None:
    assert risk(SkillCall('place', ('blue_cube',)), HELD) == (
        'it puts red_cube on top of blue_cube'
    )


@pytest.mark.parametrize(
    ('foot_m', 'risky'),
    [(0.0, False), (0.009, False), (0.011, True), (0.2, True)],
)
def test_letting_go_is_a_risk_where_the_object_would_fall(foot_m: float, risky: bool) -> None:
    held = (Fact('red_cube', 'held_by', 'hand'),)
    seen = scene(cube('red_cube', 0.5, 0.0, foot_m + 0.02), facts=held)

    assert bool(risk(SkillCall('open_gripper'), seen)) is risky


@pytest.mark.parametrize(
    ('y', 'z', 'risky'),
    [(0.040, 0.02, True), (0.0449, 0.02, True), (0.0451, 0.02, False), (0.040, 0.09, False)],
)
def test_picking_is_a_risk_where_something_stands_close_beside(
    y: float, z: float, risky: bool
) -> None:
    seen = scene(cube('red_cube', 0.5, 0.0), cube('blue_cube', 0.5, y, z))

    assert bool(risk(SkillCall('pick', ('red_cube',)), seen)) is risky


def test_picking_what_carries_something_is_a_risk() -> None:
    seen = scene(
        cube('red_cube', 0.5, 0.0),
        cube('blue_cube', 0.5, 0.0, 0.06),
        facts=(Fact('blue_cube', 'on', 'red_cube'),),
    )

    assert risk(SkillCall('pick', ('red_cube',)), seen) == 'red_cube carries blue_cube'
    assert risk(SkillCall('pick', ('blue_cube',)), seen) == ''


# --- what the words of a step cover ---------------------------------------------------------


@pytest.mark.parametrize(
    ('call', 'text'),
    [
        (SkillCall('pick', ('red_cube',)), 'Pick up the Red Cube.'),
        (SkillCall('pick', ('red_cube',)), 'grasp red-cube'),
        (SkillCall('place', ('location_A',)), 'put the red cube on location_A'),
        (SkillCall('place', ('location_A',)), 'place it at location a'),
        (SkillCall('place', ('0.45 -0.1 0.02',)), 'place it at (0.450, -0.10, 0.02)'),
        (SkillCall('reach', ('0.4 0 0.2 90',)), 'reach to 0.4 0 0.2 90'),
        (SkillCall('reach', (DOWN,)), f'reach to {DOWN}'),
        (SkillCall('reach', (DOWN,)), 'reach to [0.4, 0.0, 0.2, 0.7, 0.7, 0, 0] in step 2'),
        (SkillCall('return_to_base'), 'Return to base'),
        (SkillCall('return_to_base'), 'go home'),
        (SkillCall('open_gripper'), 'open the gripper'),
        (SkillCall('open_gripper'), 'let it go'),
        (SkillCall('close_gripper'), 'close your hand'),
        (SkillCall('pick', ('red_cube',)), 'take hold of the red cube'),
        (SkillCall('pick', ('red_cube',)), 'PICK red_cube'),
        (SkillCall('pick', ('red_cube',)), 'pickup(red_cube)'),
        (SkillCall('pick', ('red_cube',)), 'nimm den red_cube'),
        (SkillCall('pick', ('red_cube',)), 'grab the red cube'),
        (SkillCall('place', ('blue_cube',)), 'stack the red cube on the blue cube'),
        (SkillCall('place', ('location_A',)), 'move the red cube to location_A'),
        (SkillCall('place', ('location_A',)), 'set it down at location A'),
        (SkillCall('reach', ('red_cube',)), 'move the hand over the red cube'),
        (SkillCall('reach', ('location_A',)), 'move the arm to location_A'),
    ],
    ids=str,
)
def test_what_a_step_names_is_covered_however_it_is_spelt(call: SkillCall, text: str) -> None:
    assert unmentioned(call, text, ALONE) == ''


@pytest.mark.parametrize(
    ('call', 'text', 'wording'),
    [
        (SkillCall('pick', ('blue_cube',)), 'pick up the red cube', 'does not name blue_cube'),
        (SkillCall('place', ('location_A',)), 'place it on location_AB', 'name location_A'),
        (SkillCall('place', ('0.45 0.1 0.02',)), 'place it at 0.45 -0.1 0.02', 'name the pose'),
        (SkillCall('place', ('0.4 0.1 0.2',)), 'place it at location_A', 'name the pose'),
        (SkillCall('reach', ('0.4 0 0.2 90',)), 'reach to 0.4 0 0.2', 'name the pose'),
        (SkillCall('reach', (DOWN,)), 'reach to 0.4 0 0.2', 'name the pose'),
        (SkillCall('reach', (DOWN,)), 'reach to 0.4 0 0.2 1 0 0 0', 'name the pose'),
        (SkillCall('reach', (DOWN,)), 'reach to 0.4 0 0.1 0.7071 0.7071 0 0', 'name the pose'),
        (SkillCall('place', ('red_cube',)), 'pick up the red cube', 'for pick, not place'),
        (SkillCall('open_gripper'), 'pick up the red cube', 'for pick, not open_gripper'),
        (SkillCall('open_gripper'), 'Move the red cube to the left', 'not open_gripper'),
        (SkillCall('close_gripper'), 'Move the red cube to the left', 'not close_gripper'),
        (SkillCall('return_to_base'), 'Done', 'not ask for return_to_base'),
        (SkillCall('pick', ('blue_cube',)), 'check the blue cube', 'does not ask for pick'),
        (SkillCall('pick', ('blue_cube',)), 'wait beside blue_cube', 'for wait, not pick'),
        (SkillCall('pick', ('blue_cube',)), 'wait till ann has to pick blue_cube', 'for wait'),
        (SkillCall('pick', ('red_cube',)), 'move the arm over red_cube', 'for reach, not pick'),
        (SkillCall('pick', ('red_cube',)), 'lift your hand over red_cube', 'for reach, not pick'),
        (SkillCall('place', ('red_cube',)), 'put the arm over red_cube', 'for reach, not place'),
        (SkillCall('place', ('location_A',)), 'move to location_A', 'for reach, not place'),
    ],
    ids=str,
)
def test_what_a_step_does_not_name_is_not_covered(
    call: SkillCall, text: str, wording: str
) -> None:
    assert wording in unmentioned(call, text, ALONE)


@pytest.mark.parametrize(
    ('text', 'word'),
    [
        ('leave blue_cube where it is', 'leave'),
        ('never touch the blue cube, it is fragile', 'never'),
        ('check that blue_cube is not moved', 'not'),
        ('do not pick the blue cube', 'not'),
        ("don't pick the blue cube", 'not'),
        ('DON\u2019T PICK THE BLUE CUBE', 'not'),
        ('pick the red cube instead of the blue cube', 'instead'),
        ('take the hand away from the blue cube', 'away'),
        ('pick red_cube without touching blue_cube', 'without'),
        ('blue_cube niemals nehmen', 'niemals'),
        ('nunca coger blue_cube', 'nunca'),
        ('jam\u00e1s coger blue_cube', 'jamas'),
        ('\uff4e\uff45\uff56\uff45\uff52 pick blue_cube', 'never'),
        ('n\u0332ever pick blue_cube', 'never'),
    ],
)
def test_a_step_that_forbids_something_covers_no_call(text: str, word: str) -> None:
    assert unmentioned(SkillCall('pick', ('blue_cube',)), text, ALONE) == (
        f'its step contains the word {word}, so it may forbid what it names'
    )


OFFERED = replace(ALONE, skills=(*SKILLS, SWEEP.signature, TWIRL.signature))
MOVED = SkillCall('sweep', ('red_cube', 'left', '0.1'))
TURNED = SkillCall('twirl', ('red_cube', '-90'))


@pytest.mark.usefixtures('declared')
@pytest.mark.parametrize(
    ('call', 'text', 'why'),
    [
        (MOVED, 'sweep the red cube 10 cm to the left', ''),
        (MOVED, 'brush red_cube left by 0.1', ''),
        (MOVED, 'sweep the red cube 5 cm to the left', 'name the distance 0.1'),
        (MOVED, 'sweep the red cube to the left', 'name the distance 0.1'),
        (MOVED, 'sweep the red cube 10 cm to the right', 'name the direction left'),
        (MOVED, 'sweep the red cube 10 cm left, then right', 'name the direction left'),
        (MOVED, 'sweep the blue cube 10 cm to the left', 'does not name red_cube'),
        (MOVED, 'pick red_cube 10 cm to the left', 'for pick, not sweep'),
        (MOVED, 'move the red cube 10 cm to the left', 'for place, not sweep'),
        (MOVED, 'wait before red_cube is swept, 10 cm left', 'for wait, not sweep'),
        (MOVED, 'never sweep the red cube 10 cm to the left', 'contains the word never'),
        (TURNED, 'twirl the red cube by 90 degrees clockwise', ''),
        (TURNED, 'whirl red_cube by -90 degrees', ''),
        (TURNED, 'whirl the red cube by 90 degrees', 'name the degrees -90'),
        (TURNED, 'whirl the red cube by -45 degrees', 'name the degrees -90'),
        (TURNED, 'do not twirl red_cube by -90 degrees', 'contains the word not'),
    ],
    ids=str,
)
def test_a_skill_of_another_package_is_covered_by_a_step_with_all_of_their_values(
    call: SkillCall, text: str, why: str
) -> None:
    reported = unmentioned(call, text, OFFERED)

    assert why in reported
    assert bool(why) is bool(reported)


def test_a_word_with_a_letter_of_another_alphabet_covers_no_call() -> None:
    cyrillic = 'n\u0435ver pick blue_cube'

    assert 'mixes alphabets' in unmentioned(SkillCall('pick', ('blue_cube',)), cyrillic, ALONE)


def test_names_of_objects_are_no_words_of_skills() -> None:
    seen = scene(
        cube('grab_me', 0.5, 0.0), cube('place_mat', 0.5, 0.2), cube('never_pick', 0.6, 0)
    )

    assert unmentioned(SkillCall('pick', ('grab_me',)), 'look at grab_me', seen)
    assert 'for pick' in unmentioned(SkillCall('place', ('place_mat',)), 'pick place_mat', seen)
    assert unmentioned(SkillCall('pick', ('grab_me',)), 'never pick grab_me', seen)
    assert not unmentioned(SkillCall('pick', ('grab_me',)), 'pick grab_me', seen)
    assert not unmentioned(SkillCall('pick', ('grab_me',)), 'grab grab_me grab_me', seen)


def test_a_name_within_a_longer_name_of_the_scene_is_not_named() -> None:
    seen = scene(cube('cube', 0.5, 0.0), cube('red_cube', 0.5, 0.1), cube('red_cube_2', 0.5, 0.2))

    assert unmentioned(SkillCall('pick', ('cube',)), 'pick the red cube', seen)
    assert unmentioned(SkillCall('pick', ('red_cube',)), 'pick red_cube_2', seen)
    assert not unmentioned(SkillCall('pick', ('red_cube_2',)), 'pick red cube 2', seen)
    assert not unmentioned(SkillCall('pick', ('cube',)), 'pick cube off red_cube', seen)


names = st.text('abc_ ', min_size=1, max_size=6).filter(lambda text: text.strip(' _'))


@given(st.text(max_size=30), names)
def test_a_call_about_an_object_is_never_covered_by_a_text_without_its_letters(
    text: str, name: str
) -> None:
    name = name.strip().replace(' ', '_')
    seen = Scene((cube(name, 0.5, 0.0),), (Skill('push', ('object',)),), (), 0.0)
    letters = [letter for letter in name.casefold() if letter != '_']

    if any(letter not in text.casefold() for letter in letters):
        assert unmentioned(SkillCall('push', (name,)), text, seen)
