"""
Draws households at random, in VirtualHome's JSON: some as one would find them, some rather odd.

They are made to compare two simulators, not to live in: most objects stand where one expects them
and have the properties that their names suggest, but now and then one lies in no room, a chair is
a recipient, or an edge leads anywhere. Everything follows from the dice.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

House = dict[str, list[dict[str, Any]]]

ROOMS = ('kitchen', 'livingroom', 'bedroom', 'bathroom', 'home_office', 'dining_room')
FURNITURE: Mapping[str, str] = {
    'bathtub': 'LIEABLE RECIPIENT',
    'bed': 'SURFACES SITTABLE LIEABLE',
    'bench': 'SITTABLE LIEABLE SURFACES',
    'bookshelf': 'SURFACES',
    'chair': 'SITTABLE MOVABLE GRABBABLE',
    'coffee_maker': 'CAN_OPEN HAS_SWITCH HAS_PLUG RECIPIENT',
    'computer': 'HAS_SWITCH LOOKABLE HAS_PLUG',
    'couch': 'SITTABLE LIEABLE SURFACES MOVABLE',
    'cupboard': 'CAN_OPEN CONTAINERS SURFACES',
    'curtain': 'CAN_OPEN COVER_OBJECT',
    'desk': 'SURFACES',
    'dishwasher': 'CAN_OPEN CONTAINERS HAS_SWITCH HAS_PLUG',
    'faucet': 'HAS_SWITCH',
    'fridge': 'CAN_OPEN CONTAINERS HAS_SWITCH HAS_PLUG',
    'light': 'HAS_SWITCH HAS_PLUG',
    'loveseat': 'SITTABLE LIEABLE',
    'microwave': 'CAN_OPEN CONTAINERS HAS_SWITCH HAS_PLUG',
    'sink': 'RECIPIENT CONTAINERS',
    'sofa': 'SITTABLE LIEABLE SURFACES MOVABLE',
    'stove': 'CAN_OPEN CONTAINERS HAS_SWITCH SURFACES',
    'table': 'SURFACES MOVABLE',
    'toilet': 'SITTABLE CAN_OPEN CONTAINERS',
    'trashcan': 'CAN_OPEN CONTAINERS MOVABLE',
    'tv': 'HAS_SWITCH HAS_PLUG LOOKABLE',
    'window': '',
}
ENTITIES: Mapping[str, str] = {
    'apple': 'GRABBABLE EATABLE CUTTABLE',
    'book': 'GRABBABLE READABLE HAS_PAPER CAN_OPEN',
    'bread': 'GRABBABLE EATABLE CUTTABLE MOVABLE',
    'bucket': 'GRABBABLE RECIPIENT MOVABLE CONTAINERS',
    'button': '',
    'cat': 'GRABBABLE PERSON',
    'check': 'GRABBABLE READABLE HAS_PAPER',
    'child': 'PERSON',
    'clothes_pants': 'GRABBABLE CLOTHES HANGABLE',
    'clothes_shirt': 'GRABBABLE CLOTHES HANGABLE',
    'cup': 'GRABBABLE RECIPIENT POURABLE MOVABLE',
    'cutting_knife': 'GRABBABLE MOVABLE',
    'dish_soap': 'GRABBABLE POURABLE CREAM',
    'drawing': 'LOOKABLE HANGABLE HAS_PAPER',
    'face': 'BODY_PART',
    'food_lemon': 'GRABBABLE EATABLE CUTTABLE',
    'food_salmon': 'GRABBABLE EATABLE CUTTABLE',
    'glass': 'GRABBABLE RECIPIENT POURABLE',
    'hands_both': 'BODY_PART',
    'keyboard': 'GRABBABLE HAS_PLUG MOVABLE',
    'knife': 'GRABBABLE MOVABLE',
    'man': 'PERSON',
    'milk': 'GRABBABLE DRINKABLE POURABLE CAN_OPEN',
    'phone': 'GRABBABLE HAS_SWITCH HAS_PLUG',
    'plate': 'GRABBABLE RECIPIENT SURFACES MOVABLE',
    'pot': 'GRABBABLE RECIPIENT CAN_OPEN CONTAINERS',
    'rag': 'GRABBABLE MOVABLE',
    'remote_control': 'GRABBABLE HAS_SWITCH',
    'sponge': 'GRABBABLE MOVABLE',
    'towel': 'GRABBABLE COVER_OBJECT',
    'water': 'DRINKABLE POURABLE',
    'wine': 'GRABBABLE DRINKABLE POURABLE',
}
ALL_PROPERTIES = sorted({word for words in (*FURNITURE.values(), *ENTITIES.values())
                         for word in words.split()})  # fmt: skip
STATES = {
    'CAN_OPEN': ('OPEN', 'CLOSED', 'CLOSED'),
    'HAS_SWITCH': ('ON', 'OFF'),
    'HAS_PLUG': ('PLUGGED_IN', 'PLUGGED_IN', 'PLUGGED_OUT'),
    'GRABBABLE': ('DIRTY', 'CLEAN'),
}
ALL_STATES = (
    'CLOSED', 'OPEN', 'ON', 'OFF', 'SITTING', 'DIRTY', 'CLEAN', 'LYING', 'PLUGGED_IN',
    'PLUGGED_OUT',
)  # fmt: skip
RELATIONS = ('ON', 'INSIDE', 'CLOSE', 'CLOSE', 'FACING', 'FACING')
"""Of an edge that leads anywhere; INSIDE only to what comes before in the file: no rings."""


def draw_house(dice: random.Random, size: int, *, neighbours: int = 3, odd: float = 0.1) -> House:
    """
    Draw one household of *size* nodes, 12 at least; an object is CLOSE to so many *neighbours*.

    How often something is *odd* goes from 0 to 1; with 0 each object is in one room, whatever else
    it is in or on, and the file is tidy.
    """
    draft = _Draft(dice, odd, dice.sample(range(1, 4 * size), size))
    rooms = [draft.add(name, 'Rooms') for name in _rooms(dice, size)]
    for one, other in zip(rooms, rooms[1:]):
        _put_door(draft, one, other)
    people = [draft.add('character', 'Characters') for _ in range(1 + draft.oddly(odd))]
    furniture = _furnish(draft, rooms, size // 4)
    items = _scatter(draft, rooms, furniture, size - len(draft.nodes))
    for person in people:
        _place_person(draft, person, rooms, furniture, items)
    _draw_close(draft, [*furniture, *items], neighbours)
    for _ in range(round(odd * size)):
        draft.add_anywhere()
    return draft.as_house()


@dataclass
class _Draft:
    """A household in the making."""

    dice: random.Random
    odd: float
    ids: list[int]
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: dict[tuple[int, str, int], None] = field(default_factory=dict)

    def oddly(self, chance: float | None = None) -> bool:
        return self.dice.random() < (self.odd if chance is None else chance)

    def add(self, name: str, category: str, properties: str = '') -> int:
        words = [word for word in properties.split() if not self.oddly()]
        states = [self.dice.choice(STATES[word]) for word in words if word in STATES]
        if self.oddly():
            words.append(self.dice.choice(ALL_PROPERTIES))
        if self.oddly(self.odd / 2):
            states = self.dice.sample(ALL_STATES, 2)
        node_id = self.ids[len(self.nodes)]
        box = {'center': [float(node_id), 1.0, 0.0], 'size': [1.0, 0.5, 0.25]}
        self.nodes.append(
            {
                'id': node_id,
                'class_name': name,
                'category': category,
                'prefab_name': f'{name}_{node_id}' if node_id % 3 else None,
                'properties': words,
                'states': states,
                'bounding_box': box if node_id % 2 else None,
            }
        )
        return node_id

    def link(self, start: int, relation: str, end: int, *, back: bool = False) -> None:
        self.edges[start, relation, end] = None
        if back:
            self.edges[end, relation, start] = None

    def add_anywhere(self) -> None:
        first, second = sorted(self.dice.sample(range(len(self.nodes)), 2))
        relation = self.dice.choice(RELATIONS)
        ends = [self.nodes[second]['id'], self.nodes[first]['id']]
        if relation != 'INSIDE' and self.oddly(0.5):
            ends.reverse()
        self.link(ends[0], relation, ends[1])

    def as_house(self) -> House:
        """Return it as data; an odd one also has words in small letters and doubles."""
        edges: list[dict[str, Any]] = [
            {'from_id': start, 'relation_type': relation, 'to_id': end}
            for start, relation, end in self.edges
        ]
        nodes = self.nodes
        if self.oddly():
            edges += self.dice.sample(edges, 3)
            edges = [
                {**edge, 'relation_type': edge['relation_type'].lower()} if self.oddly() else edge
                for edge in edges
            ]
            nodes = [dict(self.dice.choice(nodes), states=['CLEAN'], class_name='cup'), *nodes]
        self.dice.shuffle(edges)
        return {'nodes': nodes, 'edges': edges}


def _rooms(dice: random.Random, size: int) -> list[str]:
    count = max(2, min(size // 15, 20))
    return [*dice.sample(ROOMS, min(count, 6)), *dice.choices(ROOMS, k=max(0, count - 6))]


def _put_door(draft: _Draft, one: int, other: int) -> None:
    door = draft.add(draft.dice.choice(('door', 'doorjamb')), 'Doors', 'CAN_OPEN')
    draft.link(door, 'BETWEEN', one)
    draft.link(door, 'BETWEEN', other)
    draft.link(door, 'INSIDE', one)


def _furnish(draft: _Draft, rooms: Sequence[int], count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        name = draft.dice.choice(list(FURNITURE))
        node = draft.add(name, 'Furniture', FURNITURE[name])
        if not draft.oddly(draft.odd / 4):
            draft.link(node, 'INSIDE', draft.dice.choice(rooms))
        if found and draft.dice.random() < 0.3:
            draft.link(node, 'FACING', draft.dice.choice(found))
        found.append(node)
    return found


def _scatter(
    draft: _Draft, rooms: Sequence[int], furniture: Sequence[int], count: int
) -> list[int]:
    """Put objects on and in the furniture and each other, some just somewhere in a room."""
    # Graphs from Unity say both; without it what is only ON something is in no room.
    also_in_room = draft.oddly(0.5) or not draft.odd
    found: list[int] = []
    for _ in range(count):
        name = draft.dice.choice(list(ENTITIES))
        node = draft.add(name, 'Props', ENTITIES[name])
        relation = draft.dice.choice(('ON', 'ON', 'INSIDE', 'INSIDE', ''))
        if relation:
            places = found if found and draft.dice.random() < 0.15 else furniture
            place = draft.dice.choice(places)
            draft.link(node, relation, place)
            draft.link(node, 'CLOSE', place, back=True)
            if also_in_room:
                for room in [end for start, word, end in draft.edges
                             if start == place and word == 'INSIDE' and end in rooms]:  # fmt: skip
                    draft.link(node, 'INSIDE', room)
        elif not draft.oddly(draft.odd / 2):
            draft.link(node, 'INSIDE', draft.dice.choice(rooms))
        found.append(node)
    return found


def _place_person(
    draft: _Draft,
    person: int,
    rooms: Sequence[int],
    furniture: Collection[int],
    items: Collection[int],
) -> None:
    dice = draft.dice
    if not draft.oddly(draft.odd / 5):
        draft.link(person, 'INSIDE', dice.choice(rooms))
    if draft.oddly():
        draft.nodes[draft.ids.index(person)]['states'] = [dice.choice(('SITTING', 'LYING'))]
        draft.link(person, 'ON', dice.choice(sorted(furniture)))
    for hand in ('HOLDS_RH', 'HOLDS_LH'):
        if items and draft.oddly():
            draft.link(person, hand, dice.choice(sorted(items)))


def _draw_close(draft: _Draft, nodes: Sequence[int], neighbours: int) -> None:
    if len(nodes) < 2:
        return
    for _ in range(len(nodes) * neighbours // 2):
        one, other = draft.dice.sample(nodes, 2)
        draft.link(one, 'CLOSE', other, back=not draft.oddly())
