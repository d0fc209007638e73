"""Programs are read by a grammar: what is none is refused with what would do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import SkillCall
from bbllm_planners.prog_prompt.grammar import MAX_LINES, parse_program
from bbllm_planners.prog_prompt.program import (
    Assertion,
    Program,
    ProgramCondition,
    ProgramPart,
    written,
)

SALMON = """\t# 1: take the salmon
\tfind('salmon')
\tassert('close' to 'salmon' )
\t\telse: find('salmon')
\t\telse: walk("kitchen")
\tgrab(salmon)  # with one hand
\t# 2: done"""
TAKEN = Program(
    (
        ProgramPart(
            '1: take the salmon',
            (
                SkillCall('find', ('salmon',)),
                Assertion(
                    ProgramCondition('salmon', 'close'),
                    (SkillCall('find', ('salmon',)), SkillCall('walk', ('kitchen',))),
                ),
                SkillCall('grab', ('salmon',)),
            ),
        ),
        ProgramPart('2: done'),
    )
)


@pytest.mark.parametrize(
    'text',
    [
        SALMON,
        f'def take_the_salmon():\n{SALMON}',
        f'Here it is:\n```python\ndef take_the_salmon():\n{SALMON}\n```\nDoes that help?',
        f'```\n{SALMON}',
        f'{SALMON}\ndef the_next_task():\n\tgrab("mug")',
        f'{SALMON}\n\treturn\n\tgrab("mug")',
        SALMON.replace('\t', ''),
        f"objects = ['salmon', 'mug']\n{SALMON}\n\tpass",
    ],
)
def test_a_program_is_read_with_what_models_put_around_it(text: str) -> None:
    assert parse_program(text) == TAKEN


@pytest.mark.parametrize(
    ('line', 'condition'),
    [
        ("assert('close' to 'mug')", ProgramCondition('mug', 'close')),
        ('assert close to mug', ProgramCondition('mug', 'close')),
        ("assert('fridge' is 'opened' )", ProgramCondition('fridge', 'is', 'opened')),
        (
            "assert('fridge' is not 'opened')",
            ProgramCondition('fridge', 'is', 'opened', negated=True),
        ),
        ("assert 'mug' in 'hands'", ProgramCondition('mug', 'in', 'hands')),
        ('assert("mug" not in "sink")', ProgramCondition('mug', 'in', 'sink', negated=True)),
        ("assert('mug' inside 'sink')", ProgramCondition('mug', 'in', 'sink')),
        ("assert('mug' on 'table')  # it stands there", ProgramCondition('mug', 'on', 'table')),
        (
            "assert('kitchen cabinet' is 'closed')",
            ProgramCondition('kitchen cabinet', 'is', 'closed'),
        ),
    ],
)
def test_conditions_are_read_and_written_alike(line: str, condition: ProgramCondition) -> None:
    program = parse_program(line)

    assert program.sub_goals == (ProgramPart('', (Assertion(condition),)),)
    assert parse_program(f'assert({condition})') == program


def test_two_parts_with_the_same_comment_are_both_kept_and_one_before_them_needs_none() -> None:
    program = parse_program("standup()\n# go\nwalk('kitchen')\n# go\nwalk('bathroom')")

    assert [goal.text for goal in program.sub_goals] == ['', 'go', 'go']
    assert [call.args for call in program.calls] == [(), ('kitchen',), ('bathroom',)]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ("for x in objects:\n\tgrab('x')", 'is a loop'),
        ("while True:\n\tgrab('x')", 'is a loop'),
        ("if close('mug'):", 'is a branch'),
        ("elif('mug')", 'is a branch'),
        ('import os', 'is an import'),
        ('from actions import grab', 'is an import'),
        ("exec('import os')", 'is a statement of Python'),
        ("robot.grab('mug')", 'reaches into something with a dot'),
        ("mug.__class__.__bases__('x')", 'reaches into something with a dot'),
        ("mug = find('mug')", 'sets a variable'),
        ("grab(find('mug'))", 'is none of what a program may have'),
        ("grab('mug'); grab('cup')", 'is none of what a program may have'),
        ("grab('mug", 'is none of what a program may have'),
        ("grab(thing='mug')", 'has an argument that is no name in quotes'),
        ("grab(['mug'])", 'has an argument that is no name in quotes'),
        ("grab('mug',)", 'has an argument without a name'),
        ("grab('')", 'has an argument without a name'),
        ('def f(x):', 'is a definition'),
        ("else: grab('mug')", 'below no assertion'),
        ("grab('mug')\nelse: grab('mug')", 'below no assertion'),
        ('assert True', 'asserts what cannot be read'),
        ("assert('close' to 'a' and 'close' to 'b')", 'asserts what cannot be read'),
        ("assert(len('mug') > 2)", 'asserts what cannot be read'),
        ('Well, well.', 'is none of what a program may have'),
        (f"grab('{'x' * 400}')", 'characters, of at most 300'),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number_and_what_would_do(
    text: str, expected: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parse_program(f"# 1: begin\n\n{text}\ngrab('mug')" if 'else' not in text else text)

    assert expected in str(caught.value)
    assert "a call `grab('salmon')`" in str(caught.value)
    if 'else' not in text:
        assert str(caught.value).startswith('Line 2, ')


@pytest.mark.parametrize('text', ['cannot: no iron', 'def f():\n\t# Cannot: no iron'])
def test_a_model_may_refuse_to_write_a_program(text: str) -> None:
    with pytest.raises(GaveUpError, match=r'\Ano iron\Z'):
        parse_program(text)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        *[(text, 'no program in the reply') for text in ('', '   \n\n', '```python\n```')],
        ("grab('mug')\n" * 10_000, f'has 10000 lines; at most {MAX_LINES} are accepted'),
    ],
)
def test_a_reply_without_a_program_or_with_an_endless_one_is_refused(
    text: str, expected: str
) -> None:
    with pytest.raises(ParseError, match=expected):
        parse_program(text)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.text(alphabet='\'"(),:#=[] \tabdefinrstu`\n.\\', max_size=60),
            st.sampled_from([*SALMON.splitlines(), "else: grab('x')", 'def f():', '```']),
        ),
        max_size=12,
    )
)
def test_any_text_is_a_program_or_refused_as_none(lines: list[str]) -> None:
    try:
        program = parse_program('\n'.join(lines))
    except (ParseError, GaveUpError):
        return

    for call in program.calls:
        assert parse_program(written(call)).calls == (call,)
