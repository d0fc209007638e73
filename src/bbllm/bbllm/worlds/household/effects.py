"""
Effects of rules: the small changes that the table of rules is built from.

No step raises once the checks hold: what could is looked up by the rule's checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from bbllm.worlds.household.checks import free_hand
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rule import Effect
from bbllm.worlds.household.situation import ActionSituation
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

_LEFT_BY_WALKING = (Relation.INSIDE, Relation.CLOSE, Relation.FACING)
_LEFT_BY_TAKING = (Relation.ON, Relation.INSIDE, Relation.CLOSE, *HANDS)


def set_state(which: int, state: State, instead_of: State) -> Effect:
    """It is now, for example, OPEN and not CLOSED."""

    def change(s: ActionSituation) -> None:
        states = s.objects[which].states
        states.discard(instead_of)
        states.add(state)

    return change


def take_posture(*states: State) -> Effect:
    """The character sits, lies, or does neither."""

    def change(s: ActionSituation) -> None:
        others = s.posture - {State.SITTING, State.LYING}
        s.character.states = {*others, *states}

    return change


def link(which: int) -> Effect:
    """The character is CLOSE to it, and it to the character."""
    return lambda s: link_nodes(s.graph, s.character.id, s.objects[which].id)


def look_away(s: ActionSituation) -> None:
    """The character faces nothing."""
    s.graph.remove_from(s.character.id, Relation.FACING)


def face(which: int) -> Effect:
    """The character faces it too."""
    return lambda s: s.graph.add(s.character.id, Relation.FACING, s.objects[which].id)


def face_what_it_faces(which: int) -> Effect:
    """The character faces too what the object faces."""

    def change(s: ActionSituation) -> None:
        for node_id in tuple(s.graph.targets(s.objects[which].id, Relation.FACING)):
            s.graph.add(s.character.id, Relation.FACING, node_id)

    return change


def rest_on(which: int) -> Effect:
    """The character is ON it."""
    return lambda s: s.graph.add(s.character.id, Relation.ON, s.objects[which].id)


def walk_to(which: int) -> Effect:
    """
    The character goes to it.

    It is close then to the thing, to what the thing is in or on, to the thing's contents where it
    can be opened, and to its own body. What it holds comes along, yet is INSIDE the room that the
    character came from, as in VirtualHome.
    """

    def change(s: ActionSituation) -> None:
        graph, me, node = s.graph, s.character.id, s.objects[which]
        held = _held(s)
        came_from = graph.room_of(me)
        room = graph.room_of(node.id)
        _cut(graph, me, _LEFT_BY_WALKING)
        _add_inside(graph, me, room)
        if node.id != room:
            around = _not_rooms(graph, graph.targets(node.id, Relation.INSIDE))
            graph.add_both_ways(me, Relation.CLOSE, (node.id, *around, *graph.body_parts))
        for node_id in held:
            _cut(graph, node_id, _LEFT_BY_WALKING)
            link_nodes(graph, me, node_id)
            _add_inside(graph, node_id, came_from)
        # Only now: what was inside something that is held is inside it no longer.
        if Property.CAN_OPEN in node.properties:
            graph.add_both_ways(me, Relation.CLOSE, graph.sources(node.id, Relation.INSIDE))
        graph.add_both_ways(me, Relation.CLOSE, graph.targets(node.id, Relation.ON))

    return change


def take(which: int) -> Effect:
    """
    It comes into a free hand and leaves where it was; what was ON or INSIDE it falls off.

    Of where it was the first is remembered: what it was ON, else INSIDE, else CLOSE to, of several
    the one with the lowest id. The character stays close to that.
    """

    def change(s: ActionSituation) -> None:
        graph, me, node_id = s.graph, s.character.id, s.objects[which].id
        hand = free_hand(s)
        place = place_of(graph, node_id, (Relation.ON, Relation.INSIDE, Relation.CLOSE))
        room = graph.room_of(me)
        _cut(graph, node_id, _LEFT_BY_TAKING)
        link_nodes(graph, me, node_id)
        if hand is not None:
            graph.add(me, hand, node_id)
        _add_inside(graph, node_id, room)
        if place is not None:
            link_nodes(graph, me, place[0])
            s.memory.taken_from[node_id] = place

    return change


def unhand(which: int) -> Effect:
    """No hand holds it."""
    return lambda s: let_go(s, s.objects[which].id)


def put(which: int, relation: Relation, place: int) -> Effect:
    """It is ON or INSIDE a place, and the three are close to each other."""

    def change(s: ActionSituation) -> None:
        _put(s, s.objects[which].id, relation, s.objects[place].id)

    return change


def put_back(which: int, place: int) -> Effect:
    """It is again where it was taken from."""

    def change(s: ActionSituation) -> None:
        node_id = s.objects[which].id
        _put(s, node_id, s.memory.taken_from[node_id][1], s.objects[place].id)

    return change


def forget_place(which: int) -> Effect:
    """It is no longer known where it was taken from."""

    def change(s: ActionSituation) -> None:
        s.memory.taken_from.pop(s.objects[which].id, None)

    return change


def drop_into_room(which: int) -> Effect:
    """It is INSIDE the room that the character is in."""
    return lambda s: _add_inside(s.graph, s.objects[which].id, s.graph.room_of(s.character.id))


def pour(which: int, place: int) -> Effect:
    """It is INSIDE a place; water leaves the hand, a vessel stays in it."""

    def change(s: ActionSituation) -> None:
        s.graph.add(s.objects[which].id, Relation.INSIDE, s.objects[place].id)
        if s.objects[which].class_name == 'water':
            unhand(which)(s)

    return change


def wear(which: int) -> Effect:
    """It is ON the character."""
    return lambda s: s.graph.add(s.objects[which].id, Relation.ON, s.character.id)


def let_go(s: ActionSituation, node_id: int) -> None:
    """Take an object out of the character's hands, if it is in one."""
    for hand in HANDS:
        s.graph.remove(s.character.id, hand, node_id)


def link_nodes(graph: Graph, one: int, other: int) -> None:
    """Make two nodes CLOSE to each other; also one to itself, as VirtualHome does."""
    graph.add_both_ways(one, Relation.CLOSE, (other,))


def place_of(
    graph: Graph, node_id: int, relations: Iterable[Relation]
) -> tuple[int, Relation] | None:
    """Return what an object stands to in the first of these relations that leads to no room."""
    for relation in relations:
        places = _not_rooms(graph, graph.targets(node_id, relation))
        if places:
            return min(places), relation
    return None


def _put(s: ActionSituation, node_id: int, relation: Relation, place: int) -> None:
    let_go(s, node_id)
    link_nodes(s.graph, s.character.id, place)
    link_nodes(s.graph, node_id, place)
    s.graph.add(node_id, relation, place)


def _cut(graph: Graph, node_id: int, relations: tuple[Relation, ...]) -> None:
    for relation in relations:
        graph.remove_from(node_id, relation)
        graph.remove_to(node_id, relation)


def _add_inside(graph: Graph, node_id: int, room: int | None) -> None:
    if room is not None:
        graph.add(node_id, Relation.INSIDE, room)


def _held(s: ActionSituation) -> list[int]:
    return [node_id for hand in HANDS for node_id in s.graph.targets(s.character.id, hand)]


def _not_rooms(graph: Graph, ids: Set[int]) -> list[int]:
    return [node_id for node_id in ids if not graph.nodes[node_id].is_room]
