"""Two rooms with a few things, built in code."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from bbllm.core.protocols import World
from bbllm.core.types import Outcome, SkillCall
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.household import Household, Mode, StepResult
from bbllm.worlds.household.script import ScriptLine, parse_line
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation, State


class Id:
    """Ids of the nodes; the scripts of `do` have the names in small letters."""

    KITCHEN, BEDROOM, ME = 1, 2, 10
    TABLE, FRIDGE, SALMON, MUG, SPOON, CHAIR, BED, TV, LAMP, SHIRT, KNIFE, BOX = range(20, 32)
    SINK, FAUCET, PLATE, TOASTER, BREAD, MICROWAVE, SHELF, BOOK, PHONE, PAN, STOVE = range(40, 51)
    JUICE = 51


_ENTITIES: tuple[tuple[int, str, str, str], ...] = (
    (Id.TABLE, 'kitchentable', 'SURFACES', ''),
    (Id.FRIDGE, 'fridge', 'CAN_OPEN HAS_SWITCH HAS_PLUG CONTAINERS', 'CLOSED OFF PLUGGED_IN'),
    (Id.SALMON, 'salmon', 'GRABBABLE EATABLE', ''),
    (Id.MUG, 'mug', 'GRABBABLE RECIPIENT', 'DIRTY'),
    (Id.SPOON, 'spoon', 'GRABBABLE', ''),
    (Id.CHAIR, 'chair', 'SITTABLE GRABBABLE', ''),
    (Id.BED, 'bed', 'SITTABLE LIEABLE', ''),
    (Id.TV, 'tv', 'HAS_SWITCH HAS_PLUG LOOKABLE', 'ON PLUGGED_IN'),
    (Id.LAMP, 'tablelamp', 'HAS_SWITCH', 'OFF'),
    (Id.SHIRT, 'shirt', 'GRABBABLE CLOTHES', ''),
    (Id.KNIFE, 'cutleryknife', 'GRABBABLE', ''),
    (Id.BOX, 'box', 'GRABBABLE CAN_OPEN CONTAINERS', 'OPEN'),
    (Id.SINK, 'sink', 'CONTAINERS RECIPIENT', ''),
    (Id.FAUCET, 'faucet', 'HAS_SWITCH', 'OFF'),
    (Id.PLATE, 'plate', 'GRABBABLE SURFACES', ''),
    (Id.TOASTER, 'toaster', 'HAS_SWITCH CONTAINERS', 'OFF'),
    (Id.BREAD, 'breadslice', 'GRABBABLE EATABLE', ''),
    (Id.MICROWAVE, 'microwave', 'CAN_OPEN HAS_SWITCH CONTAINERS', 'OPEN OFF'),
    (Id.SHELF, 'bookshelf', 'CONTAINERS', ''),
    (Id.BOOK, 'book', 'GRABBABLE READABLE', ''),
    (Id.PHONE, 'wallphone', 'HAS_SWITCH', 'OFF'),
    (Id.PAN, 'fryingpan', 'GRABBABLE SURFACES', ''),
    (Id.JUICE, 'juice', 'GRABBABLE DRINKABLE POURABLE', ''),
    (Id.STOVE, 'stove', 'HAS_SWITCH CAN_OPEN', 'OFF CLOSED'),
)
_IN_BEDROOM = {Id.BED, Id.TV, Id.LAMP, Id.SHIRT, Id.SHELF, Id.BOOK}
_PLACED = (
    (Id.SALMON, Relation.INSIDE, Id.FRIDGE),
    (Id.MUG, Relation.ON, Id.TABLE),
    (Id.SPOON, Relation.INSIDE, Id.MUG),
    (Id.LAMP, Relation.ON, Id.BED),
    (Id.BREAD, Relation.ON, Id.PLATE),
    (Id.PLATE, Relation.ON, Id.TABLE),
    (Id.BOOK, Relation.INSIDE, Id.SHELF),
    (Id.PAN, Relation.ON, Id.STOVE),
    (Id.JUICE, Relation.INSIDE, Id.FRIDGE),
    (Id.CHAIR, Relation.FACING, Id.TABLE),
)


def two_rooms() -> Graph:
    """Return a kitchen and a bedroom; the character stands in the kitchen, close to nothing."""
    graph = Graph()
    for room, name in ((Id.KITCHEN, 'kitchen'), (Id.BEDROOM, 'bedroom')):
        graph.nodes[room] = Node(room, name, 'Rooms')
    graph.nodes[Id.ME] = Node(
        Id.ME, 'character', 'Characters', properties=frozenset({Property.PERSON})
    )
    graph.add(Id.ME, Relation.INSIDE, Id.KITCHEN)
    for node_id, name, properties, states in _ENTITIES:
        has, is_now = frozenset(map(Property, properties.split())), set(map(State, states.split()))
        graph.nodes[node_id] = Node(node_id, name, 'Props', properties=has, states=is_now)
        graph.add(node_id, Relation.INSIDE, Id.BEDROOM if node_id in _IN_BEDROOM else Id.KITCHEN)
    for start, relation, end in _PLACED:
        graph.add(start, relation, end)
    return graph


def household(mode: Mode) -> Household:
    """Return the two rooms with the rules of a mode."""
    return Household(two_rooms(), mode=mode)


def do(home: Household, *lines: str) -> StepResult:
    """
    Do lines such as `putin mug table`, the names of ids behind the action's word.

    All but the last have to succeed; what the last one did is returned.
    """
    result = StepResult(True)
    for line in lines:
        assert result.succeeded, result.messages
        word, *names = line.split()
        entities = ''.join(f' <x> ({getattr(Id, name.upper(), name)})' for name in names)
        result = home.step(parse_line(f'[{word}]{entities}'))
    return result


def execute(world: World, *calls: str) -> Outcome:
    """Execute calls such as `grab mug_23`; all but the last have to succeed."""
    for i, (skill, *args) in enumerate(map(str.split, calls), start=1):
        outcome = world.execute(SkillCall(skill, tuple(args)))
        assert outcome.succeeded or i == len(calls), outcome
    return outcome


def places(graph: Graph, node_id: int) -> set[int]:
    """Return what a thing is ON or INSIDE."""
    return set(graph.targets(node_id, Relation.ON) | graph.targets(node_id, Relation.INSIDE))


def leads_to_a_room(graph: Graph, node_id: int) -> bool:
    """Tell whether what a thing is in or on, or who holds it, ends in a room."""
    seen, waiting = set[int](), {node_id}
    while waiting:
        seen |= waiting
        around = [places(graph, entity) for entity in waiting]
        around += [set(graph.sources(entity, hand)) for hand in HANDS for entity in waiting]
        waiting = set().union(*around) - seen
    return any(graph.nodes[other].is_room for other in seen)


def without_devices(found: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Return what has become of things, whatever did it."""
    return {(node_id, word) for node_id, word in found if word in WORDS}


