"""The grammar of calls: one line or JSON, and never a name that is not in the scene."""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Pass
from bbllm.core.skill_calls import check_call, code_behind
from bbllm.core.types import Code, Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.planners.common.call_grammar import (
    MAX_LINE,
    CallForm,
    body_schema,
    parse_call,
    parse_reply,
    settled,
)
from bbllm.planners.domains.household.actions import shown_to_body
from bbllm.planners.domains.languages import HOUSEHOLD
from bbllm.skills.catalog import SKILLS
from tests.planners.small_house import SmallHouse

NAMES = ('red_cube', 'blue_cube', 'location_A')
OBJECTS = tuple(
    SceneObject(name=name, kind=Kind.OTHER, pose=Pose(position_m=(0.4, 0.0, 0.0)))
    for name in NAMES
)
SCENE = Scene(OBJECTS, SKILLS, (), 0.0)
HOLDING = Scene(OBJECTS, SKILLS, (Fact('red_cube', 'held_by', 'hand'),), 0.0)

calls = st.one_of(
    st.sampled_from(NAMES).map(lambda name: SkillCall('pick', (name,))),
    st.sampled_from(NAMES).map(lambda name: SkillCall('place', (name,))),
    st.tuples(*[st.floats(-1.9, 1.9)] * 3).map(
        lambda xyz: SkillCall('place', (' '.join(f'{value:.4f}' for value in xyz),))
    ),
    st.sampled_from(['return_to_base', 'open_gripper', 'close_gripper']).map(SkillCall),
    st.integers(1, 60).map(lambda seconds: SkillCall('wait', (str(seconds),))),
)


@pytest.mark.parametrize(
    ('reply', 'call'),
    [
        ('<rob0>[pick] <red_cube>', 'pick(red_cube)'),
        ('Action Plan: <rob0>[grasp] <Red_Cube>', 'pick(red_cube)'),
        ('action plan:\n```\n<ROB0> [PICK]<red_cube>\n```', 'pick(red_cube)'),
        ('`<rob0>[pick] <red_cube>`.', 'pick(red_cube)'),
        ('[pick] <red_cube>', 'pick(red_cube)'),
        ('<rob0>[pick] <red_cube>\nExplanation: so I do not answer\n<pass>', 'pick(red_cube)'),
        ('<rob0>[return_to_base]', 'return_to_base()'),
        ('<rob0>[return to base]', 'return_to_base()'),
        ('<rob0>[place] <0.45 -0.10 0.02 90>', 'place(0.45 -0.1 0.02 90)'),
        (
            '<rob0>[place] <[0.45, -0.10, 0.03, 1.0, 0.0, 0.0, 0.0]>',
            'place(0.45 -0.1 0.03 1 0 0 0)',
        ),
        ('<rob0>[reach] <0.4 0 .2 0.7 0.7 0 0>', 'reach(0.4 0 0.2 0.7071 0.7071 0 0)'),
        ('<rob0>[wait] <2 s>', 'wait(2)'),
        ('{"skill": "pick", "args": ["red_cube"]}', 'pick(red_cube)'),
        (
            '```json\n{"skill": "grasp", "args": ["red_cube"], "numbers": []}\n```',
            'pick(red_cube)',
        ),
        (
            '{"pass": false, "skill": "place", "args": [], "numbers": [0.4, -0.1, 0.02]}',
            'place(0.4 -0.1 0.02)',
        ),
        (
            '{"skill": "place", "args": [], "numbers": [0.4, -0.1, 0.03, 1.0, 0, 0, 0]}',
            'place(0.4 -0.1 0.03 1 0 0 0)',
        ),
        ('{"pass": false, "skill": "wait", "args": [], "numbers": [2.5]}', 'wait(2.5)'),
        ('<pass>', None),
        ('Action Plan: <PASS>\nExplanation: nothing polishes.', None),
        ('```\n<pass>\n```', None),
        ('{"pass": true}', None),
        ('{"pass": true, "skill": null, "args": [], "numbers": []}', None),
        ('{"skill": "pass", "args": []}', None),
    ],
)
def test_a_reply_becomes_a_checked_call_or_passes(reply: str, call: str | None) -> None:
    found = parse_call(reply, SCENE)

    assert isinstance(found, Pass) if call is None else str(found) == call


