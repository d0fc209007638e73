"""The grammar of plans: tolerant of what surrounds them, strict about their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import PlanStep
from bbllm.planners.common.plan_grammar import MAX_STEP_LENGTH, MAX_STEPS, parse_plan

words = st.sampled_from(['pick', 'place', 'red_cube', 'to', 'base', '2', 'seconds', '0.45', '<x>'])
step_texts = st.lists(words, min_size=1, max_size=6).map(' '.join)


@given(st.lists(step_texts, max_size=20), st.integers(0, 30), st.sampled_from([':', '.', ')']))
def test_a_plan_that_is_written_is_read_back(texts: list[str], start: int, mark: str) -> None:
    lines = [f'{start + i}{mark} {text}' for i, text in enumerate([*texts, 'Done'])]

    steps = parse_plan('\n'.join(lines), start)

    assert [step.text for step in steps] == texts
    assert [step.index for step in steps] == list(range(start, start + len(texts)))


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader_in_any_other_way_than_it_says(text: str) -> None:
    try:
        steps = parse_plan(text)
    except (ParseError, GaveUpError):
        return
    assert [step.index for step in steps] == list(range(len(steps)))


@pytest.mark.parametrize(
    'reply',
    [
        '0: pick red_cube\n1: place red_cube on location_B',
        'Here is the plan:\n\n0: pick red_cube\n1: place red_cube on location_B\n\nGood luck!',
        '```\n0. pick red_cube\n1. place red_cube on location_B\n```',
        '**0:** pick red_cube\n**1:** place red_cube on location_B',
        '- 0) `pick red_cube`\n- 1) `place red_cube on location_B`',
        'Step 0: pick red_cube\nStep 1: place red_cube on location_B\nDone.\n7: dance',
        '0: pick red_cube\r\n1: place red_cube on location_B\r\n2: Done\r\n',
        'It is 0.45 m away.\n0: pick red_cube\n1: place red_cube on location_B',
        'Explanation: 1. the hand is empty.\n2. it is near.\n'
        'New plan:\n0: pick red_cube\n1: place red_cube on location_B',
        '**Explanation:** none\n**New plan:** 0: pick red_cube\n1: place red_cube on location_B',
    ],
)
def test_what_stands_around_a_plan_is_left_out(reply: str) -> None:
    assert [step.text for step in parse_plan(reply)] == [
        'pick red_cube',
        'place red_cube on location_B',
    ]


@pytest.mark.parametrize(
    ('reply', 'start', 'told'),
    [
        ('', 0, 'No numbered step'),
        ('I would rather not.', 0, '`cannot: <reason>`'),
        ('Done', 0, 'numbered from 0'),
        ('1: pick a\n2: place a', 0, 'begins with number 1, but number 0'),
        ('0: pick a', 3, 'begins with number 0, but number 3'),
        ('0: pick a\n2: place a', 0, 'number 1 was to come'),
        ('0: pick a\n0: pick a', 0, 'goes on with number 0'),
        ('0:', 0, 'Step 0 is empty'),
        (f'0: {"x" * (MAX_STEP_LENGTH + 1)}', 0, f'at most {MAX_STEP_LENGTH}'),
        ('\n'.join(f'{i}: go' for i in range(MAX_STEPS + 1)), 0, f'more than {MAX_STEPS}'),
    ],
)
def test_what_is_no_plan_is_refused_with_what_would_be(reply: str, start: int, told: str) -> None:
    with pytest.raises(ParseError, match=told.replace('(', r'\(')):
        parse_plan(reply, start)


@pytest.mark.parametrize('piece', [' ', '9', '9 ', '²', '٣', '* ', '(', ')', '.', 'step ', '`'])
@pytest.mark.parametrize('start', ['', '0:', 'step ', 'Done', 'Done (', 'New plan', 'Explanation'])
def test_no_reply_holds_the_reader_up(start: str, piece: str) -> None:
    for tail in ('', ': pick'):
        with pytest.raises(ParseError):
            parse_plan(start + (piece * 20_000)[:20_000] + tail, 1)


def test_old_plans_and_odd_numbers_are_left_out_and_a_plan_may_be_empty_or_none() -> None:
    reply = 'Initial plan:\n0: pick a\n1: place a\nNew plan:\n1: place a on b\n2: return to base'
    assert parse_plan(reply, 1) == (PlanStep(1, 'place a on b'), PlanStep(2, 'return to base'))
    for number in ('9' * 5000, '²', '99999'):
        assert parse_plan(f'{number}: pick\n0: go') == (PlanStep(0, 'go'),)
    assert parse_plan('Explanation: all is well.\nNew plan:\n4: Done', 4) == ()
    with pytest.raises(GaveUpError, match=r'^there is no shirt\.$'):
        parse_plan('Hm.\n**cannot: there is no shirt.**')
