"""
Houses by name or path: those of the project, and graph files of users.

A house is `config/houses/<name>.yaml`:

    description: One line for people.
    start: kitchen                # where the person is at first
    doors: [[kitchen, bedroom]]   # which rooms are connected; more than one door for each room
    rooms:
      kitchen:
        - floor
        - chair*4                 # four of them
        - fridge: {inside: [salmon, milk*2], is: [open]}
        - kitchencounter: {on: [toaster], near: [sink: {near: [faucet]}]}
      bedroom:
        - sofa: {facing: [tv]}    # the nearest one in the file, in the same room
        - tv
    classes: {samovar: 'Appliances, has_switch grabbable'}   # beside config/house_classes.yaml

An object on, inside or near another is close to it; everything in a room is inside the room too,
as in VirtualHome's own graphs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.paths import config_dir
from bbllm.core.reading import read_text
from bbllm.files.yaml_files import FileRecord, WordsLoader, YamlFiles, explain
from bbllm.worlds.household.graph import Graph, GraphError, Node, PropertyWord, StateWord
from bbllm.worlds.household.vocabulary import CHARACTER, ROOMS, Property, Relation, State

FOLLOWING: Mapping[Property, State] = {
    Property.CAN_OPEN: State.CLOSED,
    Property.HAS_SWITCH: State.OFF,
    Property.HAS_PLUG: State.PLUGGED_IN,
}
"""How an object begins that can be opened, switched or plugged."""
PAIRS: tuple[frozenset[State], ...] = (
    frozenset({State.OPEN, State.CLOSED}),
    frozenset({State.ON, State.OFF}),
    frozenset({State.PLUGGED_IN, State.PLUGGED_OUT}),
    frozenset({State.DIRTY, State.CLEAN}),
)
"""States of which an object has one at most."""


class HouseFileError(ConfigError):
    """A house that cannot be built as it is described."""


def with_states(states: frozenset[State], *more: State) -> frozenset[State]:
    """Return states with some more, which take the place of their opposites."""
    for state in more:
        states = states.difference(*(pair for pair in PAIRS if state in pair)) | {state}
    return states


class _HouseClass(BaseModel):
    """One class of objects, rooms or people: `category[, properties[, states]]`."""

    category: Annotated[str, Field(min_length=1)]
    properties: frozenset[PropertyWord]
    states: frozenset[StateWord]
    """How one of it begins."""

    @model_validator(mode='before')
    @classmethod
    def _parse(cls, line: object) -> object:
        category, *words = [part.strip() for part in str(line).split(',')]
        if len(words) > 2:
            raise ValueError(
                f'{line!r} is not `category[, properties[, states]]`, as in '
                '`Lamps, has_plug has_switch, on`'
            )
        properties, states = [part.split() for part in (*words, '', '')[:2]]
        return {'category': category, 'properties': properties, 'states': states}

    @model_validator(mode='after')
    def _begin(self) -> _HouseClass:
        first = frozenset(state for word, state in FOLLOWING.items() if word in self.properties)
        self.states = with_states(first, *self.states)
        return self


class _Item(FileRecord):
    """One object, or several that are alike, and what is around each."""

    name: str
    count: int
    on: tuple[_Item, ...] = ()
    inside: tuple[_Item, ...] = ()
    near: tuple[_Item, ...] = ()
    facing: tuple[str, ...] = ()
    states: Annotated[tuple[StateWord, ...], Field(alias='is')] = ()

    @model_validator(mode='before')
    @classmethod
    def _parse(cls, item: object) -> object:
        about: object = {}
        if isinstance(item, Mapping) and len(item) == 1:
            item, about = next(iter(item.items()))
        match = _COUNTED.fullmatch(str(item))
        if match is None or not isinstance(about, Mapping):
            raise ValueError(
                f'{str(item)[:80]!r} is no object. One is written `chair`, `chair*4` or '
                '`fridge: {inside: [milk]}`'
            )
        return {**about, 'name': match[1], 'count': match[2] or 1}


class _HouseFile(FileRecord):
    description: str = ''
    start: str = ''
    doors: tuple[tuple[str, str], ...] = ()
    rooms: Annotated[dict[str, tuple[_Item, ...]], Field(min_length=1)]
    classes: dict[str, _HouseClass] = Field(default_factory=dict)


FIELDS = tuple(_HouseFile.model_fields)
MOST_OBJECTS = 10_000
"""Objects of a house at most; a slip such as chair*4000000 shall not fill the memory."""
FIRST_OBJECT = 100
"""Id of the first object; rooms and doors have lower ones, as in VirtualHome's graphs."""

_COUNTED = re.compile(r'([A-Za-z]\w*)(?:\*([1-9]\d{0,4}))?')


@cache
def _known_classes() -> Mapping[str, _HouseClass]:
    text = (config_dir() / 'house_classes.yaml').read_text('utf-8')
    return TypeAdapter(dict[str, _HouseClass]).validate_python(yaml.safe_load(text))


def build(data: Mapping[str, object], where: str) -> Graph:
    """Expand the content of a house's file; raises HouseFileError with what would have worked."""
    try:
        return _Builder(_HouseFile.model_validate(data)).graph
    except ValidationError as error:
        raise HouseFileError(f'{where}: {explain(error, data)}') from None
    except (UnknownNameError, HouseFileError) as error:
        raise HouseFileError(f'{where}: {error}') from None


