"""What a fine-tuned model may answer, and what is made of it."""

import contextlib
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import SkillCall
from bbllm.planners.common.prompting import one_line
from bbllm_planners.llm_pop.fine_tuned_grammar import (
    ENOUGH_FORM,
    REPLY_FORM,
    SOME_FORM,
    FtAction,
    FtReply,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm_planners.llm_pop.grammar import MAX_ACTIONS, Verb

NUMBERS = st.integers(-19999, 19999).map(lambda value: value / 10000)
POSES = st.tuples(*[NUMBERS] * 7)
NAMES = st.from_regex(r'[a-z]{1,8}_(cube|cylinder)', fullmatch=True)
ACTIONS = st.one_of(
    st.builds(FtAction, st.just(Verb.PICK), NAMES),
    st.builds(FtAction, st.just(Verb.PLACE), NAMES | st.just(''), POSES),
    st.builds(FtAction, st.just(Verb.REACH), st.just(''), POSES),
    st.builds(FtAction, st.sampled_from([Verb.RESET, Verb.WAIT])),
)
WORDS = st.text(string.ascii_lowercase + ' ,.0123456789', max_size=60).map(one_line)


def reply(actions: str, words: str = 'So it is.') -> str:
    return f'EXPLAIN: {words}\nACTION: {actions}'


def test_a_reply_becomes_words_and_actions_with_their_calls() -> None:
    read = parse_reply(
        reply(
            "[grasp('red_cube'), place('red_cube', [0.45, -0.1, 0.032], [1, 0, 0, 0]), "
            'reach([0.45, -0.10, 0.2], [0.7071, 0.7071, 0, 0]), reset(), wait()]'
        )
    )

    assert read.explanation == 'So it is.'
    assert [action.call for action in read.actions] == [
        SkillCall('pick', ('red_cube',)),
        SkillCall('place', ('0.45 -0.1 0.032 1 0 0 0',)),
        SkillCall('reach', ('0.45 -0.1 0.2 0.7071 0.7071 0 0',)),
        SkillCall('return_to_base'),
        SkillCall('wait', ('1',)),
    ]
    assert str(read).startswith("EXPLAIN: So it is.\nACTION: [pick('red_cube'), place('red_cube',")


@given(WORDS, st.lists(ACTIONS, max_size=MAX_ACTIONS))
def test_whatever_is_written_reads_back(words: str, actions: list[FtAction]) -> None:
    expected = FtReply(words, tuple(actions))

    assert parse_reply(str(expected)) == expected


@given(st.text(max_size=300))
def test_any_text_is_a_reply_or_refused(text: str) -> None:
    for sent in (text, reply(text), reply(f'[{text}]'), reply(f'[pick({text})]')):
        with contextlib.suppress(GaveUpError, ParseError):
            read = parse_reply(sent)

            assert parse_reply(str(read)).actions == read.actions


@pytest.mark.parametrize(
    'text',
    [
        '**EXPLAIN:** Lift it.\n**ACTION:** [pick("red_cube")]',
        'explain: Lift it.\naction: [pick(red_cube)].',
        "```\nEXPLAIN: Lift\nit.\n\nACTION:\n[\n  pick('red_cube'),\n]\n```",
        "Let me see.\n> EXPLAIN: Lift it.\n> ACTION: [ pick ( 'red_cube' ) ]",
    ],
)
def test_markdown_and_layout_do_not_matter(text: str) -> None:
    assert parse_reply(text) == FtReply('Lift it.', (FtAction(Verb.PICK, 'red_cube'),))
    for nothing in ('<nooutput>', '<NoOutput>.', '`<nooutput>`', '[]'):
        assert parse_reply(reply(nothing)).actions == ()


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ("ACTION: [pick('a_cube')]", 'There are 0 lines `EXPLAIN: ` and'),
        ('EXPLAIN: Lift it.', '1 lines `EXPLAIN: ` and 0 lines `ACTION: `'),
        ("ACTION: [pick('a_cube')]\nEXPLAIN: Lift it.", 'below it one of the second'),
        (reply("[pick('a_cube')]") + '\n' + reply("[pick('b_cube')]"), '2 lines `EXPLAIN: `'),
        (reply("pick('a_cube')"), 'no list of actions in brackets'),
        (reply("[throw('a_cube')]"), "'throw' is no action. The actions are"),
        (reply("[pick('a_cube') pick('b_cube')]"), 'A comma is missing'),
        (reply('[pick()]'), 'has not the arguments'),
        (reply("[pick('a_cube', 'b_cube')]"), 'has not the arguments'),
        (reply('[reset(1)]'), 'is no argument'),
        (reply("[place('a_cube')]"), 'position of 3 numbers and a quaternion of 4, but has none'),
        (reply("[place('a_cube', [0.4, 0.1, 0.02])]"), 'but has 3'),
        (reply("[place('a_cube', [0.4, 0.1, 0.02], [1, 0, 0])]"), 'but has 3 and 3'),
        (reply("[place([0.4, 0.1, 0.02], 'a_cube', [1, 0, 0, 0])]"), 'a name comes before'),
        (reply("[reach('a_cube', [0.4, 0.1, 0.02], [1, 0, 0, 0])]"), 'reach'),
        (reply('[place([0.4, 0.1, nan], [1, 0, 0, 0])]'), 'are not all numbers'),
        (reply('[place([0.4, 0.1, zero], [1, 0, 0, 0])]'), 'are not all numbers'),
        (reply('[__import__("os")]'), 'is no action'),
        ('EXPLAIN: ' + '\n' * 200_000, '0 lines `ACTION: `'),
        (reply('[' + 'pick(' * 100_000), 'no list of actions'),
        ('*' * 500_000, '0 lines `EXPLAIN: `'),
        (reply(f'[{", ".join(["reset()"] * (MAX_ACTIONS + 1))}]'), f'more than {MAX_ACTIONS}'),
    ],
)
def test_what_is_not_the_grammar_is_refused_with_what_would_do(text: str, why: str) -> None:
    with pytest.raises(ParseError) as error:
        parse_reply(text)

    assert why in str(error.value)


@pytest.mark.parametrize(
    ('read', 'form'),
    [(parse_reply, REPLY_FORM), (parse_enough, ENOUGH_FORM), (parse_some, SOME_FORM)],
)
@pytest.mark.parametrize('text', ['I would weigh both.', reply('[throw()]'), reply('pick')])
def test_the_first_refusal_states_the_whole_form_that_the_question_wants(
    read: Callable[[str], FtReply], form: str, text: str
) -> None:
    with pytest.raises(ParseError) as error:
        read(text)

    assert str(error.value).endswith(form)
    actions = '[reset()]' if read is not parse_enough else '<nooutput>'
    assert f'`ACTION: {actions}' in form or 'such as [reset(), wait()]' in form
    assert read(reply(actions, 'No. It is not known.')).explanation == 'No. It is not known.'


@pytest.mark.parametrize(
    ('words', 'actions', 'enough'),
    [
        ('Yes.', '<nooutput>', True),
        ('no, both weigh', '<nooutput>', False),
        ('Perhaps.', '<nooutput>', 'must begin with Yes or No'),
        ('Nothing is known.', '<nooutput>', 'must begin with Yes or No'),
        ('Yes.', '[reset()]', 'wants none yet'),
    ],
)
def test_the_first_question_is_answered_by_yes_or_no(
    words: str, actions: str, enough: bool | str
) -> None:
    if isinstance(enough, bool):
        assert parse_enough(reply(actions, words)).enough is enough
    else:
        with pytest.raises(ParseError, match=enough):
            parse_enough(reply(actions, words))
