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

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.paths import config_dir
from bbllm.files.yaml_files import WordsLoader, YamlFiles
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import (
    CHARACTER,
    ROOMS,
    Property,
    Relation,
    State,
    known_word,
)

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


@dataclass(frozen=True, slots=True)
class _HouseClass:
    """One class of objects, rooms or people."""

    category: str
    properties: frozenset[Property]
    states: frozenset[State]
    """How one of it begins."""


_Classes = Mapping[str, _HouseClass]


@cache
def _known_classes() -> _Classes:
    path = config_dir() / 'house_classes.yaml'
    return _parse_classes(yaml.safe_load(path.read_text('utf-8')), str(path))


def _parse_classes(data: object, where: str) -> _Classes:
    """Read classes, each `category[, properties[, states]]`, the words in small letters."""
    if not isinstance(data, Mapping):
        raise HouseFileError(f'{where} must map names of classes to lines such as `Food, eatable`')
    return {str(name): _parse_class(str(name), line, where) for name, line in data.items()}


def _parse_class(name: str, line: object, where: str) -> _HouseClass:
    category, *words = [part.strip() for part in str(line).split(',')]
    if not category or len(words) > 2:
        raise HouseFileError(
            f'{where}: {name} is {line!r}, which is not `category[, properties[, states]]`, as in '
            '`Lamps, has_plug has_switch, on`.'
        )
    properties, states = [part.split() for part in (*words, '', '')[:2]]
    try:
        has = frozenset(known_word(Property, word) for word in properties)
        given = [known_word(State, word) for word in states]
    except ValueError as error:
        raise HouseFileError(f'{where}: {name}: {error}') from None
    first = frozenset(state for word, state in FOLLOWING.items() if word in has)
    return _HouseClass(category, has, with_states(first, *given))


def with_states(states: frozenset[State], *more: State) -> frozenset[State]:
    """Return states with some more, which take the place of their opposites."""
    for state in more:
        states = states.difference(*(pair for pair in PAIRS if state in pair)) | {state}
    return states


FIELDS = ('description', 'start', 'doors', 'rooms', 'classes')
ABOUT = ('on', 'inside', 'near', 'facing', 'is')
MOST_THINGS = 10_000
"""Objects of a house at most; a slip such as chair*4000000 shall not fill the memory."""
MOST_DEEP = 20
"""How deep objects may be nested."""
FIRST_THING = 100
"""Id of the first object; rooms and doors have lower ones, as in VirtualHome's graphs."""

_AROUND = {'on': Relation.ON, 'inside': Relation.INSIDE, 'near': None}
_COUNTED = re.compile(r'([A-Za-z]\w*)(?:\*([1-9]\d{0,4}))?')


def build(data: Mapping[str, object], where: str) -> Graph:
    """Expand the content of a house's file; raises HouseFileError with what would have worked."""
    _known_fields(data, FIELDS, where)
    rooms = data.get('rooms')
    if not isinstance(rooms, Mapping) or not rooms:
        raise HouseFileError(
            f'{where}: `rooms` must map at least one room to what is in it, as in '
            '`kitchen: [floor, chair*4]`.'
        )
    added = _parse_classes(data.get('classes') or {}, f'{where}: classes')
    builder = _Builder(where, {**_known_classes(), **added})
    graph = builder.graph
    for name in map(str, rooms):
        builder.add_room(name)
    graph.nodes[1] = Node(1, CHARACTER, category='Characters')
    start = str(data.get('start') or next(iter(rooms)))
    graph.add(1, Relation.INSIDE, builder.room_named(start, 'start'))
    for pair in _list(data.get('doors'), f'{where}: doors'):
        builder.add_door(pair)
    for name, items in rooms.items():
        builder.place(items, builder.rooms[str(name)], f'{where}: rooms: {name}')
    builder.turn()
    return graph


