"""
Checks of rules: the conditions that the table of rules is built from.

Every predicate is True where all is well. `A` and `B` stand for the first and the second object of
a line; a predicate without a parameter for one of them speaks of the first, or of the character.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from enum import Enum

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

A = 0
B = 1


@dataclass(slots=True)
class Memory:
    """What is known beside the graph while a script runs."""

    taken_from: dict[int, tuple[int, Relation]] = field(default_factory=dict)
    """For what was grabbed: where it was, and how it stood there."""
    posture: frozenset[State] | None = None
    """States that the character is believed to have; None: those of its node."""


@dataclass(slots=True)
class ActionSituation:
    """One action about to be done. Checks only read it."""

    graph: Graph
    character: Node
    objects: tuple[Node, ...]
    memory: Memory

    @property
    def posture(self) -> Set[State]:
        """States of the character, as far as the rules see them."""
        believed = self.memory.posture
        return self.character.states if believed is None else believed


Predicate = Callable[[ActionSituation], bool]


class OnFailure(Enum):
    """The consequence of a failed check."""

    FAIL = 'fail'
    """The step fails, and nothing changes."""
    NOTE = 'note'
    """The message is reported, and the step goes on."""
    SKIP = 'skip'
    """The message is reported, and the step succeeds without any effect."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition of a rule."""

    name: str
    """What is wrong where it does not, for example `not_close`."""
    holds: Predicate
    message: str
    """The message of its failure: {C} is the character, {a} and {b} the objects, {room_C} and
    {room_a} their rooms. Empty: none."""
    otherwise: OnFailure = OnFailure.FAIL


def any_of(*predicates: Predicate) -> Predicate:

    def holds(s: ActionSituation) -> bool:
        for predicate in predicates:  # noqa: SIM110  # any() takes twice the time
            if predicate(s):
                return True
        return False

    return holds


def no(predicate: Predicate) -> Predicate:
    """It is not true."""
    return lambda s: not predicate(s)


def has(which: int, *properties: Property) -> Predicate:
    """It has at least one of these properties."""
    wanted = frozenset(properties)
    return lambda s: not wanted.isdisjoint(s.objects[which].properties)


def of_class(which: int, *names: str) -> Predicate:
    wanted = frozenset(names)
    return lambda s: s.objects[which].class_name in wanted


def in_state(which: int, state: State) -> Predicate:
    """It is, for example, OPEN."""
    return lambda s: state in s.objects[which].states


def with_posture(*states: State) -> Predicate:
    """The character is believed to sit or lie."""
    wanted = frozenset(states)
    return lambda s: not wanted.isdisjoint(s.posture)


def close_to(which: int) -> Predicate:
    """
    The character is close to it, in VirtualHome's loose sense.

    That is: there is an edge CLOSE to it; or to something that has an edge CLOSE to it, or that
    it is ON.
    """

    def holds(s: ActionSituation) -> bool:
        node_id = s.objects[which].id
        near = s.graph.targets(s.character.id, Relation.CLOSE)
        return (
            node_id in near
            or not near.isdisjoint(s.graph.sources(node_id, Relation.CLOSE))
            or not near.isdisjoint(s.graph.targets(node_id, Relation.ON))
        )

    return holds


def close_ids(graph: Graph, character: int) -> set[int]:
    """Return the ids of all that `close_to` is True for, without the character itself."""
    near = graph.targets(character, Relation.CLOSE)
    found = set(near)
    for other in near:
        found |= graph.targets(other, Relation.CLOSE)
        found |= graph.sources(other, Relation.ON)
    return found - {character}


def at_hand(which: int) -> Predicate:
    """Nothing that it is in, however deep, is closed; a room never counts."""

    def holds(s: ActionSituation) -> bool:
        item = s.objects[which].id
        # What stands ON a closed cabinet is not shut in by it.
        return not any(
            _is_shut(s.graph, other)
            for below in (item, *above(s.graph, item))
            for other in s.graph.targets(below, Relation.INSIDE)
        )

    return holds


def faces(s: ActionSituation) -> bool:
    """The character faces it, or something that faces it."""
    node_id = s.objects[A].id
    seen = s.graph.targets(s.character.id, Relation.FACING)
    return node_id in seen or not seen.isdisjoint(s.graph.sources(node_id, Relation.FACING))


