"""
Effects of rules: the small changes that the table of rules is built from.

No effect raises once the checks of its rule are passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from bbllm.worlds.household.checks import carried, contents, free_hand
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rule import ActionSituation, Effect
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

_PLACED = (Relation.ON, Relation.INSIDE)
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

    It is close then to the object, to what the object is in or on, to the object's contents where
    it can be opened, and to its own body. What it carries comes along, yet is INSIDE the room that
    the character came from, as in VirtualHome.
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
    """It is in no hand."""
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


# Effects of the clean rules only.


def go_to(which: int) -> Effect:
    """
    The character goes to it, and with it what it carries.

    It is close then to the object, to what the object is in or on, to the contents of an object
    that is not closed, to its own body and to what it carries.
    """

    def change(s: ActionSituation) -> None:
        graph, me, node = s.graph, s.character.id, s.objects[which]
        along = carried(graph, me)
        room = graph.room_of(node.id)
        if room is None:
            return
        for relation in (Relation.INSIDE, Relation.CLOSE, Relation.FACING, Relation.ON):
            graph.remove_from(me, relation)
        graph.remove_to(me, Relation.CLOSE)
        graph.add(me, Relation.INSIDE, room)
        for thing in along:
            _leave_neighbours(graph, thing, along)
        _bring_into_room(graph, along, room)
        near = along | set(graph.body_parts)
        if node.id != room:
            near.add(node.id)
            near.update(graph.targets(node.id, Relation.INSIDE))
            near.update(graph.targets(node.id, Relation.ON))
            if Property.CAN_OPEN in node.properties and State.CLOSED not in node.states:
                near.update(graph.sources(node.id, Relation.INSIDE))
        for other in near:
            if not graph.nodes[other].is_room:
                _join(graph, me, other)

    return change


def pick_up(which: int) -> Effect:
    """It comes into a free hand, with all that is in or on it."""

    def change(s: ActionSituation) -> None:
        graph, me, thing = s.graph, s.character.id, s.objects[which].id
        hand = free_hand(s)
        place = place_of(graph, thing, _PLACED)
        for relation in _PLACED:
            graph.remove_from(thing, relation)
        _leave_neighbours(graph, thing, contents(graph, thing))
        _hold(s, thing, hand)
        if place is None:
            s.memory.taken_from.pop(thing, None)
        else:
            _join(graph, me, place[0])
            s.memory.taken_from[thing] = place

    return change


def set_down(which: int, relation: Relation, place: int) -> Effect:
    """It is ON or INSIDE a place and nowhere else, in the room of the place."""
    return lambda s: _set_down(s, s.objects[which].id, relation, s.objects[place].id)


def set_back(which: int, place: int) -> Effect:
    """It is again where it was taken from."""

    def change(s: ActionSituation) -> None:
        thing = s.objects[which].id
        _set_down(s, thing, s.memory.taken_from[thing][1], s.objects[place].id)

    return change


def let_fall(which: int) -> Effect:
    """It leaves the hand and lies somewhere in the room."""

    def change(s: ActionSituation) -> None:
        thing = s.objects[which].id
        let_go(s, thing)
        s.memory.taken_from.pop(thing, None)
        _join(s.graph, s.character.id, thing)

    return change


def settle_on(which: int) -> Effect:
    """The character is ON it and on nothing else."""

    def change(s: ActionSituation) -> None:
        s.graph.remove_from(s.character.id, Relation.ON)
        s.graph.add(s.character.id, Relation.ON, s.objects[which].id)

    return change


def get_up(s: ActionSituation) -> None:
    """The character is ON nothing."""
    s.graph.remove_from(s.character.id, Relation.ON)


def go_off(which: int) -> Effect:
    """What was on is off; other objects stay as they are."""

    def change(s: ActionSituation) -> None:
        states = s.objects[which].states
        if State.ON in states:
            states.remove(State.ON)
            states.add(State.OFF)

    return change


def take_off(which: int) -> Effect:
    """What the character wears comes into a free hand."""

    def change(s: ActionSituation) -> None:
        thing = s.objects[which].id
        s.graph.remove(thing, Relation.ON, s.character.id)
        _hold(s, thing, free_hand(s))

    return change


def _hold(s: ActionSituation, thing: int, hand: Relation | None) -> None:
    graph, me = s.graph, s.character.id
    if hand is not None:
        graph.add(me, hand, thing)
    _join(graph, me, thing)
    room = graph.room_of(me)
    if room is not None:
        _bring_into_room(graph, {thing, *contents(graph, thing)} - {me}, room)


def _set_down(s: ActionSituation, thing: int, relation: Relation, place: int) -> None:
    graph = s.graph
    let_go(s, thing)
    s.memory.taken_from.pop(thing, None)
    for old in _PLACED:
        graph.remove_from(thing, old)
    graph.add(thing, relation, place)
    room = graph.room_of(place)
    if room is None:
        room = graph.room_of(s.character.id)
    if room is not None:
        _bring_into_room(graph, {thing, *contents(graph, thing)}, room)
    _join(graph, s.character.id, place)
    _join(graph, thing, place)


def _bring_into_room(graph: Graph, things: Iterable[int], room: int) -> None:
    for thing in things:
        for other in tuple(graph.targets(thing, Relation.INSIDE)):
            if graph.nodes[other].is_room:
                graph.remove(thing, Relation.INSIDE, other)
        graph.add(thing, Relation.INSIDE, room)


def _leave_neighbours(graph: Graph, thing: int, keep: set[int]) -> None:
    for other in tuple(
        graph.targets(thing, Relation.CLOSE) | graph.sources(thing, Relation.CLOSE)
    ):
        if other not in keep:
            graph.remove(thing, Relation.CLOSE, other)
            graph.remove(other, Relation.CLOSE, thing)


def _join(graph: Graph, one: int, other: int) -> None:
    if one != other:  # here nothing is close to itself
        link_nodes(graph, one, other)
