"""Goals in predicates: which of them agree after all, and what lies in what however deep."""

from __future__ import annotations

import pytest

from bbllm.core.instance_names import class_of
from bbllm.planners.common.goal_predicates import (
    GoalPredicate,
    contradiction,
    goal_text,
    nested_places,
    parse_goal,
)


def read(text: str) -> tuple[GoalPredicate, ...]:
    goal = parse_goal(text, ('milk', 'table', 'fridge', 'shelf', 'microwave'))
    assert goal is not None
    return goal


def test_a_predicate_that_is_said_twice_is_one() -> None:
    assert goal_text(read('on_milk_table: 1, open_fridge: 1, on_milk_table: 1')) == (
        'on_milk_table: 1, open_fridge: 1'
    )


@pytest.mark.parametrize(
    ('text', 'counts'),
    [
        # Nobody knows how many there are, and each can have its own.
        ('on_milk_table: 1, inside_milk_fridge: 1', None),
        ('holds_milk: 1, inside_milk_fridge: 1', None),
        # Of two classes, or of a hand and a state, both can be so.
        ('closed_microwave: 1, open_fridge: 1', None),
        ('closed_microwave: 1, open_fridge: 1', {'microwave': 1, 'fridge': 1}),
        ('holds_milk: 1, open_milk: 1', {'milk': 1}),
        # The second milk is in the microwave, which is on the shelf.
        ('on_milk_table: 1, inside_milk_microwave: 1, on_milk_shelf: 1', {'milk': 2}),
    ],
)
def test_what_can_be_so_at_once_is_no_contradiction(
    text: str, counts: dict[str, int] | None
) -> None:
    nested = {frozenset({'microwave', 'shelf'})}

    assert contradiction(read(text), counts, (), nested) is None


def test_what_lies_in_something_lies_in_all_around_it_however_deep() -> None:
    lies_in = {'toaster_1': ['cabinet_2'], 'cabinet_2': ['counter_3'], 'counter_3': ['kitchen_4']}

    nested = nested_places(lies_in, class_of)

    assert {frozenset(pair) for pair in (('toaster', 'counter'), ('toaster', 'kitchen'))} < nested


def test_a_ring_of_things_that_lie_in_each_other_ends() -> None:
    assert nested_places({'bag_1': ['box_2'], 'box_2': ['bag_1']}, class_of) == {
        frozenset({'bag', 'box'})
    }