def carries_character(s: ActionSituation) -> bool:
    return s.graph.has(s.objects[A].id, Relation.ON, s.character.id)


def holding(s: ActionSituation) -> bool:
    return any(s.graph.has(s.character.id, hand, s.objects[A].id) for hand in HANDS)


def hand_is_full(s: ActionSituation) -> bool:
    return any(s.graph.targets(s.character.id, hand) for hand in HANDS)


def free_hand(s: ActionSituation) -> Relation | None:
    """Return the hand that would take something, the right one first; None if both are full."""
    for hand in HANDS:
        if not s.graph.targets(s.character.id, hand):
            return hand
    return None


def holding_a_knife(s: ActionSituation) -> bool:
    """An object in a hand has `knife` in its class."""
    return any(
        'knife' in s.graph.nodes[node_id].class_name
        for hand in HANDS
        for node_id in s.graph.targets(s.character.id, hand)
    )


def within_reach(s: ActionSituation) -> bool:
    """It is INSIDE nothing that is closed; only its direct containers count, and no room does."""
    inside = s.graph.targets(s.objects[A].id, Relation.INSIDE)
    return not any(_is_shut(s.graph, node_id) for node_id in inside)


def place_left(places: Mapping[str, int], *, besides_character: bool = False) -> Predicate:
    """
    Fewer objects are ON it than it has places for people, one for classes that are not listed.

    With `besides_character`, the character itself does not count.
    """

    def holds(s: ActionSituation) -> bool:
        node = s.objects[A]
        on_it = s.graph.sources(node.id, Relation.ON)
        taken = len(on_it) - (besides_character and s.character.id in on_it)
        return taken < places.get(node.class_name, 1)

    return holds


def items_on(s: ActionSituation) -> list[Node]:
    return [s.graph.nodes[node_id] for node_id in s.graph.sources(s.objects[A].id, Relation.ON)]


def has_room(s: ActionSituation) -> bool:
    """It is in a room, or is one."""
    return s.graph.room_of(s.objects[A].id) is not None


def in_same_room(s: ActionSituation) -> bool:
    """The character's room is its room."""
    mine = s.graph.room_of(s.character.id)
    return mine is not None and mine == s.graph.room_of(s.objects[A].id)


def remembered(s: ActionSituation) -> bool:
    """It is known where it was taken from."""
    return s.objects[A].id in s.memory.taken_from


def unsupported(message: str, holds: Predicate = lambda s: False) -> Check:
    """Where this does not hold, VirtualHome itself breaks off; a household makes a failed step."""
    return Check('unsupported', holds, message)


def above(graph: Graph, node_id: int) -> set[int]:
    """Return everything that an object is in or on, however deep; rings end it."""
    return _all(graph, (node_id,), up=True)


def carried(graph: Graph, character: int) -> set[int]:
    """Return what goes along with a character: in its hands, worn, and what that carries."""
    roots = {held for hand in HANDS for held in graph.targets(character, hand)}
    roots.update(graph.sources(character, Relation.ON))
    return (roots | _all(graph, tuple(roots), up=False)) - {character}


def contents(graph: Graph, node_id: int) -> set[int]:
    """Return everything that is in or on an object, however deep."""
    return _all(graph, (node_id,), up=False)


def _all(graph: Graph, roots: tuple[int, ...], *, up: bool) -> set[int]:
    found: set[int] = set()
    waiting = list(roots)
    follow = graph.targets if up else graph.sources
    while waiting:
        node_id = waiting.pop()
        for relation in (Relation.INSIDE, Relation.ON):
            next_ids = follow(node_id, relation)
            waiting.extend(next_ids - found)
            found |= next_ids
    return found


def _is_shut(graph: Graph, node_id: int) -> bool:
    return State.CLOSED in graph.nodes[node_id].states and not graph.nodes[node_id].is_room


SEATS = {
    'couch': 4, 'bed': 4, 'chair': 1, 'loveseat': 2, 'sofa': 4, 'toilet': 1, 'pianobench': 2,
    'bench': 2,
}  # fmt: skip
"""How many people can sit on an object; one on objects of another class."""
BERTHS = {'couch': 2, 'bathtub': 2, 'bed': 3, 'loveseat': 2, 'sofa': 2, 'bench': 1}
"""How many people can lie on an object; one on objects of another class."""
SQUEEZABLE = (
    'cleaning_solution', 'tooth_paste', 'shampoo', 'food_peanut_butter', 'dish_soap', 'soap',
    'towel', 'rag', 'paper', 'sponge', 'food_lemon', 'check',
)  # fmt: skip
"""Classes that can be squeezed though they are no clothes."""

