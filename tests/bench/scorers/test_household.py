"""Goals of households, each form of a condition, on a graph that says it and one that does not."""

from typing import Any

import pytest

from bbllm.bench.suites.house_goals import STATE_WORDS, FinalStateGoal, HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.bench.suites.scores import Score, Verdict
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import Relation, State

NODES = {
    1: 'character', 2: 'kitchen', 3: 'livingroom', 10: 'fridge', 11: 'sofa', 12: 'table', 13: 'tv',
    20: 'salmon', 21: 'salmon', 22: 'plate', 23: 'toothbrush', 24: 'book', 25: 'book',
}  # fmt: skip


@pytest.fixture
def graph() -> Graph:
    """A kitchen and a living room in which everything lies in its room and nowhere else."""
    made = Graph()
    for node_id, name in NODES.items():
        made.nodes[node_id] = Node(node_id, name, 'Rooms' if node_id in (2, 3) else '')
    for node_id in NODES.keys() - {2, 3}:
        made.add(node_id, Relation.INSIDE, 3 if node_id in (11, 13, 24, 25) else 2)
    return made


def judged(graph: Graph, *conditions: dict[str, Any], derived: Any = frozenset()) -> Score:
    goal = HouseholdGoal.model_validate({'kind': 'household', 'all': conditions})
    return judge_household(goal, graph, frozenset(derived))


def passes(graph: Graph, *conditions: dict[str, Any], derived: Any = frozenset()) -> bool:
    return judged(graph, *conditions, derived=derived).verdict is Verdict.PASSED


def test_inside_is_of_any_thing_of_the_class_also_on_a_plate(graph: Graph) -> None:
    wanted = {'thing': 'salmon', 'inside': 'fridge'}
    assert not passes(graph, wanted)

    graph.add(21, Relation.ON, 10)
    assert not passes(graph, wanted)  # on top of it

    graph.add(21, Relation.ON, 22)
    graph.add(22, Relation.INSIDE, 10)
    assert passes(graph, wanted)


def test_what_lies_in_the_same_room_is_not_in_what_is_in_another(graph: Graph) -> None:
    graph.add(2, Relation.INSIDE, 10)  # no such house, but no reason to look through a room

    assert not passes(graph, {'thing': 'salmon', 'inside': 'fridge'})
    assert passes(graph, {'thing': 'salmon', 'inside': 'kitchen'})


def test_a_ring_of_things_ends(graph: Graph) -> None:
    graph.add(20, Relation.ON, 22)
    graph.add(22, Relation.ON, 20)

    assert not passes(graph, {'thing': 'salmon', 'on': 'sofa'})
    graph.add(21, Relation.ON, 20)  # into a ring that it is no part of
    assert not passes(graph, {'thing': 'salmon', 'on': 'sofa'})


def test_on_is_of_any_thing_of_the_class_and_a_count_of_different_ones(graph: Graph) -> None:
    graph.add(24, Relation.ON, 11)
    assert passes(graph, {'thing': 'book', 'on': 'sofa'})
    assert not passes(graph, {'thing': 'book', 'on': 'sofa', 'count': 2})

    graph.add(25, Relation.ON, 11)
    assert passes(graph, {'thing': 'book', 'on': 'sofa', 'count': 2})
    assert not passes(graph, {'thing': 'book', 'inside': 'sofa'})


@pytest.mark.parametrize('word', [state.value.lower() for state in State])
def test_a_state_is_the_things_own(graph: Graph, word: str) -> None:
    assert not passes(graph, {'thing': 'tv', 'is': word})

    graph.nodes[11].states.add(State(word.upper()))
    assert not passes(graph, {'thing': 'tv', 'is': word})

    graph.nodes[13].states.add(State(word.upper()))
    assert passes(graph, {'thing': 'tv', 'is': word})


@pytest.mark.parametrize('word', STATE_WORDS[-4:])
def test_what_has_become_of_a_thing_is_a_word_of_it(graph: Graph, word: str) -> None:
    wanted = {'thing': 'salmon', 'is': word}

    assert passes(graph, wanted, derived={(21, word)})
    assert not passes(graph, wanted, derived={(22, word)})


