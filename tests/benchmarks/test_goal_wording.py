"""Goals are said as a person in the house would say them."""

import pytest

from bbllm.planners.common.goal_predicates import parse_goal
from bbllm.worlds.household.houses import list_houses, load_house
from bbllm_bench.benchmarks.goals.wording import NOUNS, goal_in_words

THERE = {
    'plate': 4, 'cupcake': 2, 'apple': 3, 'milk': 1, 'chicken': 1, 'cutleryfork': 4, 'stove': 1,
    'fridge': 1, 'kitchentable': 1, 'kitchencabinet': 3, 'lightswitch': 4, 'tv': 1, 'mug': 2,
    'bookshelf': 2, 'book': 5, 'sofa': 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ('goal', 'words'),
    [
        ('on_apple_kitchentable: 1', 'Put an apple on the kitchen table.'),
        ('inside_milk_fridge: 1', 'Put the carton of milk in the fridge.'),
        ('inside_cutleryfork_kitchencabinet: 2', 'Put two forks in any of the kitchen cabinets.'),
        ('on_book_bookshelf: 3', 'Put three books on any of the bookshelves.'),
        (
            'inside_plate_stove: 2, on_chicken_kitchentable: 1, inside_cupcake_stove: 1',
            'Put two plates and a cupcake in the stove, and the chicken on the kitchen table.',
        ),
        (
            'inside_plate_fridge: 1, closed_fridge: 1, turnoff_lightswitch: 2, turnon_tv: 1',
            'Put a plate in the fridge. Leave the fridge closed, turn off two light switches and '
            'turn on the TV.',
        ),
        ('open_fridge: 1, holds_mug: 1', 'Leave the fridge open and hold a mug.'),
        (
            'closed_stove: 1, turnon_tv: 1, closed_fridge: 1',
            'Leave the stove and the fridge closed and turn on the TV.',
        ),
        ('sit_sofa: 1', 'Sit down on the sofa.'),
    ],
)
def test_a_goal_is_said_in_sentences_with_articles_and_plurals(goal: str, words: str) -> None:
    predicates = parse_goal(goal, THERE)
    assert predicates is not None

    assert goal_in_words(predicates, THERE) == words


def test_no_two_classes_of_a_house_are_called_the_same() -> None:
    for name in list_houses():
        classes = {node.class_name for node in load_house(name).graph.nodes.values()}
        called = [NOUNS.get(each, each) for each in classes]
        assert len(set(called)) == len(called)