_SITS, _LIES = with_posture(State.SITTING), with_posture(State.LYING)
_RESTS = with_posture(State.SITTING, State.LYING)
_B_OPEN = any_of(no(has(B, Property.CAN_OPEN)), in_state(B, State.OPEN))
_B_NOT_OPEN = '{b} is not open or is not openable'
_OPENABLE = any_of(has(A, Property.CAN_OPEN), of_class(A, 'desk', 'window'))
_GRABBABLE = any_of(has(A, Property.GRABBABLE), of_class(A, 'water', 'child'))
_MOVABLE = any_of(has(A, Property.MOVABLE), of_class(A, 'button', 'chair', 'curtain'))
_RECIPIENT = any_of(has(B, Property.RECIPIENT), of_class(B, 'hands_both', 'sponge', 'face'))
_SHUT_IN, _B_SHUT_IN = '{a} is inside other closed thing', '{b} is inside other closed thing'
_NO_SEAT = 'Too many things on {a}'

# Checks of VirtualHome's table.
CLOSE_A = Check('not_close', close_to(A), '{C} is not close to {a}')
CLOSE_B = Check('not_close', close_to(B), '{C} is not close to {b}')
HOLDING_A = Check('not_holding', holding, '{C} is not holding {a}')
FREE_HAND = Check(
    'no_free_hand', lambda s: free_hand(s) is not None, '{C} does not have a free hand'
)
FULL_HAND = Check('empty_hands', hand_is_full, '{C} does not hold anything in hands')
KNIFE = Check('no_knife', holding_a_knife, '{C} is not holding a knife')
REACHABLE = Check('inside_closed', within_reach, _SHUT_IN)
IN_ROOM = unsupported('{C} is in no room', lambda s: s.graph.room_of(s.character.id) is not None)
A_IN_ROOM = unsupported('{a} is in no room', has_room)
HAS_ROOM = Check('no_room', has_room, '')
FINDS_ROOM = Check('no_room', has_room, CLOSE_A.message)
SAME_ROOM = Check('other_room', in_same_room, 'char room {room_C} is not node room {room_a}')
FACING = Check('not_facing', faces, '{C} does not face {a}')
FACING_ITSELF = Check(
    'not_facing',
    any_of(
        of_class(A, 'computer'),
        no(_RESTS),
        lambda s: s.graph.has(s.character.id, Relation.FACING, s.objects[A].id),
    ),
    '{C} is not facing {a} while sitting',
)
OPENABLE = Check('not_openable', _OPENABLE, '{a} can not be opened')
IS_OPEN = Check('not_open', in_state(A, State.OPEN), '{a} is not open')
IS_CLOSED = Check('not_closed', in_state(A, State.CLOSED), '{a} is not closed')
IS_ON = Check('not_on', in_state(A, State.ON), '{a} is not on')
IS_OFF = Check('not_off', in_state(A, State.OFF), '{a} is not off')
NOT_ON = Check('still_on', no(in_state(A, State.ON)), '{a} is still on')
UNPLUGGED = Check('not_plugged_out', in_state(A, State.PLUGGED_OUT), '{a} is not plugged_out')
PLUGGED_IN = Check('not_plugged_in', in_state(A, State.PLUGGED_IN), '{a} is not plugged_in')
HAS_POWER = Check('unplugged', no(in_state(A, State.PLUGGED_OUT)), '{a} is unplugged')
B_OPEN = Check('not_open', _B_OPEN, _B_NOT_OPEN)
B_OPEN_IF_TAKEN_OUT = Check(
    'not_open',
    any_of(lambda s: s.memory.taken_from[s.objects[A].id][1] is not Relation.INSIDE, _B_OPEN),
    _B_NOT_OPEN,
)
REMEMBERED = Check('not_grabbed', remembered, '{a} not grabbed')
NOT_REMEMBERED = Check('already_grabbed', no(remembered), '{a} already grabbed')
SWITCH = Check('no_switch', has(A, Property.HAS_SWITCH), '{a} does not have a switch')
PLUG = Check('no_plug', has(A, Property.HAS_PLUG), '{a} does not have a plug')
KEYS = Check(
    'no_switch',
    any_of(of_class(A, 'keyboard'), has(A, Property.HAS_SWITCH)),
    '{a} does not have switch',
)
GRABBABLE = Check('not_grabbable', _GRABBABLE, '{a} is not grabbable')
MOVABLE = Check('not_movable', _MOVABLE, '{a} is not movable')
RECIPIENT = Check('not_recipient', _RECIPIENT, '{b} is not recipient')
POURABLE = Check(
    'not_pourable',
    has(A, Property.POURABLE, Property.DRINKABLE),
    '{a} is not pourable or drinkable',
)
DRINKABLE = Check(
    'not_drinkable',
    has(A, Property.DRINKABLE, Property.RECIPIENT),
    '{a} is not drinkable or not recipient',
)
EATABLE = Check('not_eatable', has(A, Property.EATABLE), '{a} is not eatable')
EATABLE_OR_LADEN = Check(
    'not_eatable', any_of(EATABLE.holds, lambda s: bool(items_on(s))), EATABLE.message
)
FOOD_ON_IT = Check(
    'nothing_eatable',
    any_of(EATABLE.holds, lambda s: any(Property.EATABLE in n.properties for n in items_on(s))),
    'none of object on {a} is eatable',
)
CUTTABLE = Check('not_cuttable', has(A, Property.CUTTABLE), '{a} is not cuttable')
READABLE = Check('not_readable', has(A, Property.READABLE), '{a} is not readable')
LOOKABLE = Check('not_lookable', has(A, Property.LOOKABLE), '{a} not lookable')
SITTABLE = Check('not_sittable', has(A, Property.SITTABLE), '{a} is not sittable')
LIEABLE = Check('not_lieable', has(A, Property.LIEABLE), '{a} is not lieable')
PERSON = Check('not_person', has(A, Property.PERSON), '{a} is not person')
CLOTHES = Check('not_clothes', has(A, Property.CLOTHES), '{a} is not clothes')
CAN_SQUEEZE = Check(
    'not_clothes',
    any_of(has(A, Property.CLOTHES), of_class(A, *SQUEEZABLE)),
    '{a} is not clothes',
)
RESTING = Check('not_resting', _RESTS, '{C} is not lying or sitting')
NOT_STANDING = Check('not_resting', _RESTS, '{C} is not sitting')
STANDING = Check('sitting', no(_RESTS), '{C} is sitting')
NOT_SITTING = Check('sitting', no(_SITS), '{C} is sitting')
NOT_LYING = Check('lying', no(_LIES), '{C} is lying')
SEAT_LEFT = Check('no_place', place_left(SEATS), _NO_SEAT)
BERTH_LEFT = Check('no_place', place_left(BERTHS), _NO_SEAT)

