"""The grammar of LLM-State's attention and state estimator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ParseError
from bbllm_planners.llm_state.grammar import (
    MAX_ATTRIBUTES_LENGTH,
    MAX_CALLS,
    MAX_SUMMARY_LENGTH,
    REASON,
    UPDATE,
    parse_attention,
    parse_estimate,
)


@pytest.mark.parametrize(
    'line',
    [
        'update_state("cup1", "in hand | hot")',
        "update_state('cup1', 'in hand | hot')",
        'update_state(cup1, in hand | hot)',
        '3. update_state( "cup1" , " in hand |hot| " );',
        '- `update_state("cup1", "in hand | hot")`',
        'update_state("cup1", "in hand | hot") (the microwave ran)',
        'add_attribute("cup1", "in hand | hot")',
    ],
)
def test_attributes_are_read_however_they_are_quoted(line: str) -> None:
    found = parse_estimate(f'Here is the state:\n{line}\nThat is all.')

    assert found.attributes == (('cup1', ('in hand', 'hot')),)
    assert found.discarded == ()


ENDS = ('")', '"', '')
HOT = 'update_state("cup1", "hot")'


@pytest.mark.parametrize(
    ('reply', 'summary'),
    [
        ('update_reasoning("It (the robot) said, "no".")', 'It (the robot) said, "no".'),
        ('update_reasoning("First.\nThen\n\nthis.")\nupdate_state(a, b)', 'First. Then this.'),
        ('generate_summary("Well.")', 'Well.'),
        *[(f'update_reasoning("As (so)\nsaid.{end}\n{HOT}', 'As (so) said.') for end in ENDS],
        *[
            (f'update_reasoning(Well.){end}\nGood luck!', 'Well.')
            for end in (';', '.', '`', ' ; ')
        ],
    ],
)
def test_a_summary_may_have_lines_brackets_and_quotes(reply: str, summary: str) -> None:
    found = parse_estimate(reply)

    assert (found.summary, found.discarded) == (summary, ())
    assert (found.attributes == (('cup1', ('hot',)),)) is (HOT in reply)


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        ('update_state("cup1")', 'takes a thing and its attributes'),
        ('update_state("", "hot")', 'takes a thing and its attributes'),
        ('update_state("cup1", "hot"', 'bracket is not closed'),
        (f'update_state("cup1", "{"x" * 10_000}")', f'at most {MAX_ATTRIBUTES_LENGTH}'),
        ('add_related_objects("cup1")', 'The functions are'),
        ('os.system("rm")', None),
        ('__import__("os")', 'The functions are'),
        ('state.update_state("a1", "hot")', 'No call begins it'),
    ],
)
def test_a_malformed_call_is_left_out_and_the_others_stay(line: str, why: str | None) -> None:
    found = parse_estimate(f'update_state("mug1", "wet")\n{line}\nupdate_state("pan1", "dry")')

    assert found.attributes == (('mug1', ('wet',)), ('pan1', ('dry',)))
    assert [why in item.why for item in found.discarded] == ([True] if why else [])


@pytest.mark.parametrize('asked', [REASON, UPDATE])
def test_a_function_that_is_not_asked_for_is_left_out(asked: str) -> None:
    found = parse_estimate('update_reasoning("So.")\nupdate_state("cup1", "hot")', [asked])

    assert (bool(found.summary), bool(found.attributes)) == (asked == REASON, asked == UPDATE)
    assert len(found.discarded) == 1


def test_a_summary_without_end_is_cut_and_a_reply_without_end_is_not_read_to_it() -> None:
    long = parse_estimate(f'update_reasoning("{"so and on " * 5000}")')
    many = parse_attention('\n'.join(f'add_related_objects("cup{i}")' for i in range(5000)))

    assert len(long.summary) == MAX_SUMMARY_LENGTH
    assert len(many.objects) == MAX_CALLS
    assert len(long.discarded) == len(many.discarded) == 1


@pytest.mark.parametrize('read', [parse_attention, parse_estimate])
def test_nothing_to_add_needs_the_word_none(read: object) -> None:
    assert callable(read)
    for text in (' None.\n', 'Here it is:\n```\nnone\n```', 'Nothing is new.\n\nnone'):
        assert read(text).discarded == ()
    for text in ('', 'Well, none.', 'update_state(', '```\n```', 'update_state(cup1\nnone'):
        with pytest.raises(ParseError, match='with the word `none`'):
            read(text)


@given(st.text(max_size=300) | st.text(alphabet='update_state("a|b,)\n ', max_size=300))
def test_no_reply_is_more_than_data(text: str) -> None:
    for read in (parse_attention, parse_estimate):
        try:
            found = read(text)
        except ParseError:
            continue
        assert all(len(item.text) <= 200 for item in found.discarded)
