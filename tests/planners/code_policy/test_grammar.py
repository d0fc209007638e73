"""Programs of the closed grammar: what is read, what is refused, and what they compute."""

from collections.abc import Sequence

import pytest

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import Code
from bbllm_planners.code_policy.grammar import parse_program
from bbllm_planners.code_policy.interpreter import (
    BUILT_IN,
    MAX_LOOP,
    Interpreter,
    ProgramError,
    SkillFailedError,
    Value,
)


def run(text: str, **fails: Code) -> list[Value]:
    """Run a program whose calls of `do` are kept; `do` of some words fails."""
    done: list[Value] = []

    def do(values: Sequence[Value]) -> Value:
        (value,) = values
        if code := fails.get(str(value)):
            raise SkillFailedError(code, f'{value} failed', final=code is Code.NOT_APPROVED)
        done.append(value)
        return True

    functions = {**BUILT_IN, 'do': do}
    Interpreter(functions).run(parse_program(text, functions.keys()))
    return done


@pytest.mark.parametrize(
    ('text', 'done'),
    [
        ("do('a')\ndo('b')", ['a', 'b']),
        ("```python\nfor x in ['a', 'b']:\n    do(x)\n```", ['a', 'b']),
        ('x = 1\nx += 2\ndo(x * 2 - 1 / 2)', [5.5]),
        ('p = [0.4, 0.1]\ndo([p[0] + 0.1, -p[1]])', [[0.5, -0.1]]),
        ("if 'a' in ['a'] and not False:\n    do('yes')\nelse:\n    do('no')", ['yes']),
        (
            'n = 0\nwhile n < 3:\n    n = n + 1\n    if n == 2:\n        continue\n    do(n)',
            [1, 3],
        ),
        ('for i in range(5):\n    if i == 2:\n        break\n    do(i)', [0, 1]),
        ("do([x for x in ['a', 'b', 'c'] if x != 'b'])", [['a', 'c']]),
        ("do('a' if len([1, 2]) > 1 else 'b')", ['a']),
        ('do(sorted([3, 1, 2]))\ndo(max(1, 5))\ndo(abs(-2))', [[1, 2, 3], 5, 2]),
        ("do('a')\nreturn\ndo('b')", ['a']),
        ('done', []),
        ('# nothing is left\ndone', []),
    ],
)
def test_a_program_is_run(text: str, done: list[Value]) -> None:
    assert run(text) == done


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('import os', 'an import'),
        ("do('a').real", 'a dot behind a name'),
        ('def f():\n    do(1)', 'a definition'),
        ('x = lambda: 1', 'a lambda'),
        ("eval('1')", 'which is none of'),
        ("__import__('os')", 'which is none of'),
        ('do(__name__)', "uses the name '__name__'"),
        ('x = 2 ** 9', 'a power'),
        ("do(f'{1}')", 'an f-string'),
        ('x = y = 1', 'more than one name'),
        ('a, b = 1, 2', 'more than one name'),
        ('x = [1][0:1]', 'a slice'),
        ('do(*[1])', 'a star'),
        ('do(a=1)', 'names of arguments'),
        ('with do(1):\n    pass', 'a with'),
        ('try:\n    do(1)\nexcept Whatever:\n    pass', 'which is no failure'),
        ('try:\n    do(1)\nfinally:\n    do(2)', 'more than except'),
        ('do(b"x")', 'has the value'),
        ('do(1j)', 'has the value'),
        ('do(', 'cannot be read'),
        ('do(1)\n  do(2)', 'cannot be read'),
        ('x = {}', 'a dictionary'),
        ("x['a'] = 1", 'more than one name'),
        ('do(' + '[' * 150 + ']' * 150 + ')', 'nested'),
    ],
)
def test_anything_else_is_refused_with_its_line_and_what_would_do(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why) as refused:
        parse_program(text, {'do', *BUILT_IN})

    assert 'Line ' in str(refused.value)
    assert 'A program has assignments' in str(refused.value)


@pytest.mark.parametrize('text', ['', '# only a comment', 'do(1)\n' * 301, '\0', '(' * 5000])
def test_what_is_no_program_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_program(text, {'do'})


def test_it_may_say_that_it_cannot() -> None:
    with pytest.raises(GaveUpError, match='there is no oven'):
        parse_program('cannot: there is no oven', {'do'})


@pytest.mark.parametrize(
    'names', ['COVERED', 'Covered', '(OCCUPIED, COVERED)', 'FAILED', 'Exception', '']
)
def test_a_failure_is_caught_by_its_name(names: str) -> None:
    text = f"try:\n    do('a')\n    do('b')\nexcept {names}:\n    do('c')\ndo('d')"

    assert run(text, a=Code.COVERED) == ['c', 'd']


def test_another_failure_is_not_caught_and_has_its_line() -> None:
    text = "do('x')\ntry:\n    do('a')\nexcept OCCUPIED:\n    do('c')"

    with pytest.raises(SkillFailedError, match='a failed') as failed:
        run(text, a=Code.COVERED)

    assert (failed.value.code, failed.value.line) == (Code.COVERED, 3)


def test_no_program_catches_what_a_person_forbids() -> None:
    with pytest.raises(SkillFailedError):
        run("try:\n    do('a')\nexcept FAILED:\n    do('b')", a=Code.NOT_APPROVED)


def test_the_reason_of_a_caught_failure_is_a_text() -> None:
    text = "try:\n    do('a')\nexcept COVERED as why:\n    do(why)"

    assert run(text, a=Code.COVERED) == ['a failed']


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('while True:\n    x = 1', f'repeated {MAX_LOOP} times'),
        ('for i in range(200):\n    for j in range(200):\n        x = i', 'computes more than'),
        ('do(nothing)', "no name 'nothing'"),
        ("x = 'a' * 3", 'is no number'),
        ('x = 1 / 0', 'divides by zero'),
        ('x = [1, 2][5]', 'no item 5'),
        ("for x in 'abc':\n    do(x)", 'no list'),
        ('x = 1e300 * 1e300', 'beyond'),
        ('x = 99999999999', 'beyond'),
        ("x = 1 < 'a'", 'is no number'),
        ('x = [1]\nfor i in range(20):\n    x = x + x', 'of at most'),
        ('x = [1]\nfor i in range(9):\n    x = [x]', 'lists within lists'),
        ('x = len(3)', 'takes a list'),
        ("x = sorted([1, 'a'])", 'texts or of numbers'),
        ('range(0, 1, 0)', 'not 0'),
        ('break', 'in no loop'),
    ],
)
def test_a_fault_ends_a_program_with_its_line(text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        run(text)


def test_a_condition_is_withdrawn_beside_a_program_or_alone() -> None:
    line = 'goal: withdraw on(a, b): not asked for'
    beside = parse_program(f"{line}\n```\ndo('a')\n```", {'do'})
    alone = parse_program(line, set())

    withdrawn = (('on(a, b)', 'not asked for'),)
    assert (beside.withdrawn, beside.line(1)) == (withdrawn, "do('a')")
    assert (alone.withdrawn, alone.is_empty) == (withdrawn, True)
    assert not parse_program('done', set()).withdrawn