# Checks of the clean rules only.
A_FREE_HAND = replace(
    FREE_HAND, message=f'{FREE_HAND.message}: of {{held}} one has to be put down first'
)
AT_HAND = Check('inside_closed', at_hand(A), _SHUT_IN)
B_AT_HAND = Check('inside_closed', at_hand(B), _B_SHUT_IN)
NOT_INTO_ITSELF = Check(
    'inside_itself',
    lambda s: s.objects[A].id not in {s.objects[B].id, *above(s.graph, s.objects[B].id)},
    '{b} is {a} or goes along with it',
)
IN_SAME_ROOM = Check('other_room', in_same_room, '{C} is not in the room of {a}')
IN_SOME_ROOM = Check('no_room', has_room, '{a} is in no room')
NOT_HELD = Check('already_grabbed', no(holding), '{a} already grabbed')
NOT_UNDER_CHARACTER = Check(
    'under_character',
    lambda s: s.objects[A].id not in above(s.graph, s.character.id),
    '{C} is on {a}',
)
NOT_CARRIED = Check(
    'carried',
    lambda s: s.objects[A].id not in carried(s.graph, s.character.id),
    '{C} is holding or wearing {a}',
)
WORN = Check('not_worn', carries_character, '{C} does not wear {a}')
OWN_SEAT_LEFT = Check('no_place', place_left(SEATS, besides_character=True), _NO_SEAT)
OWN_BERTH_LEFT = Check('no_place', place_left(BERTHS, besides_character=True), _NO_SEAT)
