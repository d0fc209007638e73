"""Two rooms with a few things, built in code."""

from collections.abc import Iterable

from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.household import Household, Mode, StepResult
from bbllm.worlds.household.script import parse_line
from bbllm.worlds.household.vocabulary import Property, Relation, State

KITCHEN, BEDROOM, ME = 1, 2, 10
TABLE, FRIDGE, SALMON, MUG, SPOON, CHAIR, BED, TV, LAMP, SHIRT, KNIFE, BOX = range(20, 32)
SINK, FAUCET, PLATE, TOASTER, BREAD, MICROWAVE, SHELF, BOOK, PHONE, PAN, STOVE = range(40, 51)
JUICE = 51

_THINGS: tuple[tuple[int, str, str, str], ...] = (
    (TABLE, 'kitchentable', 'SURFACES', ''),
    (FRIDGE, 'fridge', 'CAN_OPEN HAS_SWITCH HAS_PLUG CONTAINERS', 'CLOSED OFF PLUGGED_IN'),
    (SALMON, 'salmon', 'GRABBABLE EATABLE', ''),
    (MUG, 'mug', 'GRABBABLE RECIPIENT', 'DIRTY'),
    (SPOON, 'spoon', 'GRABBABLE', ''),
    (CHAIR, 'chair', 'SITTABLE GRABBABLE', ''),
    (BED, 'bed', 'SITTABLE LIEABLE', ''),
    (TV, 'tv', 'HAS_SWITCH HAS_PLUG LOOKABLE', 'ON PLUGGED_IN'),
    (LAMP, 'tablelamp', 'HAS_SWITCH', 'OFF'),
    (SHIRT, 'shirt', 'GRABBABLE CLOTHES', ''),
    (KNIFE, 'cutleryknife', 'GRABBABLE', ''),
    (BOX, 'box', 'GRABBABLE CAN_OPEN CONTAINERS', 'OPEN'),
    (SINK, 'sink', 'CONTAINERS RECIPIENT', ''),
    (FAUCET, 'faucet', 'HAS_SWITCH', 'OFF'),
    (PLATE, 'plate', 'GRABBABLE SURFACES', ''),
    (TOASTER, 'toaster', 'HAS_SWITCH CONTAINERS', 'OFF'),
    (BREAD, 'breadslice', 'GRABBABLE EATABLE', ''),
    (MICROWAVE, 'microwave', 'CAN_OPEN HAS_SWITCH CONTAINERS', 'OPEN OFF'),
    (SHELF, 'bookshelf', 'CONTAINERS', ''),
    (BOOK, 'book', 'GRABBABLE READABLE', ''),
    (PHONE, 'wallphone', 'HAS_SWITCH', 'OFF'),
    (PAN, 'fryingpan', 'GRABBABLE SURFACES', ''),
    (JUICE, 'juice', 'GRABBABLE DRINKABLE POURABLE', ''),
    (STOVE, 'stove', 'HAS_SWITCH CAN_OPEN', 'OFF CLOSED'),
)
_IN_BEDROOM = {BED, TV, LAMP, SHIRT, SHELF, BOOK}
_PLACED = (
    (SALMON, Relation.INSIDE, FRIDGE),
    (MUG, Relation.ON, TABLE),
    (SPOON, Relation.INSIDE, MUG),
    (LAMP, Relation.ON, BED),
    (BREAD, Relation.ON, PLATE),
    (PLATE, Relation.ON, TABLE),
    (BOOK, Relation.INSIDE, SHELF),
    (PAN, Relation.ON, STOVE),
    (JUICE, Relation.INSIDE, FRIDGE),
    (CHAIR, Relation.FACING, TABLE),
)


def two_rooms() -> Graph:
    """Return a kitchen and a bedroom; the character stands in the kitchen, close to nothing."""
    graph = Graph()
    for room, name in ((KITCHEN, 'kitchen'), (BEDROOM, 'bedroom')):
        graph.nodes[room] = Node(room, name, 'Rooms')
    graph.nodes[ME] = Node(ME, 'character', 'Characters', properties=frozenset({Property.PERSON}))
    graph.add(ME, Relation.INSIDE, KITCHEN)
    for node_id, name, properties, states in _THINGS:
        graph.nodes[node_id] = Node(
            node_id,
            name,
            'Props',
            properties=frozenset(map(Property, properties.split())),
            states=set(map(State, states.split())),
        )
        graph.add(node_id, Relation.INSIDE, BEDROOM if node_id in _IN_BEDROOM else KITCHEN)
    for start, relation, end in _PLACED:
        graph.add(start, relation, end)
    return graph


def household(mode: Mode) -> Household:
    """Return the two rooms with the rules of a mode."""
    return Household(two_rooms(), mode=mode)


def do(home: Household, *lines: str) -> StepResult:
    """
    Do lines such as `putin 23 21`, the ids of things behind the action's word.

    All but the last have to succeed; what the last one did is returned.
    """
    result = StepResult(True)
    for line in lines:
        assert result.succeeded, result.messages
        word, *ids = line.split()
        things = ''.join(f' <x> ({node_id})' for node_id in ids)
        result = home.step(parse_line(f'[{word}]{things}'))
    return result


def edges(graph: Graph, *relations: Relation) -> set[tuple[int, Relation, int]]:
    """Return the edges of these relations, all where none is named."""
    return {edge for edge in graph.edges() if not relations or edge[1] in relations}


def places(graph: Graph, node_id: int) -> set[int]:
    """Return what a thing is ON or INSIDE."""
    return set(graph.targets(node_id, Relation.ON) | graph.targets(node_id, Relation.INSIDE))


def leads_to_a_room(graph: Graph, node_id: int, seen: Iterable[int] = ()) -> bool:
    """Tell whether what a thing is in or on ends in a room."""
    if graph.nodes[node_id].is_room:
        return True
    seen = {*seen, node_id}
    held_by = {
        person
        for hand in (Relation.HOLDS_RH, Relation.HOLDS_LH)
        for person in graph.sources(node_id, hand)
    }
    around = (places(graph, node_id) | held_by) - seen
    return any(leads_to_a_room(graph, other, seen) for other in around)


def without_devices(found: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Return what has become of things, whatever did it."""
    return {(node_id, word) for node_id, word in found if word in WORDS}
