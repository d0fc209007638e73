"""The grammar of calls: one line or JSON, and never a name that is not in the scene."""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError
from bbllm.core.protocols import PASS
from bbllm.core.skill_calls import check_call
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.planners.common.call_grammar import MAX_LINE, body_schema, parse_call
from bbllm.skills.catalog import SKILLS

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


@given(calls)
def test_a_call_that_is_written_as_a_line_or_as_json_is_read_back(call: SkillCall) -> None:
    line = f'<rob0>[{call.skill}]' + ''.join(f' <{arg}>' for arg in call.args)
    in_json = json.dumps({'pass': False, 'skill': call.skill, 'args': call.args})

    assert parse_call(line, SCENE) == parse_call(in_json, SCENE) == check_call(call, SCENE)


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

    assert found is PASS if call is None else str(found) == call


@pytest.mark.parametrize(
    ('reply', 'told'),
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
def test_what_is_no_call_is_refused_with_what_would_be(reply: str, told: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_call(reply, SCENE)

    assert told in str(caught.value)


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
            assert parse_call(start + (piece * n)[:n] + tail, SCENE) is PASS


def test_a_long_line_is_no_action_but_may_be_talk() -> None:
    with pytest.raises(ParseError, match=f'at most {MAX_LINE}'):
        parse_call('<rob0>[pick] <red_cube>' + ' ' * MAX_LINE, SCENE)

    reply = f'Well, {"hm " * MAX_LINE}\n<rob0>[ pick ] <red_cube>'
    assert parse_call(reply, SCENE) == SkillCall('pick', ('red_cube',))


@given(st.text(max_size=200))
def test_no_text_breaks_the_grammar_in_any_other_way_than_it_says(text: str) -> None:
    try:
        call = parse_call(text, SCENE)
    except ParseError:
        return
    assert call is PASS or call.skill in {skill.name for skill in SKILLS}


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

    assert held in str(caught.value)
    assert '`<rob0>[pick] <blue_cube>`' in str(caught.value)
    assert '`<rob0>[place] <location_A>`' in str(caught.value)


def test_the_schema_names_the_skills_and_objects_of_the_scene_and_is_strict() -> None:
    schema: Any = body_schema(SCENE)

    assert schema['type'] == 'object'
    assert schema['additionalProperties'] is False
    assert schema['required'] == list(schema['properties'])
    assert schema['properties']['skill']['enum'] == [*[skill.name for skill in SKILLS], None]
    assert schema['properties']['args']['items']['enum'] == [*NAMES]
    crowd = tuple(replace(OBJECTS[0], name=f'cube_{i}') for i in range(300))
    large: Any = body_schema(Scene(crowd, SKILLS, (), 0.0))
    assert large['properties']['args']['items'] == {'type': 'string'}