class _Builder:
    """A graph that grows."""

    def __init__(self, file: _HouseFile) -> None:
        self.graph = Graph()
        self._classes = {**_known_classes(), **file.classes}
        self._rooms: dict[str, int] = {}
        self._facing: list[tuple[int, int, str]] = []
        """Object, its room, and the class that it faces."""
        self._next_id = FIRST_OBJECT
        for name in file.rooms:
            self._rooms[name] = room = len(self._rooms) + 2
            if self._add(name, room).category != ROOMS:
                rooms = [word for word, kind in self._classes.items() if kind.category == ROOMS]
                raise HouseFileError(f'{name} is no room. Rooms: {", ".join(rooms)}.')
        self.graph.nodes[1] = Node(1, CHARACTER, category='Characters')
        self.graph.add(1, Relation.INSIDE, self._room(file.start or next(iter(file.rooms))))
        for ends in file.doors:
            door = self._add('door', len(self.graph.nodes) + 1).id
            for end in ends:
                self.graph.add(door, Relation.BETWEEN, self._room(end))
            self.graph.add(door, Relation.INSIDE, self._room(ends[0]))
        for name, items in file.rooms.items():
            self._place(items, self._rooms[name])
        for item, room, name in self._facing:
            self._turn(item, room, name)

    def _room(self, name: str) -> int:
        if name not in self._rooms:
            raise UnknownNameError('room', name, self._rooms)
        return self._rooms[name]

    def _turn(self, item: int, room: int, name: str) -> None:
        """Let an object face the nearest one of a class in its room, once all exist."""
        nodes = self.graph.nodes
        inside = self.graph.sources(room, Relation.INSIDE)
        there = [node_id for node_id in inside if nodes[node_id].class_name == name]
        if not there:
            raise HouseFileError(f'{nodes[item]}: there is no {name} in the same room to face.')
        nearest = min(there, key=lambda node_id: (abs(node_id - item), node_id))
        self.graph.add(item, Relation.FACING, nearest)

    def _place(self, items: Iterable[_Item], room: int) -> list[int]:
        """Put objects into a room; return those that stand for themselves there."""
        placed = []
        for item in items:
            for _ in range(item.count):
                entity = self._object(item)
                placed.append(entity)
                self.graph.add(entity, Relation.INSIDE, room)
                self._facing += [(entity, room, name) for name in item.facing]
                for around, relation in (
                    (item.on, Relation.ON),
                    (item.inside, Relation.INSIDE),
                    (item.near, None),
                ):
                    for other in self._place(around, room):
                        self.graph.add_both_ways(entity, Relation.CLOSE, (other,))
                        if relation is not None:
                            self.graph.add(other, relation, entity)
        return placed

    def _object(self, item: _Item) -> int:
        if self._next_id - FIRST_OBJECT >= MOST_OBJECTS:
            raise HouseFileError(f'a house may have {MOST_OBJECTS} objects.')
        node = self._add(item.name, self._next_id)
        self._next_id += 1
        node.states = set(with_states(frozenset(node.states), *item.states))
        return node.id

    def _add(self, name: str, node_id: int) -> Node:
        kind = self._classes.get(name)
        if kind is None:
            unknown = UnknownNameError('class of things', name, self._classes)
            raise HouseFileError(f'{unknown} A house adds its own under `classes`.')
        node = self.graph.nodes[node_id] = Node(
            node_id, name, kind.category, properties=kind.properties, states=set(kind.states)
        )
        return node


FILES = YamlFiles('house', fields=', '.join(FIELDS), error=HouseFileError, loader=WordsLoader)
GRAPHS = ('init_graph', 'graph')
"""Where a file of programs keeps a graph that is not the whole file: EAI's, and VirtualHome's."""


@dataclass(frozen=True, slots=True)
class House:
    """A household as it is at first; copy its graph before anybody acts in it."""

    name: str
    description: str
    graph: Graph
    shown: frozenset[int] | None = None
    """Ids of all that a planner may be shown; None: everything."""

    @property
    def rooms(self) -> tuple[str, ...]:
        """Classes of the rooms, in the order of their ids."""
        return tuple(
            node.class_name for _, node in sorted(self.graph.nodes.items()) if node.is_room
        )


def list_houses() -> tuple[str, ...]:
    """Return the names of the houses that come with the project."""
    return FILES.names()


def load_house(name_or_path: str | Path, *, strict: bool = True) -> House:
    """
    Return a house by its name, by the path of a .yaml file, or of a graph in JSON.

    JSON is the format of VirtualHome and the Embodied Agent Interface: nodes and edges, the whole
    file or under `init_graph`. A graph without a person gets one, in its first room. Where it is
    not *strict*, a graph may have two nodes with one id, as for VirtualHome's own rules.

    Raises UnknownNameError, HouseFileError or, for JSON that is no graph, GraphError.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == '.json':
        return _from_json(path, strict)
    content, path = FILES.read(name_or_path)
    data = FILES.parse(content, str(path))
    return House(path.stem, str(data.get('description', '')), build(data, str(path)))


def _from_json(path: Path, strict: bool) -> House:
    try:
        data = json.loads(read_text(path))
    except OSError as error:
        raise HouseFileError(f'House file {path} cannot be read: {error.strerror}.') from error
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor JSON, or too deep
        raise HouseFileError(f'{path} is not valid JSON: {error}.') from error
    if isinstance(data, Mapping):
        data = next((data[key] for key in GRAPHS if key in data), data)
    try:
        graph = Graph.from_dict(data, strict=strict)
    except GraphError as error:
        raise GraphError(f'{path}: {error}') from None
    if graph.character is None:
        rooms = [node_id for node_id, node in graph.nodes.items() if node.is_room]
        if not rooms:
            raise HouseFileError(
                f'{path} has no node of the category Rooms for a person to stand in.'
            )
        person = max(graph.nodes) + 1
        graph.nodes[person] = Node(person, CHARACTER, category='Characters')
        graph.add(person, Relation.INSIDE, min(rooms))
    return House(path.stem, f'The graph of {path.name}', graph)
