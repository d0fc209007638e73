"""Validation of VirtualHome's JSON of a graph; errors name the place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.errors import ConfigError
from bbllm.worlds.household.vocabulary import (
    Property,
    Relation,
    State,
    Word,
    known_word,
)


class GraphError(ConfigError):
    """Data that is no graph of a household."""


@dataclass(frozen=True, slots=True)
class NodeData:
    """One node as it was read."""

    id: int
    class_name: str
    category: str
    prefab_name: str | None
    properties: frozenset[Property]
    states: frozenset[State]
    bounding_box: Mapping[str, object] | None


def read_nodes(data: object, *, strict: bool) -> Iterator[NodeData]:
    """
    Read the nodes; ids that come twice only where that is allowed.

    Raises:
        GraphError: It is no list of nodes; states which node and what it lacks.
    """
    first: dict[int, int] = {}
    for index, item in enumerate(_list_of(data, 'nodes')):
        node = _node(item, f'node {index}')
        if strict and node.id in first:
            raise GraphError(
                f'node {index} ({node.class_name}): the id {node.id} is taken by node '
                f'{first[node.id]}; free from {max(first) + 1} on.'
            )
        first.setdefault(node.id, index)
        yield node


def read_edges(data: object, nodes: Collection[int]) -> Iterator[tuple[int, Relation, int]]:
    """
    Read the edges as from, relation, to.

    Raises:
        GraphError: It is no list of edges between these nodes; states which edge.
    """
    for index, item in enumerate(_list_of(data, 'edges')):
        where = f'edge {index}'
        if not isinstance(item, Mapping):
            raise GraphError(f'{where}: expected an object with from_id, found {_short(item)}.')
        relation = _word(Relation, _value(item, 'relation_type', where), where)
        ends = []
        for key in ('from_id', 'to_id'):
            node_id = _value(item, key, where)
            if not isinstance(node_id, int) or isinstance(node_id, bool) or node_id not in nodes:
                raise GraphError(
                    f'{where} ({relation.value}): {key} is {_short(node_id)}, and no node '
                    f'has that id; {_known_ids(nodes)}.'
                )
            ends.append(node_id)
        yield ends[0], relation, ends[1]


def refuse_rings(inside: Mapping[int, Collection[int]]) -> None:
    """
    Raise GraphError where objects stand inside each other in a ring.

    Args:
        inside: For each node the nodes that it is in.
    """
    done: set[int] = set()
    for start in inside:
        path: list[int] = []
        on_path: set[int] = set()
        waiting = [(start, False)]
        while waiting:
            node_id, left = waiting.pop()
            if left:
                on_path.remove(path.pop())
                done.add(node_id)
            elif node_id in on_path:
                ring = [*path[path.index(node_id) :], node_id]
                raise GraphError(
                    f'A ring of INSIDE: {" in ".join(map(str, ring))}; leave one of these edges '
                    'out, so that each thing is in a room in the end.'
                )
            elif node_id not in done:
                path.append(node_id)
                on_path.add(node_id)
                waiting.append((node_id, True))
                waiting.extend((other, False) for other in inside.get(node_id, ()))


def _node(item: object, where: str) -> NodeData:
    if not isinstance(item, Mapping):
        raise GraphError(f'{where}: expected an object with an id, found {_short(item)}.')
    node_id = _value(item, 'id', where)
    if not isinstance(node_id, int) or isinstance(node_id, bool):
        raise GraphError(f'{where}: id must be a whole number, found {_short(node_id)}.')
    class_name = _text(item, 'class_name', where)
    where = f'{where} ({class_name} {node_id})'
    box = item.get('bounding_box')
    if box is not None and not isinstance(box, Mapping):
        raise GraphError(f'{where}: bounding_box must be an object or null, found {_short(box)}.')
    return NodeData(
        node_id,
        class_name,
        _text(item, 'category', where, default=''),
        _text(item, 'prefab_name', where, default='') or None,
        frozenset(_words(Property, item, 'properties', where)),
        frozenset(_words(State, item, 'states', where)),
        box,
    )


def _list_of(data: object, key: str) -> Sequence[object]:
    if not isinstance(data, Mapping) or not isinstance(data.get(key), list):
        raise GraphError(
            f'A graph is an object with the lists nodes and edges; there is no list {key!r} in '
            f'{_short(data)}.'
        )
    found: list[object] = data[key]
    return found


def _words(kind: type[Word], item: Mapping[str, object], key: str, where: str) -> list[Word]:
    words = _value(item, key, where)
    if not isinstance(words, list):
        raise GraphError(f'{where}: {key} must be a list of words, found {_short(words)}.')
    return [_word(kind, word, f'{where}, {key}') for word in words]


def _word(kind: type[Word], word: object, where: str) -> Word:
    try:
        return known_word(kind, word, where)
    except ValueError as error:
        raise GraphError(str(error)) from None


def _value(item: Mapping[str, object], key: str, where: str) -> object:
    if key not in item:
        raise GraphError(
            f'{where}: {key} is missing; there are {", ".join(map(str, item)) or "no keys"}.'
        )
    return item[key]


def _text(item: Mapping[str, object], key: str, where: str, default: str | None = None) -> str:
    value = item.get(key) if default is not None else _value(item, key, where)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise GraphError(f'{where}: {key} must be a text, found {_short(value)}.')
    return value


def _known_ids(nodes: Collection[int]) -> str:
    return f'ids are from {min(nodes)} to {max(nodes)}' if nodes else 'there are no nodes'


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:57]}...'
