"""Goals as predicates: what they read as."""

import pytest

from bbllm.core.errors import ParseError
from bbllm_planners.goal_predicates import (
    GoalPredicate,
    goal_text,
    parse_goal,
)

CLASSES = ('milk', 'kitchentable', 'wine_glass', 'glass', 'table', 'microwave', 'wine')


def _read(text: str) -> tuple[GoalPredicate, ...]:
    goal = parse_goal(text, CLASSES)
    assert goal is not None
    return goal


def test_a_goal_is_written_as_it_was_read() -> None:
    text = 'on_milk_kitchentable: 3, inside_milk_microwave: 1, closed_microwave: 1, sit_sofa: 1'
    assert goal_text(_read(text)) == text
    assert goal_text(_read(' on_milk_kitchentable:3 ,closed_microwave : 1,')) == (
        'on_milk_kitchentable: 3, closed_microwave: 1'
    )


def test_the_scene_separates_an_object_from_its_place() -> None:
    (goal,) = _read('on_wine_glass_kitchentable: 1')
    assert (goal.noun, goal.place) == ('wine_glass', 'kitchentable')
    with pytest.raises(ParseError, match=r'wine on glass_table, or wine_glass on table'):
        parse_goal('on_wine_glass_table: 1', ('wine', 'glass_table', 'wine_glass', 'table'))
    for text in ('watch tv', 'put the milk on: the table', '', 'open_sesame'):
        assert parse_goal(text, CLASSES) is None


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('on_milk_kitchentable: 1, and then rest', 'is no predicate'),
        ('on_milk_kitchentable: 0', 'count that is not in'),
        ('on_milk_kitchentable: -1', 'count that is not in'),
        ('on_milk_kitchentable: 1.5', 'count that is not in'),
        ('on_milk_kitchentable: 9999999999999', 'count that is not in'),
        (f'on_milk_kitchentable: {"9" * 6000}', 'count that is not in'),
        ('on_milk: 1', 'names no place'),
        (', '.join(['closed_microwave: 1'] * 61), '61 predicates'),
    ],
)
def test_what_is_half_a_goal_is_refused_with_what_would_do(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        parse_goal(text, CLASSES)