_IDS = st.sampled_from([*sorted(two_rooms().nodes), 999])
_CARRY = (Action.PUTBACK, Action.PUTIN, Action.POUR, Action.PUTOBJBACK, Action.PUTON, Action.DROP)


def _line(action: Action, *ids: int) -> ScriptLine:
    return ScriptLine(action, tuple(('x', node_id) for node_id in ids[: action.arity]))


@st.composite
def _pieces(draw: Any) -> list[ScriptLine]:
    """A few lines that often succeed: going there first, taking first what is put somewhere."""
    entity, place = draw(_IDS), draw(_IDS)
    go, take, open_it = (
        _line(Action.WALK, entity),
        _line(Action.GRAB, entity),
        _line(Action.OPEN, place),
    )
    carry = _line(draw(st.sampled_from(_CARRY)), entity, place)
    there = _line(Action.WALK, place)
    return draw(
        st.sampled_from(Action).map(lambda action: [go, _line(action, entity, place)])
        | st.just([there, open_it, go, take, there, carry])
        | st.just([go, take, there, carry])
        | st.sampled_from(Action).map(lambda action: [_line(action, entity, place)])
    )


SCRIPTS = st.lists(_pieces(), max_size=12).map(
    lambda found: [ln for piece in found for ln in piece]
)
"""Scripts for hypothesis to draw, about what is in the two rooms."""
