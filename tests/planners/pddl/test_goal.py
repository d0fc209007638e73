"""The goal that a model writes: what is read, and what is refused with what would do."""

import pytest

from bbllm.core.errors import GaveUpError, ParseError
from bbllm_planners.pddl.formulas import Atom, Formula, all_of, any_of
from bbllm_planners.pddl.goal import parse_reply, settled
from tests.doubles.box_table import BoxTable

SCENE = BoxTable(
    {'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.2), 'location_A': (0.4, -0.1)}
).observe()


def test_conditions_and_what_always_holds_are_read() -> None:
    wanted = parse_reply(
        '```\non(red_cube, location_A)\n- at(blue_cube, 0.5 0.1)\n'
        'always tallest(3)\nAlways only_on(locations|red_cube)\n```',
        SCENE,
    )

    assert [str(one) for one in wanted.goal.conditions] == [
        'on(red_cube, location_A)',
        'at(blue_cube, 0.5 0.1)',
    ]
    assert wanted.tallest == 3
    assert wanted.only_on == {'location_A', 'red_cube'}
    assert wanted.wishes.at == (('blue_cube', (0.5, 0.1)),)


@pytest.mark.parametrize(
    ('reply', 'expected'),
    [
        ('Here you are.', 'has no condition'),
        ('none', 'no condition that can be planned for'),
        ('not checked: the whistling', 'no condition that can be planned for'),
        ('on(red_cub, location_A)', "Did you mean 'red_cube'"),
        ('line(red_cube, blue_cube)', 'state with at(a, x y)'),
        ('once on(red_cube, location_A)', 'no positions for `once`'),
        ('on(red_cube, location_A)\nalways quick', 'there are `always tallest(4)`'),
        ('on(red_cube, location_A)\nalways tallest(many)', 'takes a number from 1 to 20'),
        ('on(red_cube, location_A)\nalways only_on(shelf)', 'shelf'),
        ('on(red_cube, location_A)\nalways only_on()', 'needs a name'),
    ],
)
def test_a_reply_that_is_no_goal_is_refused_with_what_would_do(reply: str, expected: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse_reply(reply, SCENE)

    assert expected in str(refused.value)


def test_a_task_that_cannot_be_done_is_given_up() -> None:
    with pytest.raises(GaveUpError, match='no elephant'):
        parse_reply('cannot: there is no elephant', SCENE)


RED_HOME, BLUE_HOME = Atom('at', ('red', 'home of red')), Atom('at', ('blue', 'home of blue'))
RED_ON_BLUE, BLUE_AT_A = Atom('on', ('red', 'blue')), Atom('at', ('blue', 'A'))


@pytest.mark.parametrize(
    'other',
    [
        all_of([Atom('at', ('blue', 'B')), RED_HOME]),
        BLUE_HOME,
        RED_HOME,  # it stands on blue now, which would have to stay
    ],
)
def test_ways_against_what_has_to_be_at_any_rate_are_left_out(other: Formula) -> None:
    so = frozenset({RED_HOME, RED_ON_BLUE, BLUE_HOME})

    assert settled(all_of([BLUE_AT_A, any_of([other, RED_ON_BLUE])]), so) == all_of(
        [BLUE_AT_A, RED_ON_BLUE]
    )


def test_ways_that_are_open_stay() -> None:
    so = frozenset({RED_HOME, RED_ON_BLUE, BLUE_HOME})
    goal = all_of([RED_ON_BLUE, any_of([BLUE_HOME, BLUE_AT_A])])

    assert settled(goal, so) == goal
