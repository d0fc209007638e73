"""Refused steps fall into the classes of the Embodied Agent Interface."""

import pytest

from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import parse_line
from bbllm_bench.scorers.eai_errors import error_class
from tests.bench.eai_data import house

BOOK, LAMP, DESK = '<book> (1001)', '<lamp> (1000)', '<desk> (1002)'
GO = f'[WALK] {BOOK}'


@pytest.mark.parametrize(
    ('done', 'line', 'expected'),
    [
        ((), f'[GRAB] {BOOK}', 'MISSING_STEP'),
        ((GO, f'[WALK] {LAMP}'), f'[GRAB] {BOOK}', 'WRONG_ORDER'),
        ((f'[WALK] {DESK}',), f'[GRAB] {DESK}', 'AFFORDANCE'),
        ((f'[WALK] {LAMP}', f'[SWITCHON] {LAMP}'), f'[SWITCHON] {LAMP}', 'ADDITIONAL_STEP'),
        ((GO, f'[GRAB] {BOOK}'), f'[GRAB] {BOOK}', 'ADDITIONAL_STEP'),
        ((), f'[READ] {BOOK}', 'MISSING_STEP'),
        ((GO, f'[GRAB] {BOOK}', f'[DROP] {BOOK}'), f'[READ] {BOOK}', 'WRONG_ORDER'),
        ((), f'[LOOKAT] {BOOK}', 'MISSING_STEP'),
        ((f'[WALK] {DESK}',), f'[SIT] {DESK}', 'AFFORDANCE'),
        ((f'[WALK] {DESK}', f'[WALK] {LAMP}'), f'[SIT] {DESK}', 'WRONG_ORDER'),
    ],
)
def test_a_refused_step_has_the_class_of_its_check_and_its_past(
    done: tuple[str, ...], line: str, expected: str
) -> None:
    home = Household(house(), mode=Mode.EAI)
    states = [home.copy()]
    for text in done:
        assert home.step(parse_line(text)).succeeded
        states.append(home.copy())

    result = home.step(parse_line(line))

    assert not result.succeeded
    assert error_class(states, parse_line(line), result.broken) == expected
