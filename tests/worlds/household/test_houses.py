"""Houses: those of the project, a user's file, and graphs that people bring."""

import json
from pathlib import Path

import pytest

from bbllm.core.errors import UnknownNameError
from bbllm.worlds.household.graph import Graph, GraphError
from bbllm.worlds.household.houses import House, HouseFileError, list_houses, load_house
from bbllm.worlds.household.vocabulary import Property, Relation, State


def house(folder: Path, text: str) -> House:
    path = folder / 'mine.yaml'
    path.write_text(text)
    return load_house(path)


def only(graph: Graph, name: str) -> int:
    (found,) = [i for i, node in graph.nodes.items() if node.class_name == name]
    return found


@pytest.mark.parametrize('name', list_houses())
def test_everything_in_a_house_is_in_one_room_with_states_that_fit_what_it_is(name: str) -> None:
    found = load_house(name)
    graph = found.graph

    assert found.description
    assert len(found.rooms) >= 4
    assert sum(not node.is_room for node in graph.nodes.values()) >= 100
    for node_id, node in graph.nodes.items():
        rooms = [i for i in graph.targets(node_id, Relation.INSIDE) if graph.nodes[i].is_room]
        assert len(rooms) == (0 if node.is_room else 1), str(node)
        for has, states in (
            (Property.CAN_OPEN, {State.OPEN, State.CLOSED}),
            (Property.HAS_SWITCH, {State.ON, State.OFF}),
        ):
            assert len(node.states & states) == (has in node.properties), str(node)
    assert Graph.from_dict(graph.to_dict()) == graph


def test_a_house_of_ones_own_is_expanded(tmp_path: Path) -> None:
    found = house(
        tmp_path,
        """
        description: Mine.
        start: bedroom
        doors: [[kitchen, bedroom]]
        rooms:
          kitchen:
            - fridge: {inside: [milk*2], is: [open]}
            - samovar
          bedroom:
            - tv
            - sofa: {facing: [tv], near: [book]}
        classes: {samovar: 'Appliances, has_switch grabbable'}
        """,
    )
    graph = found.graph
    fridge, sofa, tv, book = (only(graph, name) for name in ('fridge', 'sofa', 'tv', 'book'))

    assert found.rooms == ('kitchen', 'bedroom')
    assert graph.nodes[fridge].states == {State.OPEN, State.PLUGGED_IN}
    milk = graph.sources(fridge, Relation.INSIDE)
    assert len(milk) == 2
    assert milk <= set(graph.targets(fridge, Relation.CLOSE))
    assert graph.has(sofa, Relation.FACING, tv)
    assert graph.has(book, Relation.CLOSE, sofa)
    assert not graph.targets(book, Relation.ON)
    assert graph.nodes[only(graph, 'samovar')].states == {State.OFF}
    assert graph.targets(only(graph, 'door'), Relation.BETWEEN) == {
        only(graph, 'kitchen'),
        only(graph, 'bedroom'),
    }
    person = graph.character
    assert person is not None
    assert graph.has(person, Relation.INSIDE, only(graph, 'bedroom'))


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('rooms: {kitchen: [frige]}', "no class of things named 'frige'. Did you mean 'fridge'"),
        ('rooms: {fridge: [milk]}', 'fridge is no room. Rooms: bathroom'),
        ('rooms: {}', 'rooms = .* at least 1 item'),
        ('rooms: {kitchen: fridge}', 'rooms: kitchen = .* should be a list'),
        ('rooms: {kitchen: [milk*0]}', r"'milk\*0' is no object. One is written `chair`"),
        ('rooms: {kitchen: [{milk: {}, tv: {}}]}', 'is no object'),
        ('rooms: {kitchen: [chair*20000]}', 'may have 10000 objects'),
        ('rooms: {kitchen: [{tv: {over: [milk]}}]}', "unknown field 'over'"),
        ('rooms: {kitchen: [{tv: {is: [hot]}}]}', "there is no state 'HOT'"),
        ('rooms: {kitchen: [{sofa: {facing: [tv]}}]}', 'no tv in the same room to face'),
        ('rooms: {kitchen: []}\nstart: attic', "no room named 'attic'. Known: kitchen"),
        ('rooms: {kitchen: []}\ndoors: [[kitchen]]', r'doors\[0\]: an item is missing'),
        ('rooms: {kitchen: []}\nclasses: {box2: "A, b, c, d"}', 'box2: .* is not `category'),
        ('rooms: {kitchen: []}\nroof: red', "unknown field 'roof'"),
        ('rooms: {kitchen: [&a {box: {inside: [*a]}}]}', 'is within what it repeats'),
        ('[1, 2]', 'is no house'),
        ('rooms: {kitchen: [', 'is not valid YAML'),
    ],
)
def test_an_error_in_a_house_names_the_place_and_what_would_do(
    tmp_path: Path, text: str, wording: str
) -> None:
    with pytest.raises(HouseFileError, match=wording):
        house(tmp_path, text)


def test_an_unknown_house_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'studio'"):
        load_house('studios')


@pytest.mark.parametrize('key', ['init_graph', 'graph', None])
def test_a_graph_that_somebody_brings_is_opened_and_lived_in(
    tmp_path: Path, key: str | None
) -> None:
    graph = load_house('studio').graph.to_dict()
    graph['nodes'] = [node for node in graph['nodes'] if node['class_name'] != 'character']
    graph['edges'] = [edge for edge in graph['edges'] if edge['from_id'] != 1]
    path = tmp_path / 'file1.json'
    path.write_text(json.dumps(graph if key is None else {key: graph}))

    found = load_house(path)

    assert found.name == 'file1'
    assert len(found.graph.nodes) == len(graph['nodes']) + 1
    person = found.graph.character
    assert person is not None
    (room,) = found.graph.targets(person, Relation.INSIDE)
    assert found.graph.nodes[room].is_room


@pytest.mark.parametrize(
    ('text', 'error', 'wording'),
    [
        ('{', HouseFileError, 'is not valid JSON'),
        pytest.param('[' * 200_000, HouseFileError, 'is not valid JSON', id='too deep'),
        ('[]', GraphError, 'nodes'),
        ('{"nodes": [], "edges": []}', HouseFileError, 'no node of the category Rooms'),
    ],
)
def test_a_file_that_is_no_graph_is_refused_with_the_reason(
    tmp_path: Path, text: str, error: type[Exception], wording: str
) -> None:
    path = tmp_path / 'graph.json'
    path.write_text(text)

    with pytest.raises(error, match=wording):
        load_house(path)
    with pytest.raises(HouseFileError, match='cannot be read'):
        load_house(tmp_path / 'nowhere.json')
