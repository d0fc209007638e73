"""The graph of a household: objects as nodes, relations as edges, indexed from both ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Set
from dataclasses import asdict, dataclass, field
from functools import cached_property
from graphlib import CycleError as RingError
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, StrictInt, ValidationError

from bbllm.core.errors import ConfigError
from bbllm.files.yaml_files import explain
from bbllm.worlds.household.vocabulary import (
    CHARACTER,
    ROOMS,
    Property,
    Relation,
    State,
    known_word,
)

NONE: frozenset[int] = frozenset()
_Index = dict[Relation, defaultdict[int, set[int]]]


class GraphError(ConfigError):
    """Data that is no graph of a household."""


class CycleError(RuntimeError):
    """Objects that stand inside each other in a ring; a household makes a failed step of it."""


PropertyWord = Annotated[Property, BeforeValidator(lambda word: known_word(Property, word))]
StateWord = Annotated[State, BeforeValidator(lambda word: known_word(State, word))]
RelationWord = Annotated[Relation, BeforeValidator(lambda word: known_word(Relation, word))]


@dataclass(slots=True)
class Node:
    """One object, room or person."""

    id: StrictInt
    class_name: str
    category: Annotated[str, BeforeValidator(lambda word: word or '')] = ''
    """`Rooms` for a room; VirtualHome's other words have no effect."""
    prefab_name: str | None = None
    properties: frozenset[PropertyWord] = frozenset()
    states: set[StateWord] = field(default_factory=set)
    bounding_box: Mapping[str, object] | None = None
    """Centre and size as VirtualHome writes them [m]; carried along, never used."""

    @property
    def is_room(self) -> bool:
        """Whether objects can be in it without it being a container."""
        return self.category == ROOMS

    def copy(self) -> Node:
        """Return a node whose states can change without this one's."""
        return Node(
            self.id,
            self.class_name,
            self.category,
            self.prefab_name,
            self.properties,
            set(self.states),
            self.bounding_box,
        )

    def __str__(self) -> str:
        return f'<{self.class_name}> ({self.id})'


class _Edge(BaseModel):
    from_id: StrictInt
    relation_type: RelationWord
    to_id: StrictInt


class _GraphData(BaseModel):
    nodes: list[Node]
    edges: list[_Edge]


def _read(data: object) -> _GraphData:
    """Return the data of a graph; raises GraphError where it is none."""
    if not isinstance(data, dict):
        raise GraphError(f'A graph is an object with the lists nodes and edges, not {data!r:.60}.')
    try:
        return _GraphData.model_validate(data)
    except ValidationError as error:
        raise GraphError(explain(error, data)) from None


def in_set_order(ids: Set[int]) -> Set[int]:
    """
    Return ids in the order in which VirtualHome goes over the ends of edges.

    It fills a set one by one, whose table then is larger than that of a copied set. Here they
    come in ascending order, there as edges were read and added, so that ids whose places in the
    table collide may be the other way round.
    """
    return ids if len(ids) < 2 else {node_id for node_id in sorted(ids)}  # noqa: C416


