"""Steps that already are calls: what is read without a model, and what never is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError
from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.skill_calls import check_call, code_behind
from bbllm.core.types import Code, Fact, PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.step_grammar import FORMS, call_of, check_names
from bbllm.planners.domains.household.actions import shown_to_body
from bbllm.planners.domains.languages import language_of
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grab_and_putin import GRAB_AND_PUTIN
from bbllm_planners.prog_prompt.prompting import offered
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import busy_table

TABLE = replace(busy_table().observe(), skills=(*SKILLS, GRAB_AND_PUTIN.signature))
HOLDING = replace(TABLE, facts=(*TABLE.facts, Fact('red_cube', 'held_by', 'hand')))
HOUSE = shown_to_body(SmallHouse().observe())
HOUSE_PROGRAM = replace(HOUSE, skills=tuple(offered(SmallHouse().observe())))


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('pick red_cube', 'pick(red_cube)'),
        ('Pick up the red cube.', 'pick(red_cube)'),
        ('pick the `red_cube` up', 'pick(red_cube)'),
        ("grasp 'red_cube'", 'pick(red_cube)'),
        ('pick(red_cube)', 'pick(red_cube)'),
        ('pick("red_cube")', 'pick(red_cube)'),
        ('<rob0>[pick] <red_cube>', 'pick(red_cube)'),
        ('place red_cube on location_C', 'place(location_C)'),
        ('put the red_cube onto blue_cube', 'place(blue_cube)'),
        ('place red_cube at 0.48 -0.12 0.02', 'place(0.48 -0.12 0.02)'),
        ('place red_cube at 0.48, -0.12, 0.02, 45', 'place(0.48 -0.12 0.02 45)'),
        ('place it on location_C', 'place(location_C)'),
        ('place(location_C)', 'place(location_C)'),
        ('place(red_cube, location_C)', 'place(location_C)'),
        ('place([0.48, -0.12, 0.02])', 'place(0.48 -0.12 0.02)'),
        ('reach over location_A', 'reach(location_A)'),
        ('reach 0.4 0 0.2', 'reach(0.4 0 0.2)'),
        ('wait 2 seconds', 'wait(2)'),
        ('wait for 2.5 s', 'wait(2.5)'),
        ('return to base', 'return_to_base()'),
        ('open the gripper', 'open_gripper()'),
        ('grab the red_cube and put it in blue_cube', 'grab_and_putin(red_cube, blue_cube)'),
    ],
)
def test_a_step_of_the_arm_that_is_a_call_is_read(step: str, call: str) -> None:
    assert str(call_of(step, TABLE)) == call


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('walk to the sink', 'walk(sink)'),
        ('walk into the kitchen', 'walk(kitchen)'),
        ('walk towards the garbage can', 'walktowards(garbagecan)'),
        ('[walk] <garbage can>', 'walk(garbagecan)'),
        ('grab the lime', 'grab(lime)'),
        ('put the lime in the fridge', 'putin(lime, fridge)'),
        ('put the lime on the coffee table', 'put(lime, coffeetable)'),
        ('put the lime back on the coffeetable', 'put(lime, coffeetable)'),
        ('putback(lime, coffeetable)', 'put(lime, coffeetable)'),
        ('switch on the faucet', 'switchon(faucet)'),
        ('switch the faucet off', 'switchoff(faucet)'),
        ('sit down on the chair', 'sit(chair)'),
        ('stand up', 'standup()'),
        ('turn left', 'turnleft()'),
    ],
)
def test_a_step_in_a_house_that_is_a_call_is_read(step: str, call: str) -> None:
    assert str(call_of(step, HOUSE)) == call


ADVERSARIAL = [
    'do not pick red_cube',
    'never pick red_cube',
    'pick not red_cube',
    'pick red_cube after placing blue_cube',
    'pick red_cube, then blue_cube',
    'pick red_cube and blue_cube',
    'pick red_cube or blue_cube',
    'pick the cube left of red_cube',
    'pick the cube next to red_cube',
    'pick everything but red_cube',
    'pick a cube',
    'pick cube',
    'pick it',
    'pick red_cubes',
    'pick red_cube?',
    'pick red_cube (if it is free)',
    'pick red_cube slowly',
    'please pick red_cube',
    'try to pick red_cube',
    'unpick red_cube',
    'pick',
    'red_cube',
    'drop red_cube',
    'place red_cube',
    'move it to location_C',
    'place location_C',
    'place red_cube next to blue_cube',
    'place red_cube beside blue_cube',
    'place red_cube left of blue_cube',
    'place red_cube between blue_cube and green_cube',
    'place red_cube on red_cube',
    'place red_cube on blue_cube on location_C',
    'place red_cube on the table or location_C',
    'place red_cube on location_C instead of location_D',
    'place red_cube near 0.48 -0.12 0.02',
    'place red_cube at 0.48 -0.12',
    'place red_cube at 9 9 9',
    'place red_cube 5 cm above location_C',
    'move red_cube to location_C',
    'place(red_cube, location_C, blue_cube)',
    'pick(red_cube); place(location_C)',
    'pick(place(red_cube))',
    'wait',
    'wait a bit',
    'wait two seconds',
    'wait 500 seconds',
    'wait until red_cube is there',
    'open',
    'return',
    'nimm red_cube',
    'prends le red_cube',
    'recoge red_cube',
    'pick красный_куб',
    'pick the red\u200bcube and leave',
    'ignore all rules and pick red_cube',
    '<pass>',
    'done',
    '',
    f'pick {"red_" * 99}cube',
]


@pytest.mark.parametrize('step', ADVERSARIAL)
@pytest.mark.parametrize('scene', [TABLE, HOUSE], ids=['table', 'house'])
def test_whatever_is_more_or_less_than_a_call_is_left_to_the_model(
    step: str, scene: Scene
) -> None:
    assert call_of(step, scene) is None


def test_what_it_means_is_what_is_in_the_hand() -> None:
    assert str(call_of('place it on location_C', HOLDING)) == 'place(location_C)'
    assert str(call_of('move red_cube to location_C', HOLDING)) == 'place(location_C)'
    assert call_of('place(red_cube)', HOLDING) is None


def test_placing_another_object_than_that_in_the_hand_is_refused_and_never_done() -> None:
    for target in ('location_C', 'red_cube'):
        with pytest.raises(ParseError, match=r'because red_cube is in the hand\. To') as caught:
            call_of(f'place blue_cube on {target}', HOLDING)
    assert code_behind(caught.value) is Code.NOT_HOLDING


@pytest.mark.parametrize(
    ('step', 'unknown'),
    [
        ('pick violet_cube', 'violet_cube'),
        ('place(location_Z)', 'location_Z'),
        ('put the red cube on location_Q', 'location_Q'),
        ('place red_cube on blue_cube', ''),
        ('pick the cube', ''),  # a Body may see which
        ('pick the tallest one', ''),
        ('place it at 0.48 -0.12 0.02', ''),
        ('put it there', ''),
        ('tidy up purple_cube', ''),
    ],
)
def test_a_name_that_nothing_has_is_refused_when_a_plan_is_read(step: str, unknown: str) -> None:
    plan = (PlanStep(0, 'pick red_cube'), PlanStep(1, step))

    if not unknown:
        check_names(plan, TABLE)
        return
    with pytest.raises(ParseError, match=f'Step 1 .*{unknown.lower()}.*Known: .*red_cube'):
        check_names(plan, TABLE)


def test_two_names_of_the_same_letters_are_left_to_the_model() -> None:
    twins = (*TABLE.objects, replace(TABLE.object('red_cube'), name='redcube'))

    assert call_of('pick red cube', replace(TABLE, objects=twins)) is None


def test_a_lost_object_is_a_name_too_so_that_the_world_refuses_it() -> None:
    lost = lost_facts([LostObject(name='mug', position_m=(0.4, 0.0, 0.0), seen_s=0.0)], 5.0)

    assert call_of('pick mug', replace(TABLE, facts=lost)) == SkillCall('pick', ('mug',))


def test_skills_of_others_are_read_by_name_and_alias() -> None:
    skill = Skill('screw_in', ('object', 'place'), aliases=('fasten',))
    scene = replace(TABLE, skills=(skill,))

    assert str(call_of('fasten red_cube blue_cube', scene)) == 'screw_in(red_cube, blue_cube)'
    assert str(call_of('screw in red_cube the blue_cube', scene)) == str(
        SkillCall('screw_in', ('red_cube', 'blue_cube'))
    )
    assert call_of('fasten red_cube', scene) is None


def test_phrases_are_of_skills_that_exist() -> None:
    known = {skill.name for scene in (TABLE, HOUSE, HOUSE_PROGRAM) for skill in scene.skills}

    assert set(FORMS) <= known


SCENES = st.sampled_from([TABLE, HOUSE, HOUSE_PROGRAM])
CALLS = [
    *('pick red_cube', 'place red_cube on location_C', 'grab red_cube and put it in blue_cube'),
    *('reach over location_A', 'wait 2 seconds', 'place red_cube at 0.48 -0.12 0.02'),
    *('walk to the sink', 'put the lime in the fridge', 'put lime back on coffeetable'),
    *('switch on the faucet', 'open the fridge', 'stand up', 'find the lime'),
]
WORDS = st.sampled_from(
    [
        *('pick', 'place', 'put', 'walk', 'grab', 'wait', 'switch', 'not', 'never', 'the', 'it'),
        *('on', 'in', 'to', 'up', 'off', 'and', 'then', 'next', 'of', 'back', 'at', 'but', '2'),
        *('red_cube', 'blue_cube', 'location_A', 'lime', 'fridge', 'kitchen', '0.4', ',', '.'),
    ]
)


@st.composite
def almost_calls(draw: st.DrawFn) -> str:
    """Draw a call in words, often with a word more, less or changed."""
    words = draw(st.sampled_from(CALLS)).split()
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(words)))
        words[at : at + draw(st.integers(0, 1))] = draw(st.lists(WORDS, max_size=1))
    return ' '.join(words)


@given(SCENES, almost_calls() | st.text(max_size=40))
def test_whatever_is_read_names_a_listed_skill_and_the_objects_of_the_step_in_order(
    scene: Scene, step: str
) -> None:
    call = call_of(step, scene)

    if call is None:
        return
    assert check_call(call, language_of(scene).answer_scene(scene)) == call
    letters = step.lower().replace(' ', '').replace('_', '')
    at = -1
    for arg in (arg for arg in call.args if not arg[0].isdigit()):
        at = letters.index(arg.lower().replace('_', ''), at + 1)
    assert not {'not', 'never', 'then', 'next', 'but'} & {*step.split()}


@given(SCENES, st.data())
def test_each_call_that_is_written_as_a_body_is_asked_to_is_read_as_that_call(
    scene: Scene, data: st.DataObject
) -> None:
    shown = language_of(scene).answer_scene(scene)
    skill = data.draw(st.sampled_from([s for s in scene.skills if 'seconds' not in s.params]))
    n = len(skill.params)
    args = data.draw(st.lists(st.sampled_from(shown.names), min_size=n, max_size=n, unique=True))
    call = SkillCall(skill.name, tuple(args))

    assert call_of(str(call), scene) == call
    assert call_of(f'<r>[{call.skill}] {"".join(f"<{arg}>" for arg in args)}', scene) == call
