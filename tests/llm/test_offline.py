"""The stand-in reads the prompts that a model would get, and says what it does not understand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError
from bbllm.core.protocols import PASS, ChatModel, Message
from bbllm.core.skill_calls import parse_pose
from bbllm.core.types import Fact, Kind, Plan, PlanStep, Pose, Scene, SceneObject, Task
from bbllm.llm.offline import OfflineModel
from bbllm.llm.offline.words import VOCABULARY
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import Failure, Prompts
from bbllm.skills.catalog import SKILLS

COLORS = ('red', 'green', 'blue', 'yellow', 'orange')
PROMPTS = Prompts()


def thing(name: str, kind: Kind, x: float, y: float) -> SceneObject:
    color = '' if kind is Kind.LOCATION else name.split('_')[0]
    z = 0.0 if kind is Kind.LOCATION else 0.02
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(x, y, z)), color=color)


SCENE = Scene(
    (
        *(thing(f'{c}_cube', Kind.CUBE, 0.4, 0.1 + 0.1 * i) for i, c in enumerate(COLORS)),
        thing('grey_cylinder', Kind.CYLINDER, 0.6, 0.2),
        thing('location_A', Kind.LOCATION, 0.5, -0.1),
        thing('location_B', Kind.LOCATION, 0.5, -0.2),
    ),
    SKILLS,
    (Fact('red_cube', 'on', 'table'),),
    0.0,
)


def say(prompt: str) -> str:
    return OfflineModel().complete([Message('user', prompt)]).text


def plan(instruction: str) -> list[str]:
    return [s.text for s in parse_plan(say(PROMPTS.planning(Task('t', instruction), SCENE)))]


def test_it_is_a_chat_model_that_says_what_it_is() -> None:
    model = OfflineModel()

    assert isinstance(model, ChatModel)
    assert (model.name, model.supports_schema) == ('offline', False)
    assert model.complete([Message('user', 'hello')]).model == 'offline'


def test_a_plan_is_written_in_plain_numbered_steps() -> None:
    assert say(PROMPTS.planning(Task('t', 'put the red cube on location_B'), SCENE)) == (
        '0: pick red_cube\n1: place red_cube on location_B\n2: return to base\n3: Done'
    )


def test_nothing_but_going_home_is_left_where_all_is_so_already() -> None:
    there = thing('red_cube', Kind.CUBE, 0.5, -0.2)
    scene = Scene((there, *SCENE.objects[1:]), SKILLS, (), 0.0)

    text = say(PROMPTS.planning(Task('t', 'put the red cube on location_B'), scene))

    assert text == '0: return to base\n1: Done'


@pytest.mark.parametrize(
    ('instruction', 'told'),
    [
        ('juggle the cubes', "'juggle'"),
        ('put the red cube in the upper drawer', "'upper', 'drawer'"),
        ('put the red cube on location_Z', "'location_Z'. Did you mean location_"),
        ('put the red sphere on location_A', "'sphere'"),
        ('put the white cube on location_A', "There is no 'white cube' in the scene"),
        ('move the two red cubes to location_A', 'more than there are: red_cube'),
        ('put all the cubes on location_A', "'on location_A' has room for 1"),
        ('put the red cube on location_A, location_B', 'are 2 places'),
        ('pick all the cubes', 'one thing at a time'),
        ('wait 90 seconds', 'at most 60 seconds'),
        ('what is the weather like?', "'what', 'weather'"),
        ('把红色方块放到位置B', '把红色方块放到位置B'),
        ('Положи красный куб', "'Положи', 'красный', 'куб'"),
        ('🤖🦾', 'I do not understand'),
        ('red', 'I do not understand'),
        ('the cube the on put', 'I do not understand'),
        ('create a plus sign with three cubes', 'needed'),
        ('put the red cube on the blue cube and the blue cube on the red cube', 'another part'),
        ('stack red_cube on blue_cube, wait, put blue_cube on location_A', 'red_cube is to be on'),
        ('put red_cube on blue_cube, then put green_cube on blue_cube', 'Ask for one of the two'),
        ('cubes ' * 4000, 'I read at most 2000'),
    ],
)
def test_what_is_not_understood_is_named_with_what_would_work(instruction: str, told: str) -> None:
    with pytest.raises(GaveUpError) as caught:
        plan(instruction)

    assert told in str(caught.value)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    'instruction',
    [
        'put the red cube on location_B, thanks',
        'Thanks! Put the red cube on location_B.',
        'Put the red cube on location_B. Thank you very much!',
        'put the red cube on location_B, please',
    ],
)
def test_politeness_changes_nothing(instruction: str) -> None:
    assert plan(instruction) == plan('put the red cube on location_B')


def test_what_a_tower_stands_on_may_be_said_before_what_it_is_made_of() -> None:
    assert plan('build a tower on location_B using the red and the blue cube') == plan(
        'build a tower of the red and the blue cube on location_B'
    )


def test_a_task_that_speaks_of_examples_is_a_task_all_the_same() -> None:
    with pytest.raises(GaveUpError, match=r"^I do not understand 'examples'\."):
        plan('put the red cube on location_B. End of the examples. Thanks')

    complaint = 'That reply cannot be used. End of the examples. Please reply again.'
    prompt = PROMPTS.planning(Task('t', 'put the red cube on location_B'), SCENE)
    messages = [Message('user', prompt), Message('user', complaint)]
    assert OfflineModel().complete(messages).text == say(prompt)


@pytest.mark.parametrize('pose', ['9 0 0.02', '0.4 0 0.02 999'])
def test_a_pose_that_cannot_be_is_not_tried_again(pose: str) -> None:
    instruction = f'put the red cube at {pose}'
    steps = tuple(PlanStep(i, text) for i, text in enumerate(plan(instruction)))
    with pytest.raises(ValueError, match=r'pose|yaw') as caught:
        parse_pose(pose)
    failure = Failure(steps[1], f'This step could not be turned into a call. {caught.value}')
    prompt = PROMPTS.feedback(Task('t', instruction), SCENE, Plan(steps), failure, [])

    with pytest.raises(GaveUpError, match='could not be turned into a call'):
        parse_plan(say(prompt), 1)


def test_half_of_a_task_is_not_done_where_the_other_half_is_not_understood() -> None:
    with pytest.raises(GaveUpError, match='sing'):
        plan('put the red cube on location_A and then sing')


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('pick red_cube', 'pick(red_cube)'),
        ('Pick up the red cube.', 'pick(red_cube)'),
        ('grasp blue cube', 'pick(blue_cube)'),
        ('take the green cube from location_A', 'pick(green_cube)'),
        ('place red_cube on location_B', 'place(location_B)'),
        ('place it on location B', 'place(location_B)'),
        ('move blue cube to location_A', 'place(location_A)'),
        ('put red_cube on top of blue_cube', 'place(blue_cube)'),
        ('set the cube down on the grey cylinder', 'place(grey_cylinder)'),
        ('place red_cube at 0.450 -0.040 0.020', 'place(0.45 -0.04 0.02)'),
        ('place red_cube at 0.45 -0.04 0.02 90', 'place(0.45 -0.04 0.02 90)'),
        ('place red_cube at 0.45 -0.04 0.03 1 0 0 0', 'place(0.45 -0.04 0.03 1 0 0 0)'),
        ('reach to [0.45, -0.04, 0.2, 0.7, 0.7, 0, 0]', 'reach(0.45 -0.04 0.2 0.7071 0.7071 0 0)'),
        ('return to base', 'return_to_base()'),
        ('go back to base', 'return_to_base()'),
        ('Return home.', 'return_to_base()'),
        ('wait 2 seconds', 'wait(2)'),
        ('wait for five seconds', 'wait(5)'),
        ('open the gripper', 'open_gripper()'),
        ('release the cube', 'open_gripper()'),
        ('close the gripper', 'close_gripper()'),
        ('reach over location_A', 'reach(location_A)'),
        ('move the hand over the red cube', 'reach(red_cube)'),
    ],
)
def test_a_step_becomes_a_line_that_the_grammar_takes(step: str, call: str) -> None:
    reply = say(PROMPTS.execution(PlanStep(0, step), SCENE))

    assert str(parse_call(reply, SCENE)) == call


@pytest.mark.parametrize(
    'step',
    ['admire the cube', 'polish red_cube', 'pick the purple pyramid', 'pick the pink cube', 'Hm.'],
)
def test_a_step_that_no_skill_does_is_passed(step: str) -> None:
    assert parse_call(say(PROMPTS.execution(PlanStep(0, step), SCENE)), SCENE) is PASS


def test_a_skill_that_the_robot_lacks_is_passed() -> None:
    scene = Scene(SCENE.objects, SKILLS[:2], (), 0.0)

    assert say(PROMPTS.execution(PlanStep(0, 'return to base'), scene)) == '<pass>'


def test_all_that_earlier_feedback_ruled_out_stays_out() -> None:
    steps = tuple(
        PlanStep(i, text) for i, text in enumerate(('pick green_cube', 'return to base'))
    )
    far = 'is out of the workspace of the robot.'
    prompt = PROMPTS.feedback(
        Task('t', 'put a cube on location_A'),
        SCENE,
        Plan(steps),
        Failure(steps[0], f'green_cube {far}'),
        [Failure(PlanStep(0, 'pick red_cube'), f'red_cube {far}')],
    )

    assert parse_plan(say(prompt))[0].text == 'pick blue_cube'
    assert say(prompt).startswith(f'Explanation: green_cube {far}')


def test_a_prompt_of_another_kind_is_declined() -> None:
    assert say('Write a poem.').startswith('cannot: ')


def test_asked_again_it_reads_the_prompt_not_the_complaint() -> None:
    prompt = PROMPTS.execution(PlanStep(0, 'pick red_cube'), SCENE)
    messages = [Message('user', prompt), Message('assistant', '?'), Message('user', 'Again.')]

    assert OfflineModel().complete(messages).text == '<rob0>[pick] <red_cube>'


def test_a_reply_ends_at_a_stop_string_and_streams_line_by_line() -> None:
    heard: list[str] = []
    prompt = PROMPTS.planning(Task('t', 'put the red cube on location_B'), SCENE)
    reply = OfflineModel().complete([Message('user', prompt)], stop=['\n2:'], on_text=heard.append)

    assert reply.text == '0: pick red_cube\n1: place red_cube on location_B'
    # The end of a line could begin the stop string, so that it is heard with the next one.
    assert heard == ['0: pick red_cube', '\n1: place red_cube on location_B']


NAMES = [item.name for item in SCENE.objects]
SENTENCES = st.lists(
    st.sampled_from([*sorted(VOCABULARY), *NAMES, ',', '.', '0.4', '-0.1', '3']), max_size=14
).map(' '.join)


@settings(max_examples=500, deadline=None)
@given(SENTENCES, SENTENCES)
def test_any_words_get_a_plan_or_a_refusal_and_any_feedback_an_answer(
    instruction: str, human: str
) -> None:
    steps = tuple(PlanStep(i, text) for i, text in enumerate(('pick red_cube', 'place it')))
    failure = Failure(steps[1], 'It slipped.', human=(human,) if human else ())
    for prompt in (
        PROMPTS.planning(Task('t', instruction), SCENE),
        PROMPTS.feedback(Task('t', instruction), SCENE, Plan(steps), failure, [failure]),
    ):
        start = 1 if 'Error step: 1' in prompt else 0
        try:
            parse_plan(say(prompt), start)
        except GaveUpError:
            continue


@settings(max_examples=200, deadline=None)
@given(SENTENCES | st.text(max_size=80))
def test_any_step_gets_a_call_or_a_pass(step: str) -> None:
    reply = say(PROMPTS.execution(PlanStep(0, step), SCENE))

    assert reply == '<pass>' or reply.startswith('<rob0>[')


@pytest.mark.parametrize('tail', ['', 'x', '²'])
@pytest.mark.parametrize(
    'piece',
    [
        'red cube and ',
        'red cube on a and ',
        'the red cube on the blue cube and ',
        'on ',
        'except ',
        'cubes on the left side ',
        'location a, ',
        '1',
        '1.',
        '²',
        '² ',
        '9 ',
        '+ ',
    ],
)
@pytest.mark.parametrize('start', ['', 'put ', 'stack ', 'put the red cube on ', 'wait '])
def test_no_sentence_holds_it_up(start: str, piece: str, tail: str) -> None:
    for n in (150, 480, 1900, 20_000):
        text = start + (piece * n)[:n] + tail
        assert say(PROMPTS.planning(Task('t', text), SCENE)).startswith(('0: ', 'cannot: '))
        assert say(PROMPTS.execution(PlanStep(0, text), SCENE)).startswith('<')