@pytest.mark.parametrize('hand', [Relation.HOLDS_RH, Relation.HOLDS_LH])
def test_held_is_in_either_hand(graph: Graph, hand: Relation) -> None:
    assert not passes(graph, {'held': 'toothbrush'})

    graph.add(1, hand, 23)
    assert passes(graph, {'held': 'toothbrush'})


def test_a_person_sits_or_lies_anywhere_or_on_a_thing_of_a_class(graph: Graph) -> None:
    graph.nodes[1].states.add(State.SITTING)
    graph.add(1, Relation.ON, 11)
    graph.add(1, Relation.CLOSE, 11)

    assert passes(graph, {'person': 'sitting'}, {'person': 'sitting', 'on': 'sofa'})
    assert not passes(graph, {'person': 'lying', 'on': 'sofa'})
    assert not passes(graph, {'person': 'sitting', 'on': 'table'})


def test_a_seat_that_the_person_left_is_not_what_it_sits_on(graph: Graph) -> None:
    on_the_sofa = {'person': 'sitting', 'on': 'sofa'}
    graph.nodes[1].states.add(State.SITTING)
    graph.add(1, Relation.ON, 11)
    assert not passes(graph, on_the_sofa)  # it sits, and is ON the sofa, yet has walked off

    graph.add(1, Relation.CLOSE, 24)
    graph.add(24, Relation.CLOSE, 11)
    assert passes(graph, on_the_sofa)  # close by way of a book, as SIT asks

    graph.add(1, Relation.ON, 12)
    graph.add(1, Relation.CLOSE, 12)
    goal = HouseholdGoal.model_validate({'kind': 'household', 'all': [on_the_sofa]})
    for seat, verdict in ((11, Verdict.PASSED), (12, Verdict.FAILED)):
        assert judge_household(goal, graph, frozenset(), seat=seat).verdict is verdict


def test_conditions_of_the_same_thing_are_not_met_by_two(graph: Graph) -> None:
    graph.nodes[24].class_name = graph.nodes[25].class_name = 'plate'
    conditions = [{'held': 'plate'}, {'thing': 'salmon', 'on': 'plate'}]
    tied = HouseholdGoal.model_validate(
        {'kind': 'household', 'all': conditions, 'same': ['plate']}
    )
    graph.add(1, Relation.HOLDS_LH, 24)
    graph.add(20, Relation.ON, 25)
    assert passes(graph, *conditions)

    judgement = judge_household(tied, graph, frozenset())

    assert judgement.verdict is Verdict.FAILED
    assert sum(condition.holds for condition in judgement.conditions) == 1  # of the best of them
    graph.add(21, Relation.ON, 24)
    assert judge_household(tied, graph, frozenset()).verdict is Verdict.PASSED


def test_what_must_not_be_so_fails_where_it_is(graph: Graph) -> None:
    unwanted = {'thing': 'book', 'on': 'sofa', 'not': True}
    assert passes(graph, unwanted)

    graph.add(25, Relation.ON, 11)
    judgement = judged(graph, unwanted)
    assert judgement.verdict is Verdict.FAILED
    assert judgement.reason == 'It is not wanted, but is so of book_25.'
    assert passes(graph, {**unwanted, 'count': 2})


def test_a_final_state_is_judged_by_classes_with_what_has_become_of_things(graph: Graph) -> None:
    goal = FinalStateGoal(
        kind='final_state',
        relations=('book ON sofa', 'character HOLDS_RH book'),
        states=('tv ON', 'salmon HEATED'),
    )
    graph.add(25, Relation.ON, 11)
    graph.nodes[13].states.add(State.ON)

    judgement = judge_household(goal, graph, frozenset({(20, 'heated')}))

    assert [c.holds for c in judgement.conditions] == [True, False, True, True]
    assert judgement.reason == 'It is not so that character HOLDS_RH book.'
    graph.add(1, Relation.HOLDS_RH, 24)  # another book than the one on the sofa
    assert judge_household(goal, graph, frozenset({(20, 'heated')})).verdict is Verdict.PASSED
