"""Lines of a script are read as VirtualHome reads them, or refused in its words and ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.worlds.household.script import ScriptError, ScriptLine, parse_line
from bbllm.worlds.household.vocabulary import Action

NAME = st.from_regex(r'[a-z][a-z_]{0,8}', fullmatch=True)
LINES = st.sampled_from(Action).flatmap(
    lambda action: st.builds(
        ScriptLine,
        st.just(action),
        st.lists(
            st.tuples(NAME, st.integers(-5, 9999)), min_size=action.arity, max_size=action.arity
        ).map(tuple),
        st.integers(0, 50),
    )
)


@given(LINES)
def test_what_a_line_prints_is_read_as_the_same_line(line: ScriptLine) -> None:
    assert parse_line(str(line), line.number) == line


@given(st.text(max_size=80) | st.text('[]<>() WALKa1', max_size=1500))
def test_any_text_is_a_line_or_a_script_error(text: str) -> None:
    try:
        line = parse_line(text)
    except ScriptError:
        return
    assert len(line.objects) == line.action.arity


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('walk to the sofa', 'Cannot parse action of "walk to the sofa"; .*<fridge>'),
        ('[GRAP] <mug> (1)', 'Unknown action "GRAP". Did you mean \'GRAB\'?.*WIPE'),
        ('[WALK]', 'Wrong number of parameters for "WALK". Got 0, expected 1'),
        ('[STANDUP] <a> (1)', 'Wrong number of parameters for "STANDUP". Got 1, expected 0'),
        ('[WALK] <sofa> (1.201)', r'no whole number in "\[WALK\] <sofa> \(1.201\)"'),
        ('[WALK] ' + '<' * 100_000, 'Cannot parse action .* at most 1000'),
    ],
)
def test_what_is_no_line_is_refused_with_what_would_have_been(text: str, wording: str) -> None:
    with pytest.raises(ScriptError, match=wording):
        parse_line(text)


def test_case_spaces_and_other_words_for_an_action_are_understood() -> None:
    assert parse_line(' [lookat_medium]<Coffee Table>(7) junk', 3) == ScriptLine(
        Action.LOOKAT, (('coffee_table', 7),), 3
    )