@pytest.mark.parametrize(
    ('reply', 'expected'),
    [
        ('', 'No action was found'),
        ('pick the red cube', '<rob0>'),
        ('<rob0>[throw] <red_cube>', 'The skills are: '),
        ('<rob0>[pick] <red_cub>', 'The objects are: red_cube, '),
        ('<rob0>[pick]', 'takes object, but got 0'),
        ('<rob0>[pick] <red_cube>\n<rob0>[place] <location_A>', '2 actions'),
        ('<rob0>[pick] <red_cube> <rob0>[place] <location_A>', 'after the action'),
        ('<rob0>[pick] <red_cube>\n<pass>', '2 actions'),
        ('<rob0>[place] <0.4 0.1>', 'no pose'),
        ('{"skill": "pick", "args": "red_cube"}', 'does not name'),
        ('{"skill": "pick", "args": ["red_cube"]', 'cannot be read'),
        ('{"skill": "pick", "args": ["red_cube"]}\n{"pass": true}', 'More than one'),
        ('{"skill": "pick", "args": ["black_cube"]}', 'no object named'),
    ],
)
def test_what_is_no_call_is_refused_with_what_would_be(reply: str, expected: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_call(reply, SCENE)

    assert expected in str(caught.value)


@pytest.mark.parametrize('tail', ['', '\n', ']', ' x', '\n<rob0>[pick'])
@pytest.mark.parametrize(
    'piece', [' ', '\t', '[', '[ ', '<', '<a', '<a>', '<a>,', '-', '* ', '`', 'a', '_', '9', ': ']
)
@pytest.mark.parametrize(
    'start', ['', '<rob0>[', '<rob0>[pick] ', '<rob0', '<pass>', '{', 'Action']
)
def test_no_reply_holds_the_grammar_up(start: str, piece: str, tail: str) -> None:
    for n in (MAX_LINE - len(start), 20_000):
        with contextlib.suppress(ParseError):
            assert isinstance(parse_call(start + (piece * n)[:n] + tail, SCENE), Pass)


def test_a_long_line_is_no_action_but_may_be_talk() -> None:
    with pytest.raises(ParseError, match=f'at most {MAX_LINE}'):
        parse_call('<rob0>[pick] <red_cube>' + ' ' * MAX_LINE, SCENE)

    reply = f'Well, {"hm " * MAX_LINE}\n<rob0>[ pick ] <red_cube>'
    assert parse_call(reply, SCENE) == SkillCall('pick', ('red_cube',))


@given(st.text(max_size=200))
def test_any_text_is_a_call_or_raises_a_parse_error(text: str) -> None:
    try:
        call = parse_call(text, SCENE)
    except ParseError:
        return
    assert isinstance(call, Pass) or call.skill in {skill.name for skill in SKILLS}


@pytest.mark.parametrize('verb', ['place', 'move', 'put'])
def test_a_move_of_what_is_held_is_a_place(verb: str) -> None:
    reply = f'<rob0>[{verb}] <red_cube><location_A>'

    assert str(parse_call(reply, HOLDING)) == 'place(location_A)'


@pytest.mark.parametrize(
    ('scene', 'held'), [(SCENE, 'nothing is in the hand'), (HOLDING, 'red_cube is in the hand')]
)
def test_a_move_of_what_is_not_held_is_refused_with_what_would_work(
    scene: Scene, held: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parse_call('<rob0>[move] <blue_cube> <location_A>', scene)

    assert f'blue_cube cannot be placed, because {held}.' in str(caught.value)
    assert 'To pick blue_cube is a step of its own' in str(caught.value)
    assert code_behind(caught.value) is Code.NOT_HOLDING


STEP = CallForm(SCENE, 2)
HOUSE = HOUSEHOLD.answer_scene(shown_to_body(SmallHouse().observe()))


def test_the_schema_has_the_number_of_the_step_and_names_skills_and_objects_of_the_scene() -> None:
    schema: Any = body_schema(STEP)
    entry = schema['properties']['calls']['items']

    assert schema['additionalProperties'] is entry['additionalProperties'] is False
    assert entry['required'] == list(entry['properties'])
    assert entry['properties']['step']['enum'] == [2]
    assert entry['properties']['skill']['enum'] == [*[skill.name for skill in SKILLS], None]
    assert entry['properties']['args']['items']['enum'] == [*NAMES]
    crowd = tuple(replace(OBJECTS[0], name=f'cube_{i}') for i in range(300))
    large: Any = body_schema(CallForm(Scene(crowd, SKILLS, (), 0.0), 0))
    assert large['properties']['calls']['items']['properties']['args']['items'] == {
        'type': 'string'
    }


def test_the_schema_of_a_house_has_no_numbers_which_no_action_takes() -> None:
    assert 'numbers' in json.dumps(body_schema(STEP))
    assert 'numbers' not in json.dumps(body_schema(CallForm(HOUSE, 0)))


@given(calls | st.just(Pass('nothing here sings.')), st.booleans())
def test_the_call_of_a_step_is_read_back_from_a_line_and_from_json(
    mapped: SkillCall | Pass, in_json: bool
) -> None:
    form = replace(STEP, in_json=in_json)
    written = form.write(2, mapped)
    reply = f'{{"calls": [{written}]}}' if in_json else written

    found = parse_reply(f'Here it is:\n```\n{reply}\n```', form)

    if isinstance(mapped, Pass):
        assert found == mapped
    else:
        assert isinstance(found, SkillCall)
        assert settled(found, SCENE) == check_call(mapped, SCENE)


@pytest.mark.parametrize(
    'reply',
    [
        'Step 2: `<rob0>[pick] <red_cube>`',
        '2) [pick] <red_cube>',
        '<rob0>[pick] <red_cube>',
        '[{"step": 2, "skill": "grasp", "args": ["red cube"]}]',
        '{"skill": "pick", "args": ["red_cube"]}',
    ],
)
def test_the_number_of_a_step_may_stand_before_its_call(reply: str) -> None:
    found = parse_reply(reply, STEP)

    assert isinstance(found, SkillCall)
    assert str(settled(found, SCENE)) == 'pick(red_cube)'


@pytest.mark.parametrize('in_json', [False, True])
@pytest.mark.parametrize(
    'reply',
    [
        *('', 'I cannot.', '2: pick the red cube', '{"calls": [', '{"calls": 7}', '[{}]'),
        *('5: [pick] <red_cube>', '2: [pick] <pyramid>', '2: [pick] <red_cube> and go'),
        '2: [pick] <red_cube>\n5: [wait] <2>',
    ],
)
def test_a_reply_without_the_call_is_refused_with_its_form(reply: str, in_json: bool) -> None:
    form = replace(STEP, in_json=in_json)

    with pytest.raises(ParseError) as caught:
        parse_reply(reply, form)

    assert str(caught.value).endswith(form.text)
    shown = form.text.partition(' such as ')[2].replace('`', '').partition(', or ')[0]
    assert parse_reply(shown, STEP) == SkillCall('pick', ('red_cube',))


@pytest.mark.parametrize(
    ('reply', 'call'),
    [
        ('<char0>[walk] <garbage can>', 'walk(garbagecan)'),
        ('<char0>[walk] <Garbage_Can>', 'walk(garbagecan)'),
        ('<char0>[putback] <lime><coffee table>', 'put(lime, coffeetable)'),
        ('<char0>[put] <lime><coffeetable>', 'put(lime, coffeetable)'),
    ],
)
def test_names_of_a_house_may_have_spaces_as_in_programs(reply: str, call: str) -> None:
    assert str(parse_call(reply, HOUSE)) == call


def test_put_is_putback_where_a_house_offers_that_word_and_never_place() -> None:
    house = SmallHouse().observe()  # with the world's own words

    put = parse_call('<char0>[put] <lime><coffeetable>', house)

    assert put == SkillCall('putback', ('lime', 'coffeetable'))