class Graph:
    """Nodes by id, and edges that are indexed from both ends."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self._to: _Index = {word: defaultdict(set) for word in Relation}
        self._from: _Index = {word: defaultdict(set) for word in Relation}
        self._character: int | None = None

    @classmethod
    def from_dict(cls, data: object, *, strict: bool = True) -> Graph:
        """
        Read a graph as VirtualHome writes it in JSON.

        Args:
            data: `{'nodes': [...], 'edges': [...]}`.
            strict: Refuse two nodes with the same id, of which VirtualHome keeps the last.

        Raises:
            GraphError: The data is no graph; states where, and what would have worked.
        """
        graph, read = cls(), _read(data)
        for index, node in enumerate(read.nodes):
            if strict and node.id in graph.nodes:
                raise GraphError(
                    f'nodes[{index}]: the id {node.id} is taken by {graph.nodes[node.id]}; free '
                    f'from {max(graph.nodes) + 1} on.'
                )
            graph.nodes[node.id] = node
        for index, edge in enumerate(read.edges):
            for end in (edge.from_id, edge.to_id):
                if end not in graph.nodes:
                    raise GraphError(
                        f'edges[{index}] ({edge.relation_type.value}): no node has the id {end}.'
                    )
            graph.add(edge.from_id, edge.relation_type, edge.to_id)
        return graph

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return the graph as VirtualHome writes it; everything in it is sorted."""
        nodes: list[dict[str, object]] = [
            {
                **asdict(node),
                'properties': sorted(word.value for word in node.properties),
                'states': sorted(word.value for word in node.states),
            }
            for _, node in sorted(self.nodes.items())
        ]
        edges: list[dict[str, object]] = [
            {'from_id': start, 'relation_type': word.value, 'to_id': end}
            for start, word, end in self.edges()
        ]
        return {'nodes': nodes, 'edges': edges}

    def edges(self) -> list[tuple[int, Relation, int]]:
        return sorted(
            (start, relation, end)
            for relation, index in self._to.items()
            for start, ends in index.items()
            for end in ends
        )

    def copy(self) -> Graph:
        """Return a graph that changes by itself."""
        other = Graph()
        other.nodes = {node_id: node.copy() for node_id, node in self.nodes.items()}
        for mine, theirs in ((self._to, other._to), (self._from, other._from)):
            for relation, index in mine.items():
                theirs[relation].update(
                    {node_id: set(ends) for node_id, ends in index.items() if ends}
                )
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.nodes == other.nodes and self.edges() == other.edges()

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def character(self) -> int | None:
        """Id of the person who acts: the lowest one of class `character`; None without any."""
        if self._character is None:
            ids = (node.id for node in self.nodes.values() if node.class_name == CHARACTER)
            self._character = min(ids, default=None)
        return self._character

    @cached_property
    def body_parts(self) -> tuple[int, ...]:
        """Ids of all parts of bodies, which are close to any character that walks."""
        nodes = self.nodes.values()
        return tuple(node.id for node in nodes if Property.BODY_PART in node.properties)

    def add(self, from_id: int, relation: Relation, to_id: int) -> None:
        """Add an edge; one that is there stays."""
        self._to[relation][from_id].add(to_id)
        self._from[relation][to_id].add(from_id)

    def add_both_ways(self, one: int, relation: Relation, others: Collection[int]) -> None:
        """Add the edges from a node to others, no set of this relation itself, and those back."""
        forth, back = self._to[relation], self._from[relation]
        forth[one].update(others)
        back[one].update(others)
        for other in others:
            forth[other].add(one)
            back[other].add(one)

    def remove(self, from_id: int, relation: Relation, to_id: int) -> None:
        """Remove an edge, if it is there."""
        ends = self._to[relation].get(from_id)
        if ends and to_id in ends:
            ends.remove(to_id)
            self._from[relation][to_id].remove(from_id)

    def remove_from(self, from_id: int, relation: Relation) -> None:
        """Remove all edges of a relation that begin at a node."""
        back = self._from[relation]
        for end in self._to[relation].pop(from_id, NONE):
            back[end].remove(from_id)

    def remove_to(self, to_id: int, relation: Relation) -> None:
        """Remove all edges of a relation that end at a node."""
        forth = self._to[relation]
        for start in self._from[relation].pop(to_id, NONE):
            forth[start].remove(to_id)

    def has(self, from_id: int, relation: Relation, to_id: int) -> bool:
        """Return whether there is such an edge."""
        return to_id in self._to[relation].get(from_id, NONE)

    def targets(self, from_id: int, relation: Relation) -> Set[int]:
        """Return where edges from a node end; the graph's own set, not to be kept or changed."""
        return self._to[relation].get(from_id, NONE)

    def sources(self, to_id: int, relation: Relation) -> Set[int]:
        """Return where edges to a node begin; the graph's own set, not to be kept or changed."""
        return self._from[relation].get(to_id, NONE)

    def drop_rings(self) -> list[tuple[int, int]]:
        """
        Remove edges INSIDE that form a ring, where the object is in a room besides.

        VirtualHome's own graphs have them: two curtains that are inside each other, say.

        Returns:
            The removed edges, each as the object and what it was inside.

        Raises:
            GraphError: A ring of objects of which none is in a room besides.
        """
        dropped: list[tuple[int, int]] = []
        inside = self._to[Relation.INSIDE]
        while True:
            try:
                TopologicalSorter(inside).prepare()
            except RingError as error:
                ring: list[int] = error.args[1]  # each is INSIDE the one before it
                found = [
                    (item, place)
                    for place, item in pairwise(ring)
                    if any(self.nodes[other].is_room for other in inside[item] - {place})
                ]
                if not found:
                    reported = ' in '.join(str(node_id) for node_id in reversed(ring))
                    raise GraphError(
                        f'A ring of INSIDE: {reported}; leave one of these edges out, so that '
                        'each object is in a room in the end.'
                    ) from None
                for item, place in found:
                    self.remove(item, Relation.INSIDE, place)
                dropped += found
            else:
                return dropped

    def room_of(self, node_id: int) -> int | None:
        """
        Return the room that an object is in, as VirtualHome finds it; a room is in itself.

        Of an object that is in several others only those count, not what they are in themselves.
        Of several the first counts, see `in_set_order`.

        Raises:
            CycleError: Objects stand inside each other in a ring.
        """
        nodes, inside = self.nodes, self._to[Relation.INSIDE]
        if nodes[node_id].is_room:
            return node_id
        parents = inside.get(node_id, NONE)
        if len(parents) > 1:
            return next((other for other in in_set_order(parents) if nodes[other].is_room), None)
        seen = {node_id}
        while parents:
            node_id = next(iter(in_set_order(parents)))
            if nodes[node_id].is_room:
                return node_id
            if node_id in seen:
                raise CycleError
            seen.add(node_id)
            parents = inside.get(node_id, NONE)
        return None

    def find_room(self, node_id: int) -> int | None:
        """Return the room that an object is in; None also where objects form a ring."""
        try:
            return self.room_of(node_id)
        except CycleError:
            return None