@dataclass
class _Builder:
    """A graph that grows."""

    where: str
    classes: _Classes
    graph: Graph = field(default_factory=Graph)
    rooms: dict[str, int] = field(default_factory=dict)
    facing: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Object, its room, the class that it faces, and the place in the file."""
    next_id: int = FIRST_THING

    def add_room(self, name: str) -> None:
        place = f'{self.where}: rooms'
        if self._class(name, place).category != ROOMS:
            known = [word for word, kind in self.classes.items() if kind.category == ROOMS]
            raise HouseFileError(f'{place}: {name} is no room. Rooms: {", ".join(known)}.')
        self.rooms[name] = self._node(name, len(self.rooms) + 2, place).id

    def room_named(self, name: str, field: str) -> int:
        if name not in self.rooms:
            wrong = UnknownNameError('room', name, self.rooms)
            raise HouseFileError(f'{self.where}: {field}: {wrong}')
        return self.rooms[name]

    def add_door(self, pair: object) -> None:
        place = f'{self.where}: doors'
        ends = _list(pair, place)
        if len(ends) != 2:
            raise HouseFileError(
                f'{place}: {pair!r} is no pair of rooms, as in [kitchen, bedroom].'
            )
        rooms = [self.room_named(str(end), 'doors') for end in ends]
        door = self._node('door', len(self.graph.nodes) + 1, self.where).id
        for room in rooms:
            self.graph.add(door, Relation.BETWEEN, room)
        self.graph.add(door, Relation.INSIDE, rooms[0])

    def turn(self) -> None:
        """Add what objects face, once all objects exist."""
        for thing, room, name, place in self.facing:
            there = [
                node_id
                for node_id in self.graph.sources(room, Relation.INSIDE)
                if self.graph.nodes[node_id].class_name == name
            ]
            if not there:
                raise HouseFileError(f'{place}: there is no {name} in the same room to face.')
            nearest = min(there, key=lambda node_id: (abs(node_id - thing), node_id))
            self.graph.add(thing, Relation.FACING, nearest)

    def place(self, items: object, room: int, place: str, deep: int = 0) -> list[int]:
        """Put objects into a room; return those that stand for themselves there."""
        if deep > MOST_DEEP:
            raise HouseFileError(f'{place}: nested deeper than {MOST_DEEP}.')
        placed = []
        for item in _list(items, place):
            name, count, about = self._item(item, place)
            here = f'{place}: {name}'
            for _ in range(count):
                thing = self._thing(name, here, about.get('is'))
                placed.append(thing)
                self.graph.add(thing, Relation.INSIDE, room)
                for target in _list(about.get('facing'), here):
                    self.facing.append((thing, room, str(target), here))
                for word, relation in _AROUND.items():
                    for other in self.place(about.get(word), room, f'{here}: {word}', deep + 1):
                        self.graph.add_both_ways(thing, Relation.CLOSE, (other,))
                        if relation is not None:
                            self.graph.add(other, relation, thing)
        return placed

    def _item(self, item: object, place: str) -> tuple[str, int, Mapping[str, object]]:
        about: object = None
        if isinstance(item, Mapping) and len(item) == 1:
            item, about = next(iter(item.items()))
        about = about or {}
        match = _COUNTED.fullmatch(str(item))
        if match is None or not isinstance(about, Mapping):
            raise HouseFileError(
                f'{place}: {str(item)[:80]!r} is no thing. One is written `chair`, `chair*4` or '
                '`fridge: {inside: [milk]}`.'
            )
        _known_fields(about, ABOUT, f'{place}: {match[1]}')
        return match[1], int(match[2] or 1), about

    def _thing(self, name: str, place: str, states: object) -> int:
        if self.next_id - FIRST_THING >= MOST_THINGS:
            raise HouseFileError(f'{self.where}: a house may hold {MOST_THINGS} things.')
        node = self._node(name, self.next_id, place)
        self.next_id += 1
        try:
            given = [known_word(State, word) for word in _list(states, place)]
        except ValueError as error:
            raise HouseFileError(f'{place}: {error}') from None
        node.states = set(with_states(frozenset(node.states), *given))
        return node.id

    def _node(self, name: str, node_id: int, place: str) -> Node:
        kind = self._class(name, place)
        node = self.graph.nodes[node_id] = Node(
            node_id, name, kind.category, properties=kind.properties, states=set(kind.states)
        )
        return node

    def _class(self, name: str, place: str) -> _HouseClass:
        if name not in self.classes:
            raise HouseFileError(
                f'{place}: {UnknownNameError("class of things", name, self.classes)} '
                'A house adds its own under `classes`.'
            )
        return self.classes[name]


def _list(value: object, place: str) -> Sequence[object]:
    """Return a list as it is, nothing as an empty one."""
    if value is None:
        return ()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise HouseFileError(f'{place}: {str(value)[:80]!r} is no list; write [{str(value)[:40]}].')


def _known_fields(data: Mapping[str, object], known: Sequence[str], place: str) -> None:
    for name in data:
        if name not in known:
            raise HouseFileError(f'{place}: {UnknownNameError("field", str(name), known)}')


FILES = YamlFiles('house', fields=', '.join(FIELDS), error=HouseFileError, loader=WordsLoader)
GRAPHS = ('init_graph', 'graph')
"""Where a file of programs keeps a graph that is not the whole file: EAI's, and VirtualHome's."""


@dataclass(frozen=True, slots=True)
class House:
    """A household as it is at first; copy its graph before anybody acts in it."""

    name: str
    description: str
    graph: Graph

    @property
    def rooms(self) -> tuple[str, ...]:
        """Classes of the rooms, in the order of their ids."""
        return tuple(
            node.class_name for _, node in sorted(self.graph.nodes.items()) if node.is_room
        )


def list_houses() -> tuple[str, ...]:
    """Return the names of the houses that come with the project."""
    return FILES.names()


def load_house(name_or_path: str | Path) -> House:
    """
    Return a house by its name, by the path of a .yaml file, or of a graph in JSON.

    JSON is the format of VirtualHome and the Embodied Agent Interface: nodes and edges, the whole
    file or under `init_graph`. A graph without a person gets one, in its first room.

    Raises UnknownNameError, HouseFileError or, for JSON that is no graph, GraphError.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == '.json':
        return _from_json(path)
    content, path = FILES.read(name_or_path)
    data = FILES.parse(content, str(path))
    return House(path.stem, str(data.get('description', '')), build(data, str(path)))


def _from_json(path: Path) -> House:
    try:
        data = json.loads(path.read_text('utf-8'))
    except OSError as error:
        raise HouseFileError(f'House file {path} cannot be read: {error.strerror}.') from error
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor JSON, or too deep
        raise HouseFileError(f'{path} is not valid JSON: {error}.') from error
    if isinstance(data, Mapping):
        data = next((data[key] for key in GRAPHS if key in data), data)
    graph = Graph.from_dict(data)
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
