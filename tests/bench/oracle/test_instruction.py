"""`offline` reads a small grammar, refuses the rest in words, and maps steps to calls."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.conversation import Move, Spot, Turn
from bbllm.core.events import FeedbackReceived
from bbllm.core.protocols import (
    ChatModel,
    Message,
    ModelRequest,
    PromptRequest,
    Situation,
    StepFailure,
    in_episode,
)
from bbllm.core.types import Fact, Kind, PlanStep, Pose, Scene, SceneObject, Task
from bbllm.skills.catalog import SKILLS
from bbllm_bench.oracle.clauses import MAX_CHARACTERS
from bbllm_bench.oracle.hints import LANGUAGE_MODEL
from bbllm_bench.oracle.model import offline
from bbllm_bench.oracle.vocabulary import VOCABULARY
from tests.drawn import examples

COLORS = ('red', 'green', 'blue', 'yellow', 'orange')


def item(name: str, kind: Kind, x: float, y: float) -> SceneObject:
    color = '' if kind is Kind.LOCATION else name.split('_')[0]
    z = 0.0 if kind is Kind.LOCATION else 0.02
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(x, y, z)), color=color)


SCENE = Scene(
    (
        *(item(f'{c}_cube', Kind.CUBE, 0.4, 0.1 + 0.1 * i) for i, c in enumerate(COLORS)),
        item('grey_cylinder', Kind.CYLINDER, 0.6, 0.2),
        item('location_A', Kind.LOCATION, 0.5, -0.1),
        item('location_B', Kind.LOCATION, 0.5, -0.2),
    ),
    SKILLS,
    (Fact('red_cube', 'on', 'table'),),
    0.0,
)


def reply(instruction: str, request: PromptRequest) -> str:
    situation = Situation(task=Task('t', instruction), planner='brain_body')
    return in_episode(offline(), situation).ask(ModelRequest([Message('user', '', request)])).text


def plan(instruction: str, scene: Scene = SCENE) -> str:
    return reply(instruction, PromptRequest(kind='plan', scene=scene))


def call(step: str, scene: Scene = SCENE) -> str:
    return reply('', PromptRequest(kind='call', scene=scene, text=step))


def test_a_plan_is_written_in_plain_numbered_steps() -> None:
    assert isinstance(offline(), ChatModel)
    assert plan('put the red cube on location_B') == (
        '0: pick red_cube\n1: place red_cube on location_B\n2: return to base\n3: Done'
    )


def test_tolerances_of_a_goal_are_not_read() -> None:
    asked = 'put the red cube on location_B.'

    assert plan(f'{asked} What counts: within 2 cm, give or take a whisker.') == plan(asked)
    assert "'whisker'" in plan(f'{asked} Give or take a whisker.')


@pytest.mark.parametrize(
    ('instruction', 'conditions'),
    [
        ('put the red cube on location_A, then put the red cube on location_B', 'none'),
        ('put the red cube on the blue cube, then put the blue cube on location_A', 'none'),
        ('put all cubes on the left side, then put the red cube on location_A', 'none'),
        ('put the red cube on location_A, then pick the red cube', 'none'),
        (
            'put the red cube on location_A, then put the blue cube on the red cube',
            'on(red_cube, location_A)\non(blue_cube, red_cube)',
        ),
        (
            'put the red cube on location_A, then put the blue cube on location_B',
            'on(red_cube, location_A)\non(blue_cube, location_B)',
        ),
    ],
)
def test_a_goal_of_several_parts_has_conditions_unless_one_part_moves_what_another_arranged(
    instruction: str, conditions: str
) -> None:
    assert reply(instruction, PromptRequest(kind='goal', scene=SCENE)) == conditions


def test_where_all_is_so_already_only_the_way_home_is_left() -> None:
    there = item('red_cube', Kind.CUBE, 0.5, -0.2)
    scene = Scene((there, *SCENE.objects[1:]), SKILLS, (), 0.0)

    assert plan('put the red cube on location_B', scene) == '0: return to base\n1: Done'


@pytest.mark.parametrize(
    ('instruction', 'reported'),
    [
        ('juggle the cubes', "'juggle'"),
        ('put the red cube on location_Z', "'location_Z'. Did you mean location_"),
        ('put the white cube on location_A', "There is no 'white cube' in the scene"),
        ('move the two red cubes to location_A', 'more than there are: red_cube'),
        ('put all cubes except red_cube on location_A', '1 places for 4 objects'),
        ('put all the cubes on location_A', 'location_A: 1 places for 5 objects'),
        ('put the red cube on location_A, location_B', '2 places for 1 objects'),
        ('pick all the cubes', 'one object at a time'),
        ('wait 90 seconds', 'at most 60 seconds'),
        ('把红色方块放到位置B', '把红色方块放到位置B'),
        ('create a plus sign with three cubes', 'needed'),
        ('put red_cube on blue_cube, then put green_cube on blue_cube', 'Ask for one of the two'),
        ('put the red cube on location_A and then sing', "'sing'"),
        ('leave the red cube where it is', 'I do not understand'),
        ('cubes ' * MAX_CHARACTERS, f'I read at most {MAX_CHARACTERS}'),
    ],
)
def test_a_refusal_names_the_words_and_suggests_a_language_model(
    instruction: str, reported: str
) -> None:
    text = plan(instruction)

    assert text.startswith('cannot: ')
    assert reported in text
    assert "I understand English sentences such as 'put the red cube on location_" in text
    assert text.endswith(LANGUAGE_MODEL) and '--brain' in LANGUAGE_MODEL


@pytest.mark.parametrize(
    'instruction',
    [
        'Could you please move the red cube over to location B?',
        'the red cube should go to location B',
        'put the red block on location_B, thanks',
        'pick up the red cube and place it on location_B, then return to base',
    ],
)
def test_equal_instructions_in_other_words_have_the_same_plan(instruction: str) -> None:
    assert plan(instruction) == plan('put the red cube on location_B')


def test_in_a_house_no_task_of_a_table_is_proposed() -> None:
    house = Scene(SCENE.objects, SKILLS, (), 0.0, domain='household')

    assert plan('tidy up', house).startswith('cannot: `offline` only understands tasks on a table')
    assert 'cube' not in plan('tidy up', house)
    assert call('pick red_cube', house) == '<pass>'


@pytest.mark.parametrize(
    ('step', 'expected'),
    [
        ('pick red_cube', '[pick] <red_cube>'),
        ('take the green cube from location_A', '[pick] <green_cube>'),
        ('place red_cube on location_B', '[place] <location_B>'),
        ('set the cube down on the grey cylinder', '[place] <grey_cylinder>'),
        ('place red_cube at 0.450 -0.040 0.020', '[place] <0.450 -0.040 0.020>'),
        ('go back to base', '[return_to_base]'),
        ('wait for five seconds', '[wait] <5>'),
        ('open the gripper', '[open_gripper]'),
        ('reach over location_A', '[reach] <location_A>'),
    ],
)
def test_a_step_becomes_a_call(step: str, expected: str) -> None:
    assert call(step) == f'<rob0>{expected}'


@pytest.mark.parametrize('step', ['admire the cube', 'polish red_cube', 'take the pink cube'])
def test_a_step_that_no_skill_does_is_passed(step: str) -> None:
    assert call(step) == '<pass>'
    assert call('return to base', Scene(SCENE.objects, SKILLS[:2], (), 0.0)) == '<pass>'


def test_all_that_earlier_failures_ruled_out_stays_out() -> None:
    far = 'is out of the workspace of the robot.'
    request = PromptRequest(
        kind='repair',
        scene=SCENE,
        plan=('pick green_cube', 'return to base'),
        failures=(
            StepFailure(PlanStep(0, 'pick red_cube'), f'red_cube {far}'),
            StepFailure(PlanStep(0, 'pick green_cube'), f'green_cube {far}'),
        ),
    )

    text = reply('put a cube on location_A', request)

    assert text.startswith(f'Explanation: green_cube {far}')
    assert 'New plan:\n0: pick blue_cube' in text


def test_a_prompt_without_a_request_and_a_call_without_an_episode_are_answered_in_words() -> None:
    assert offline().ask(ModelRequest.of('Write a poem.')).text.startswith('cannot: ')
    request = PromptRequest(kind='call', scene=SCENE, text='pick red_cube')
    text = (
        offline().ask(ModelRequest([Message('user', '', request), Message('user', 'Again.')])).text
    )
    assert text == '<rob0>[pick] <red_cube>'
    cut = offline().ask(ModelRequest([Message('user', '', request)], stop=[' <']))
    assert cut.text == '<rob0>[pick]'


WORDS = [
    *sorted(VOCABULARY),
    *('red', 'cubes', 'cube', 'two', 'and', 'then', 'by', 'colour', 'plus', 'tower', 'it', '0.4'),
    *('location_A', 'red_cube', 'except', 'grey_cylinder', '-0.1', '3', 'the', 'leave', 'not'),
]
SENTENCES = st.lists(st.sampled_from([*WORDS, ',', '.']), max_size=14).map(' '.join)


@examples(200)
@given(SENTENCES | st.text(max_size=80), SENTENCES)
def test_any_words_get_a_plan_or_a_refusal(instruction: str, human: str) -> None:
    remark = FeedbackReceived(human)
    failure = StepFailure(PlanStep(0, 'pick red_cube'), 'It slipped.', human=(remark,))
    repair = PromptRequest(
        kind='repair', scene=SCENE, plan=('pick red_cube',), failures=(failure,)
    )

    assert plan(instruction).startswith(('0: ', 'cannot: '))
    assert reply(instruction, repair).startswith(('Explanation: ', 'cannot: '))
    assert call(instruction).startswith('<')


CORRECTING = [
    *('no', 'not', 'instead', 'of', 'same', 'with', 'more', 'undo', 'the other one', 'too'),
    *('stop', 'I meant', 'a bit', 'again', 'put it back', 'why', 'what did you do', 'thanks'),
]
FRAGMENTS = st.lists(st.sampled_from([*WORDS, *CORRECTING, ',', '.']), max_size=8).map(' '.join)
TABLE_SPOT = Spot((Fact('red_cube', 'on', 'table'),), SCENE.objects[1].pose)
LOCATION_SPOT = Spot((Fact('red_cube', 'on', 'location_B'),), SCENE.objects[-1].pose)
BEFORE = Turn(
    'e1',
    'put the red cube on location_B',
    'FINISHED',
    'Done.',
    moves=(Move('red_cube', TABLE_SPOT, LOCATION_SPOT),),
)


@examples(200)
@given(FRAGMENTS, FRAGMENTS)
def test_any_words_after_a_task_and_during_it_get_a_reply(line: str, human: str) -> None:
    remark = FeedbackReceived(human)
    for text in (line, 'put the red cube on location_A'):
        situation = Situation(
            task=Task('t', text, turns=(BEFORE,)),
            planner='brain_body',
            remarks=lambda: (remark,),
            talks=lambda: True,
            asks=lambda: True,
        )
        step = StepFailure(PlanStep(0, 'pick red_cube'), 'Added.', human=(remark,), tried=False)
        model = in_episode(offline(), situation)
        plans = ('0: ', 'cannot: ', 'ask: ', 'answer: ')
        for request in (
            PromptRequest(kind='plan', scene=SCENE),
            PromptRequest(kind='repair', scene=SCENE, plan=('pick red_cube',), failures=(step,)),
        ):
            asked = ModelRequest([Message('user', '', request)])
            assert model.ask(asked).text.startswith((*plans, 'Explanation: '))


@pytest.mark.parametrize('piece', ['red cube and ', 'on ', 'except ', 'location a, ', '1.', '² '])
@pytest.mark.parametrize('start', ['', 'put ', 'stack ', 'put the red cube on '])
def test_no_sentence_takes_long(start: str, piece: str) -> None:
    for n in (150, 480, 1900, 20_000):
        assert plan(start + (piece * n)[:n]).startswith(('0: ', 'cannot: '))


def test_all_of_a_goal_are_those_within_reach_as_the_prompt_states() -> None:
    far = Fact('red_cube', 'reachable', 'no')
    scene = replace(SCENE, facts=(*SCENE.facts, far))
    goal = PromptRequest(kind='goal', scene=scene)
    cubes = [x.name for x in SCENE.objects if x.name.endswith('_cube') and x.name != 'red_cube']

    assert reply('put all the cubes in a row', goal) == f'line(all of {"|".join(cubes)})'
    assert 'red_cube' in reply('put the red cube on location_B', goal)
