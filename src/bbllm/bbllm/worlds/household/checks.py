"""
Predicates of rules: the small checks that the table of rules is built from.

Every function here returns a predicate that is True where all is well. `A` and `B` stand for the
first and the second object of a line.
"""

from __future__ import annotations

from collections.abc import Callable

from bbllm.worlds.household.graph import Node
from bbllm.worlds.household.situation import ActionSituation, UnsupportedError
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

Predicate = Callable[[ActionSituation], bool]

A = 0
B = 1
_TO_CUT_WITH = 'knife'


def any_of(*predicates: Predicate) -> Predicate:
    """At least one of these holds."""

    def holds(s: ActionSituation) -> bool:
        for predicate in predicates:  # noqa: SIM110  # any() takes twice the time
            if predicate(s):
                return True
        return False

    return holds


def no(predicate: Predicate) -> Predicate:
    """It does not hold."""
    return lambda s: not predicate(s)


def never(s: ActionSituation) -> bool:
    """Hold in no situation."""
    return False


def has(which: int, *properties: Property) -> Predicate:
    """It has at least one of these properties."""
    wanted = frozenset(properties)
    return lambda s: not wanted.isdisjoint(s.objects[which].properties)


def of_class(which: int, *names: str) -> Predicate:
    """It is of one of these classes."""
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


def faces(which: int) -> Predicate:
    """The character faces it, or something that faces it."""

    def holds(s: ActionSituation) -> bool:
        node_id = s.objects[which].id
        seen = s.graph.targets(s.character.id, Relation.FACING)
        return node_id in seen or not seen.isdisjoint(s.graph.sources(node_id, Relation.FACING))

    return holds


def faces_directly(which: int) -> Predicate:
    """The character itself faces it."""
    return lambda s: s.graph.has(s.character.id, Relation.FACING, s.objects[which].id)


def carries_character(which: int) -> Predicate:
    """It is ON the character."""
    return lambda s: s.graph.has(s.objects[which].id, Relation.ON, s.character.id)


def holding(which: int) -> Predicate:
    """The character holds it in a hand."""

    def holds(s: ActionSituation) -> bool:
        node_id = s.objects[which].id
        return any(s.graph.has(s.character.id, hand, node_id) for hand in HANDS)

    return holds


def hand_is_free(s: ActionSituation) -> bool:
    """At least one hand holds nothing."""
    return free_hand(s) is not None


def hand_is_full(s: ActionSituation) -> bool:
    """At least one hand holds something."""
    return any(s.graph.targets(s.character.id, hand) for hand in HANDS)


def free_hand(s: ActionSituation) -> Relation | None:
    """Return the hand that would take something, the right one first; None if both are full."""
    for hand in HANDS:
        if not s.graph.targets(s.character.id, hand):
            return hand
    return None


def holding_a_knife(s: ActionSituation) -> bool:
    """A hand holds something whose class has `knife` in it."""
    return any(
        _TO_CUT_WITH in s.graph.nodes[node_id].class_name
        for hand in HANDS
        for node_id in s.graph.targets(s.character.id, hand)
    )


def within_reach(which: int) -> Predicate:
    """Nothing that is closed has it INSIDE; a room never counts, nor what is further outside."""

    def holds(s: ActionSituation) -> bool:
        return not any(
            _shuts_in(s.graph.nodes[node_id])
            for node_id in s.graph.targets(s.objects[which].id, Relation.INSIDE)
        )

    return holds


def _shuts_in(container: Node) -> bool:
    return State.CLOSED in container.states and not container.is_room


def place_left_on(which: int, places: dict[str, int], otherwise: int) -> Predicate:
    """
    Fewer objects are ON it than people find place there.

    Args:
        which: The object to sit or lie on.
        places: How many, by class.
        otherwise: How many on objects of another class.
    """

    def holds(s: ActionSituation) -> bool:
        node = s.objects[which]
        taken = len(s.graph.sources(node.id, Relation.ON))
        return taken < places.get(node.class_name, otherwise)

    return holds


def carries_something(which: int) -> Predicate:
    """Something is ON it."""
    return lambda s: bool(s.graph.sources(s.objects[which].id, Relation.ON))


def carries(which: int, wanted: Property) -> Predicate:
    """Something with this property is ON it."""

    def holds(s: ActionSituation) -> bool:
        on_it = s.graph.sources(s.objects[which].id, Relation.ON)
        return any(wanted in s.graph.nodes[node_id].properties for node_id in on_it)

    return holds


def has_room(which: int) -> Predicate:
    """It is in a room, or is one."""
    return lambda s: s.graph.room_of(s.objects[which].id) is not None


def in_same_room(which: int) -> Predicate:
    """The character's room is its room."""

    def holds(s: ActionSituation) -> bool:
        mine = s.graph.room_of(s.character.id)
        return mine is not None and mine == s.graph.room_of(s.objects[which].id)

    return holds


def character_has_room(s: ActionSituation) -> bool:
    """The character is in a room, or VirtualHome breaks off."""
    if s.graph.room_of(s.character.id) is None:
        raise UnsupportedError(f'{s.character} is in no room')
    return True


def in_a_room(which: int) -> Predicate:
    """It is in a room, or VirtualHome breaks off."""

    def holds(s: ActionSituation) -> bool:
        if s.graph.room_of(s.objects[which].id) is None:
            raise UnsupportedError(f'{s.objects[which]} is in no room')
        return True

    return holds


def remembered(which: int) -> Predicate:
    """It is known where it was taken from."""
    return lambda s: s.objects[which].id in s.memory.taken_from


def taken_from_inside(which: int) -> Predicate:
    """It was INSIDE the place that it was taken from."""
    return lambda s: s.memory.taken_from[s.objects[which].id][1] is Relation.INSIDE


def supported(why: str) -> Predicate:
    """Break off as VirtualHome does, where it does so whatever the situation is."""

    def holds(s: ActionSituation) -> bool:
        raise UnsupportedError(why)

    return holds
