"""Goals of households, each form of a condition, on a graph that says it and one that does not."""

from typing import Any

import pytest

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import Relation, State
from bbllm_bench.suites.house_goals import STATE_WORDS, HouseholdGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.scores import Score, Verdict

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


INSIDE, ON = Relation.INSIDE, Relation.ON
IN_FRIDGE = {'thing': 'salmon', 'inside': 'fridge'}
SALMON_ON_SOFA = {'thing': 'salmon', 'on': 'sofa'}
BOOK_ON_SOFA = {'thing': 'book', 'on': 'sofa'}
RING = [(20, ON, 22), (22, ON, 20)]


@pytest.mark.parametrize(
    ('edges', 'condition', 'passed'),
    [
        # Any thing of the class will do, also on a plate, but not on top.
        ([], IN_FRIDGE, False),
        ([(21, ON, 10)], IN_FRIDGE, False),
        ([(21, ON, 10), (21, ON, 22), (22, INSIDE, 10)], IN_FRIDGE, True),
        # There is no such house, but no reason to look through a room.
        ([(2, INSIDE, 10)], IN_FRIDGE, False),
        ([(2, INSIDE, 10)], {'thing': 'salmon', 'inside': 'kitchen'}, True),
        # A ring of things ends, also for what it is no part of.
        (RING, SALMON_ON_SOFA, False),
        ([*RING, (21, ON, 20)], SALMON_ON_SOFA, False),
        # Where both name one class, either will do.
        ([(21, ON, 11)], {'thing': 'salmon', 'inside': 'sofa', 'on': 'sofa'}, True),
        ([(21, INSIDE, 11)], {'thing': 'salmon', 'inside': 'sofa', 'on': 'sofa'}, True),
        ([(21, ON, 10)], {'thing': 'salmon', 'inside': 'sofa', 'on': 'sofa'}, False),
        # A count is of different ones.
        ([(24, ON, 11)], BOOK_ON_SOFA, True),
        ([(24, ON, 11)], {**BOOK_ON_SOFA, 'count': 2}, False),
        ([(24, ON, 11), (25, ON, 11)], {**BOOK_ON_SOFA, 'count': 2}, True),
        ([(24, ON, 11)], {'thing': 'book', 'inside': 'sofa'}, False),
        ([], {**BOOK_ON_SOFA, 'not': True}, True),
        ([(25, ON, 11)], {**BOOK_ON_SOFA, 'not': True, 'count': 2}, True),
        # Either hand holds.
        ([], {'held': 'toothbrush'}, False),
        ([(1, Relation.HOLDS_RH, 23)], {'held': 'toothbrush'}, True),
        ([(1, Relation.HOLDS_LH, 23)], {'held': 'toothbrush'}, True),
    ],
)
def test_conditions_are_of_any_object_of_a_class(
    graph: Graph, edges: list[tuple[int, Relation, int]], condition: dict[str, Any], passed: bool
) -> None:
    for edge in edges:
        graph.add(*edge)

    assert passes(graph, condition) is passed


@pytest.mark.parametrize('word', [state.value.lower() for state in State])
def test_a_state_is_of_the_object_itself(graph: Graph, word: str) -> None:
    assert not passes(graph, {'thing': 'tv', 'is': word})

    graph.nodes[11].states.add(State(word.upper()))
    assert not passes(graph, {'thing': 'tv', 'is': word})

    graph.nodes[13].states.add(State(word.upper()))
    assert passes(graph, {'thing': 'tv', 'is': word})


@pytest.mark.parametrize('word', STATE_WORDS[-4:])
def test_a_derived_state_is_a_word_of_its_object(graph: Graph, word: str) -> None:
    wanted = {'thing': 'salmon', 'is': word}

    assert passes(graph, wanted, derived={(21, word)})
    assert not passes(graph, wanted, derived={(22, word)})


def test_a_person_sits_or_lies_anywhere_or_on_an_object_of_a_class(graph: Graph) -> None:
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


def test_conditions_on_the_same_object_are_not_met_by_two(graph: Graph) -> None:
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
    graph.add(25, Relation.ON, 11)
    judgement = judged(graph, {**BOOK_ON_SOFA, 'not': True})
    assert judgement.verdict is Verdict.FAILED
    assert judgement.reason == 'It must not be so: book on sofa. It is, of book_25.'
