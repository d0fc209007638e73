"""Graphs come back as they were written, and what is no graph is refused with where and why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import BbllmError
from bbllm.worlds.household.graph import CycleError, Graph, GraphError, Node
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.vocabulary import Property, Relation, State
from tests.worlds.household.small_houses import Id, two_rooms

IDS = st.integers(1, 30)
NODES = st.builds(
    Node,
    id=IDS,
    class_name=st.text(min_size=1, max_size=6),
    category=st.sampled_from(['', 'Rooms', 'Props']),
    prefab_name=st.none() | st.just('Mug_1'),
    properties=st.frozensets(st.sampled_from(Property), max_size=4),
    states=st.sets(st.sampled_from(State), max_size=3),
    bounding_box=st.none() | st.just({'center': [0.0, 1.0, 2.0], 'size': [1.0, 1.0, 1.0]}),
)


@st.composite
def graphs(draw: Any) -> Graph:
    graph = Graph()
    graph.nodes = {node.id: node for node in draw(st.lists(NODES, min_size=1, max_size=8))}
    ends = st.sampled_from(sorted(graph.nodes))
    for start, relation, end in draw(
        st.lists(st.tuples(ends, st.sampled_from(Relation), ends), max_size=20)
    ):
        graph.add(start, relation, end)
    return graph


@given(graphs(), st.data())
def test_edges_are_found_from_both_ends(graph: Graph, data: st.DataObject) -> None:
    ends = st.sampled_from(sorted(graph.nodes))
    start, relation, end = data.draw(ends), data.draw(st.sampled_from(Relation)), data.draw(ends)
    change = data.draw(st.sampled_from(['add', 'remove', 'remove_from', 'remove_to']))
    before = set(graph.edges())

    if change == 'remove_from':
        graph.remove_from(start, relation)
        after = {edge for edge in before if edge[:2] != (start, relation)}
    elif change == 'remove_to':
        graph.remove_to(end, relation)
        after = {edge for edge in before if edge[1:] != (relation, end)}
    else:
        getattr(graph, change)(start, relation, end)
        edge = {(start, relation, end)}
        after = before | edge if change == 'add' else before - edge

    assert set(graph.edges()) == after
    for node_id in graph.nodes:
        for word in Relation:
            assert graph.targets(node_id, word) == {
                e for s, r, e in after if (s, r) == (node_id, word)
            }
            assert graph.sources(node_id, word) == {
                s for s, r, e in after if (r, e) == (word, node_id)
            }


@given(graphs())
def test_a_copy_changes_by_itself(graph: Graph) -> None:
    before = graph.to_dict()

    other = graph.copy()
    node_id = min(other.nodes)
    other.add(node_id, Relation.BETWEEN, node_id)
    other.remove_to(node_id, Relation.INSIDE)
    other.nodes[node_id].states ^= {State.OPEN}

    assert graph.to_dict() == before


def test_a_room_is_found_as_virtualhome_finds_it() -> None:
    graph = two_rooms()
    assert graph.room_of(Id.KITCHEN) == Id.KITCHEN
    assert graph.room_of(Id.MUG) == Id.KITCHEN
    assert graph.room_of(Id.SPOON) == Id.KITCHEN  # in the mug and in the kitchen

    graph.remove(Id.SPOON, Relation.INSIDE, Id.KITCHEN)
    assert graph.room_of(Id.SPOON) == Id.KITCHEN  # by way of the mug

    graph.add(Id.SPOON, Relation.INSIDE, Id.TABLE)
    assert graph.room_of(Id.SPOON) is None  # of two things that are no rooms neither is followed

    graph.remove(Id.MUG, Relation.INSIDE, Id.KITCHEN)
    graph.remove(Id.SPOON, Relation.INSIDE, Id.TABLE)
    graph.add(Id.MUG, Relation.INSIDE, Id.SPOON)
    with pytest.raises(CycleError):  # and a ring ends the search
        graph.room_of(Id.SPOON)


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """Return the two rooms as data with one value replaced; a path that ends in -1 appends."""
    data: Any = two_rooms().to_dict()
    target = data
    for key in path[:-1]:
        target = target[key]
    if path[-1] == -1:
        target.append(value)
    elif value is ...:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return data


def edge(start: Any, relation: Any, end: Any) -> dict[str, Any]:
    return {'from_id': start, 'relation_type': relation, 'to_id': end}


BAD: list[tuple[Any, str]] = [
    ([], 'the lists nodes and edges, not []'),
    ({'nodes': []}, "the field 'edges' is missing"),
    ({'nodes': 'x', 'edges': []}, 'should be a valid list'),
    (changed(('nodes', 0), 7), 'nodes[0] = '),
    (changed(('nodes', 0, 'id'), ...), "nodes[0]: the field 'id' is missing"),
    (changed(('nodes', 0, 'id'), '1'), "nodes[0]: id = '1' will not do"),
    (changed(('nodes', 0, 'states'), ['HEATED']), "there is no state 'HEATED'"),
    (changed(('nodes', 0, 'states'), ['close']), "Did you mean 'CLOSED'?"),
    (changed(('nodes', 0, 'properties'), [['x']]), 'there is no property'),
    (changed(('nodes', 1, 'id'), Id.KITCHEN), 'the id 1 is taken by <kitchen> (1); free from'),
    (changed(('edges', -1), edge(Id.ME, 'INSIDE', 999)), '(INSIDE): no node has the id 999'),
    (changed(('edges', -1), edge(Id.ME, 'WITHIN', 1)), "there is no relation 'WITHIN'"),
    (changed(('edges', -1), 5), '] = '),
]


@pytest.mark.parametrize(('data', 'reported'), BAD, ids=[reported for _, reported in BAD])
def test_what_is_no_graph_is_refused_with_where_and_why(data: Any, reported: str) -> None:
    with pytest.raises(GraphError) as raised:
        Graph.from_dict(data)

    assert reported in str(raised.value)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(['nodes', 'edges', 'id', 'class_name', 'states', 'properties']),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_value_ends_in_anything_but_a_graph_or_its_error(data: Any) -> None:
    try:
        graph = Graph.from_dict(data)
    except BbllmError:
        return
    assert isinstance(graph, Graph)


def test_a_household_needs_a_character_and_clean_rules_a_graph_without_rings() -> None:
    graph = two_rooms()
    del graph.nodes[Id.ME]

    with pytest.raises(GraphError, match='no character'):
        Household(graph)
    graph = two_rooms()
    graph.add(Id.KITCHEN, Relation.INSIDE, Id.KITCHEN)

    with pytest.raises(GraphError, match='A ring of INSIDE: 1 in 1; leave one'):
        Household(graph, mode=Mode.SANE)


def test_rings_of_objects_that_are_in_a_room_besides_are_left_out_by_the_clean_rules_alone() -> (
    None
):
    graph = two_rooms()
    before = graph.edges()
    for start, end in ((Id.BOX, Id.BED), (Id.BED, Id.BOX), (Id.MUG, Id.MUG)):
        graph.add(start, Relation.INSIDE, end)

    home = Household(graph, mode=Mode.SANE)

    assert home.dropped == ((Id.MUG, Id.MUG), (Id.BED, Id.BOX), (Id.BOX, Id.BED))
    assert home.graph.edges() == before
    for mode in (Mode.PERSISTENT, Mode.FRESH):
        kept = Household(graph, mode=mode)
        assert (kept.graph, kept.dropped) == (graph, ())

    graph.remove(Id.BED, Relation.INSIDE, Id.BEDROOM)  # the bed is still in the box
    assert Household(graph, mode=Mode.SANE).dropped == ((Id.MUG, Id.MUG), (Id.BOX, Id.BED))
    graph.remove(Id.BOX, Relation.INSIDE, Id.KITCHEN)
    with pytest.raises(GraphError, match='A ring of INSIDE'):
        Household(graph, mode=Mode.SANE)
