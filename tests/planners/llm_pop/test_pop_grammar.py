"""What a planner and an evaluator of LLM-POP may answer, and what is made of it."""

import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import SkillCall
from bbllm.planners.common.prompting import one_line
from bbllm_planners.llm_pop.grammar import (
    MAX_ACTIONS,
    PopAction,
    Verb,
    parse_evaluator,
    parse_planner,
)

REPLY = """EXPLAIN
Both have to be weighed;
the red one first.
EXECUTE
ACTION PICK red_cube
ACTION PLACE [0.45 -0.10 0.032 1 0 0 0]
ACTION REACH [0.45, -0.10, 0.20, 0.7071, 0.7071, 0, 0]
ACTION RESET
ACTION WAIT"""
DOWN = '0.45 -0.10 0.032 1 0 0 0'

NUMBERS = st.floats(-2.0, 2.0).map(lambda value: f'{value:.4f}')
POSES = st.lists(NUMBERS, min_size=7, max_size=7).map(' '.join)
NAMES = st.from_regex(r'[a-z]{1,8}_(cube|cylinder)', fullmatch=True)
ACTIONS = st.one_of(
    st.builds(PopAction, st.just(Verb.PICK), NAMES),
    st.builds(PopAction, st.sampled_from([Verb.PLACE, Verb.REACH]), POSES),
    st.builds(PopAction, st.sampled_from([Verb.RESET, Verb.WAIT])),
)
WORDS = st.text(string.ascii_lowercase + ' ,.0123456789\n', max_size=60).filter(
    lambda text: not text.startswith('cannot')
)


def test_a_reply_becomes_an_explanation_and_actions_with_their_calls() -> None:
    reply = parse_planner(REPLY, may_end=False)

    assert reply.explanation == 'Both have to be weighed; the red one first.'
    assert [action.call for action in reply.actions] == [
        SkillCall('pick', ('red_cube',)),
        SkillCall('place', (DOWN,)),
        SkillCall('reach', ('0.45 -0.10 0.20 0.7071 0.7071 0 0',)),
        SkillCall('return_to_base'),
        SkillCall('wait', ('1',)),
    ]
    assert [str(action) for action in reply.actions[:2]] == ['PICK red_cube', f'PLACE [{DOWN}]']
    assert not any(action.problem for action in reply.actions)


@given(WORDS, st.lists(ACTIONS, min_size=1, max_size=MAX_ACTIONS))
def test_each_reply_in_the_stated_form_reads_back(words: str, actions: list[PopAction]) -> None:
    lines = ['EXPLAIN', words, 'EXECUTE', *(f'ACTION {action}' for action in actions)]

    reply = parse_planner('\n'.join(lines), may_end=False)

    assert reply.explanation == ' '.join(words.split())
    assert list(reply.actions) == actions
    assert not any(action.problem for action in reply.actions)


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_a_reply_with_actions_or_refused(text: str, end: bool) -> None:
    for sent in (text, f'EXPLAIN\n{text}\nEXECUTE\n{text}', f'EXECUTE\nACTION {text}'):
        with contextlib.suppress(GaveUpError, ParseError):
            reply = parse_planner(sent, may_end=end)

            assert reply.actions or end
            assert one_line(reply.explanation) == reply.explanation
            assert all(one_line(str(action)) == str(action) for action in reply.actions)


@given(st.text(max_size=300))
def test_any_text_is_a_verdict_with_a_reason_or_refused(text: str) -> None:
    for sent in (text, f'FAIL\n{text}', f'{text}\nSUCCESS'):
        with contextlib.suppress(ParseError):
            success, reason = parse_evaluator(sent)

            assert success or reason
            assert one_line(reason) == reason


@pytest.mark.parametrize(
    'text',
    [
        '**EXPLAIN**\nweigh\n**EXECUTE**\n- ACTION PICK red_cube\n- ACTION RESET',
        'Sure!\nEXPLAIN: weigh\nEXECUTE:\n```\nAction 0: PICK red_cube\nAction 1: RESET\n```',
        'explain\nweigh\nexecute\n1. action pick <red_cube>\n2. action reset.',
        'EXPLAIN weighing first\nEXPLAIN\nweigh\nEXECUTE\nPICK red_cube // lift it\nRESET\nDONE',
    ],
)
def test_what_models_put_around_their_lines_is_left_out(text: str) -> None:
    reply = parse_planner(text, may_end=False)

    assert reply.explanation == 'weigh'
    assert list(map(str, reply.actions)) == ['PICK red_cube', 'RESET']


