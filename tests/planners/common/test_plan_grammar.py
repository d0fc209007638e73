"""The grammar of plans: tolerant of what surrounds them, strict about their numbers."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import PlanStep
from bbllm.llm.recording.replay import read_recording
from bbllm.planners.common.plan_grammar import (
    MAX_REPEATS,
    MAX_STEP_LENGTH,
    MAX_STEPS,
    PartialPlan,
    PlanForm,
    first_steps,
    parse_partial_plan,
    parse_plan,
    plan_form,
    program_form,
)
from tests.planners.made_scenes import made_scene
from tests.planners.symbolic_table import SymbolicTabletop, busy_table

words = st.sampled_from(['pick', 'place', 'red_cube', 'to', 'base', '2', 'seconds', '0.45', '<x>'])
step_texts = st.lists(words, min_size=1, max_size=6).map(' '.join)


@given(st.lists(step_texts, max_size=20), st.integers(0, 30), st.sampled_from([':', '.', ')']))
def test_a_plan_that_is_written_is_read_back(texts: list[str], start: int, mark: str) -> None:
    lines = [f'{start + i}{mark} {text}' for i, text in enumerate([*texts, 'Done'])]

    steps = parse_plan('\n'.join(lines), start)

    assert [step.text for step in steps] == texts
    assert [step.index for step in steps] == list(range(start, start + len(texts)))


@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_raises_a_parse_error(text: str) -> None:
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
        '1: pick red_cube\n2: place red_cube on location_B\n3: Done',
        '0 - pick red_cube\n1 – place red_cube on location_B',
        '0\u3001pick red_cube\n1\u3001place red_cube on location_B',
        '0: pick red_cube\n1: place red_cube on location_B\n2: Done\n\n'
        'Environment:\nblue_cube cube\nTask: more\nNew plan:\n0: pick blue_cube\n1: Done',
        'New plan:\n0: pick red_cube\n1: place red_cube on location_B\n'
        'Task: more\nExplanation: none\nNew plan:\n0: pick blue_cube\n1: Done',
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
    ('reply', 'start', 'expected'),
    [
        ('', 0, 'No numbered step'),
        ('I would rather not.', 0, '`cannot: <reason>`'),
        ('Done with it', 0, 'numbered from 0'),
        ('2: pick a\n3: place a', 0, 'begins with number 2, but number 0'),
        ('1: pick a\n2: place a', 2, 'begins with number 1, but number 2'),
        ('4: pick a\n5: place a', 3, 'begins with number 4, but number 3'),
        ('1: pick a\n3: place a', 0, 'number 2 was to come'),
        ('0: pick a', 3, 'begins with number 0, but number 3'),
        ('0: pick a\n2: place a', 0, 'number 1 was to come'),
        ('0: pick a\n0: pick a', 0, 'goes on with number 0'),
        ('0:', 0, 'Step 0 is empty'),
        (f'0: {"x" * (MAX_STEP_LENGTH + 1)}', 0, f'at most {MAX_STEP_LENGTH}'),
        ('\n'.join(f'{i}: go' for i in range(MAX_STEPS + 1)), 0, f'more than {MAX_STEPS}'),
    ],
)
def test_what_is_no_plan_is_refused_with_what_would_be(
    reply: str, start: int, expected: str
) -> None:
    with pytest.raises(ParseError, match=expected.replace('(', r'\(')) as caught:
        parse_plan(reply, start, form=PlanForm('pick a'))

    whole = f'numbered from {start} without gaps, such as `{start}: pick a`, or the single line'
    assert str(caught.value).endswith(f'{whole} `cannot: <reason>`.')


@pytest.mark.parametrize('piece', [' ', '9', '9 ', '²', '٣', '* ', '(', ')', '.', 'step ', '`'])
@pytest.mark.parametrize('start', ['', '0:', 'step ', 'Done (', 'New plan', 'Explanation'])
def test_no_reply_holds_the_reader_up(start: str, piece: str) -> None:
    for tail in ('', ': pick'):
        with pytest.raises(ParseError):
            parse_plan(start + (piece * 20_000)[:20_000] + tail, 1)


@pytest.mark.parametrize('start', [0, 2])
@pytest.mark.parametrize(
    'reply',
    [
        *('Done', 'done.', '**Done**', '```\nDone\n```', '```text\nDone\n```', 'Plan:\nDone'),
        *('New plan:\nDone', 'New plan: Done', 'Explanation: all is so.\n\nNew plan:\n"Done"'),
        *('It is so already.\n\nDone', '{start}: Done', 'New plan:\n{start}: Done'),
        'Old plan:\n0: pick a\n1: place a\nNew plan:\nDone',
        'Done\n\nTask: the next one\nStep-by-step plan:\n0: pick a\n1: Done',
    ],
)
def test_done_alone_is_a_plan_without_steps(reply: str, start: int) -> None:
    assert parse_partial_plan(reply.format(start=start), start) == PartialPlan(())


def test_a_rest_may_follow_done_and_steps_after_a_heading_done_count() -> None:
    found = parse_partial_plan('New plan:\nDone\ncannot: blue_cube stays', 2)

    assert found == PartialPlan((), 'blue_cube stays')
    assert parse_plan('Done\n0: pick a') == (PlanStep(0, 'pick a'),)
    for reply in ('cannot: nothing lifts it\nDone', 'That cannot be done', 'Done? No.'):
        with pytest.raises((ParseError, GaveUpError)):
            parse_plan(reply)


def test_old_plans_and_odd_numbers_are_left_out_and_a_plan_may_be_empty_or_none() -> None:
    reply = 'Initial plan:\n0: pick a\n1: place a\nNew plan:\n1: place a on b\n2: return to base'
    assert parse_plan(reply, 1) == (PlanStep(1, 'place a on b'), PlanStep(2, 'return to base'))
    for number in ('9' * 5000, '²', '99999'):
        assert parse_plan(f'{number}: pick\n0: go') == (PlanStep(0, 'go'),)
    assert parse_plan('Explanation: all is well.\nNew plan:\n4: Done', 4) == ()
    with pytest.raises(GaveUpError, match=r'^there is no shirt\.$'):
        parse_plan('Hm.\n**cannot: there is no shirt.**')


@pytest.mark.parametrize(
    'reply',
    [
        *('Es tut mir leid, das kann ich nicht.', '\u6211\u4e0d\u80fd\u8fd9\u6837\u505a\u3002'),
        "I'm sorry, but I can't help with that request.",
        '{"steps": ["pick red_cube"]}',
        '0: pick a\n1: place a on b\n\nOr:\n0: pick b\n1: place b on a',
        'Plan A\n1: pick a\n2: place a on b\nPlan B\n1: pick b\n2: place b on a',
    ],
)
def test_refusals_in_any_words_and_two_plans_are_asked_for_again(reply: str) -> None:
    with pytest.raises(ParseError, match='such as `0: <step>`, or the single line `cannot:'):
        parse_plan(reply)


def test_steps_may_be_in_any_language_and_a_plan_with_done_ends_there() -> None:
    assert parse_plan('0: nimm red_cube\n1: Done\n0: nimm blue_cube') == (
        PlanStep(0, 'nimm red_cube'),
    )


@pytest.mark.parametrize('group', [('pick a',), ('pick a', 'open'), ('a', 'b', 'c', 'd')])
def test_a_plan_that_goes_round_in_circles_is_refused(group: tuple[str, ...]) -> None:
    def plan(repeats: int) -> str:
        texts = ['return to base', *group * repeats]
        return '\n'.join(f'{i}: {text}' for i, text in enumerate(texts))

    assert len(parse_plan(plan(MAX_REPEATS))) == 1 + MAX_REPEATS * len(group)
    with pytest.raises(ParseError, match=r'From step 1 .* more than 10 times'):
        parse_plan(plan(MAX_REPEATS + 1))


@pytest.mark.parametrize('words', ['wait 90 seconds', 'Wait for 2 minutes.', 'wait 61', 'wait 1h'])
def test_a_wait_above_the_limit_costs_no_loop_but_is_asked_for_again(words: str) -> None:
    form = PlanForm('pick a', longest_wait_s=60.0)

    with pytest.raises(ParseError, match=r'Step 1 waits \d+ seconds, .* at most 60\.'):
        parse_plan(f'0: pick a\n1: {words}', form=form)
    assert parse_plan(f'0: {words}') == (PlanStep(0, words),)


def test_long_waits_in_pieces_are_no_circle() -> None:
    plan = '\n'.join(f'{i}: wait 60 seconds' for i in range(30))

    assert len(parse_plan(plan, form=PlanForm(longest_wait_s=60.0))) == 30


def test_the_form_that_is_wanted_is_that_of_the_scene() -> None:
    table, house = busy_table().observe(), made_scene('character_1 milk_3 fridge_2')
    locations = SymbolicTabletop({'location_A': (0.4, 0.1)}).observe()

    assert plan_form(table) == PlanForm('pick red_cube', 60.0)
    assert plan_form(locations) == PlanForm('return to base', 60.0)
    assert plan_form(house) == PlanForm('walk to fridge')
    assert program_form(table).example == '<rob0>[pick] <red_cube>'
    assert program_form(locations).example == '<rob0>[return_to_base]'
    assert program_form(house).example == '<char0>[walk] <fridge>'


RECORDED = sorted((Path(__file__).parents[3] / 'config' / 'recordings').glob('*.xz'))


@pytest.mark.parametrize('path', RECORDED, ids=lambda path: path.name.partition('.')[0])
def test_the_first_steps_of_recorded_replies_are_those_of_the_whole_reply(path: Path) -> None:
    for text in {each.reply.text for each in read_recording(path) if each.reply is not None}:
        lines = text.splitlines(keepends=True)
        found = _numbered(text)
        start, headed = (found, found > 0 or 'New plan:' in text)
        try:
            whole = parse_partial_plan(text, start).steps
        except (ParseError, GaveUpError):
            continue
        for n_lines in range(len(lines) + 1):
            begin = first_steps(''.join(lines[:n_lines]), start, headed=headed)
            assert begin == whole[: len(begin)]
        assert first_steps(text + '\n', start, headed=headed) == whole


def _numbered(text: str) -> int:
    """Return the number of the first step after the last heading."""
    found = re.search(r'^(\d+):', text.rpartition('New plan:')[2], re.MULTILINE)
    return int(found[1]) if found else 0


LINES = (
    *('0: pick a', '1: put it', '2: pick b', '3: put it', '1: pick c', '2: Done', 'Done', ''),
    *('```', 'Plan:', 'New plan:', '**New plan:** 0: pick d', 'cannot: b is gone', 'Task: x'),
    *('2: cannot: b is gone', 'Explanation: 0: no', 'I think:', '0 - pick a', 'Step 1: put it'),
)


@given(st.lists(st.sampled_from(LINES), max_size=8), st.sampled_from((0, 0, 1, 2)))
def test_the_first_steps_stay_unless_the_reply_is_refused_or_has_a_later_heading(
    lines: list[str], start: int
) -> None:
    for n_lines in range(len(lines) + 1):
        begin = first_steps(''.join(f'{line}\n' for line in lines[:n_lines]), start)
        later = any('New plan' in line for line in lines[n_lines:])
        try:
            whole = parse_partial_plan('\n'.join(lines), start).steps
        except (ParseError, GaveUpError):
            continue
        assert begin == whole[: len(begin)] or later


@pytest.mark.parametrize(
    'text',
    [
        '0: pick a',  # the line may go on
        'I shall pick it.\n0: pick a\n',
        '1: pick a\n0: pick b\n',
        '2: pick a\n',
        'Explanation: 0: pick a\n0: pick b\n',
        'cannot: it is gone\n',
        '0: cannot: it is gone\n',
        '0: Done\n',
        '0: pick a\n2: pick b\n',
    ],
)
def test_of_a_reply_that_may_come_to_something_else_no_step_is_first(text: str) -> None:
    assert first_steps(text) == ()


def test_after_a_repair_was_asked_for_a_plan_needs_its_heading() -> None:
    assert first_steps('0: pick a\n', headed=True) == ()
    assert first_steps('It slipped.\nNew plan:\n0: pick a\n', headed=True) == (
        PlanStep(0, 'pick a'),
    )