@pytest.mark.parametrize(
    ('below', 'states'),
    [
        ('', 'No action stands below EXECUTE'),
        ('DONE', 'the evaluator says the task is not done'),
        ('ACTION FLY red_cube', "'ACTION FLY red_cube' stands below EXECUTE and is no action"),
        ('ACTION PICK red_cube\nThen we will see.', "'Then we will see' stands below"),
        ('ACTION PICK', 'lacks what PICK needs'),
        ('ACTION PLACE []', 'lacks what PLACE needs'),
        ('ACTION RESET the arm', 'RESET takes nothing behind it'),
        ('ACTION PICK red_cube ACTION RESET', 'holds two actions'),
        ('ACTION PICK red_cube\nEXECUTE\nACTION RESET', 'more than once'),
        ('ACTION WAIT\n' * (MAX_ACTIONS + 1), f'more than {MAX_ACTIONS} actions'),
        (f'ACTION PICK {"x" * 400}', 'has 412 characters'),
    ],
)
def test_what_is_no_plan_is_refused_as_a_whole(below: str, states: str) -> None:
    with pytest.raises(ParseError, match=states):
        parse_planner(f'EXPLAIN\nso\nEXECUTE\n{below}', may_end=False)


def test_a_reply_without_execute_is_refused_with_the_form() -> None:
    with pytest.raises(ParseError, match=r'no line EXECUTE.*PICK <object>, PLACE <pose>'):
        parse_planner('I would pick the red cube.', may_end=True)


@pytest.mark.parametrize(
    ('pose', 'what'),
    [
        ('0.45 -0.1 0.02', 'has 3 numbers'),
        ('0.45 -0.1 0.02 90', 'has 4 numbers'),
        ('0.45 -0.1 0.02 1 0 0 0 0', 'has 8 numbers'),
        ('0.45 -0.1 0.02 1 0 0 inf', 'is no list of numbers'),
        ('blue_cube', 'is no list of numbers'),
        ('0.45 -0.1 0.02 1 0 0 O', 'is no list of numbers'),
    ],
)
@pytest.mark.parametrize('verb', ['PLACE', 'REACH'])
def test_a_pose_that_is_not_seven_numbers_is_an_action_with_a_problem(
    verb: str, pose: str, what: str
) -> None:
    (action,) = parse_planner(f'EXECUTE\nACTION {verb} [{pose}]', may_end=False).actions

    assert action.problem.startswith(f'{verb} [{pose}] {what}, but {verb} takes a pose of seven')
    assert '[x y z qx qy qz qw], for example' in action.problem


@pytest.mark.parametrize(
    ('text', 'success', 'reason'),
    [
        ('SUCCESS\nIt stands there.', True, 'It stands there.'),
        ('SUCCESS', True, ''),
        ('FAIL\nred_cube is lighter.\nStack it.', False, 'red_cube is lighter. Stack it.'),
        ('**FAIL**\n\nNothing is known.', False, 'Nothing is known.'),
        ('fail: nothing is known', False, 'nothing is known'),
        ('Let me see.\nFAIL\nNothing is known.', False, 'Nothing is known.'),
    ],
)
def test_a_verdict_stands_alone_and_its_reason_below(
    text: str, success: bool, reason: str
) -> None:
    assert parse_evaluator(text) == (success, reason)


@pytest.mark.parametrize(
    ('text', 'states'),
    [
        ('', 'Neither SUCCESS nor FAIL'),
        ('SUCCESS is not reached yet', 'Neither SUCCESS nor FAIL'),
        ('The robot did not FAIL', 'Neither SUCCESS nor FAIL'),
        ('SUCCESS\nIt stands.\nFAIL\nIt fell.', 'Both SUCCESS and FAIL'),
        ('FAIL', 'without a reason'),
    ],
)
def test_what_is_no_verdict_is_never_taken_for_success(text: str, states: str) -> None:
    with pytest.raises(ParseError, match=states):
        parse_evaluator(text)
