"""What the clean rules change: things stay where they are put, and go along when carried."""

from __future__ import annotations

from collections.abc import Iterable

from bbllm.worlds.household.checks import free_hand
from bbllm.worlds.household.effects import let_go, link_nodes, place_of
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.rule import Effect
from bbllm.worlds.household.sane_checks import carried, contents
from bbllm.worlds.household.situation import Situation
from bbllm.worlds.household.vocabulary import Property, Relation, State

_PLACED = (Relation.ON, Relation.INSIDE)


def go_to(which: int) -> Effect:
    """
    The character goes to it, and with it what it carries.

    It is close then to the thing, to what the thing is in or on, to the contents of a thing that
    is not closed, to its own body and to what it carries.
    """

    def change(s: Situation) -> None:
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
                _link(graph, me, other)

    return change


def pick_up(which: int) -> Effect:
    """It comes into a free hand, with all that is in or on it."""

    def change(s: Situation) -> None:
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
            _link(graph, me, place[0])
            s.memory.taken_from[thing] = place

    return change


def set_down(which: int, relation: Relation, place: int) -> Effect:
    """It is ON or INSIDE a place and nowhere else, in the room of the place."""
    return lambda s: _set_down(s, s.objects[which].id, relation, s.objects[place].id)


def set_back(which: int, place: int) -> Effect:
    """It is again where it was taken from."""

    def change(s: Situation) -> None:
        thing = s.objects[which].id
        _set_down(s, thing, s.memory.taken_from[thing][1], s.objects[place].id)

    return change


def let_fall(which: int) -> Effect:
    """It leaves the hand and lies somewhere in the room."""

    def change(s: Situation) -> None:
        thing = s.objects[which].id
        let_go(s, thing)
        s.memory.taken_from.pop(thing, None)
        _link(s.graph, s.character.id, thing)

    return change


def settle_on(which: int) -> Effect:
    """The character is ON it and on nothing else."""

    def change(s: Situation) -> None:
        s.graph.remove_from(s.character.id, Relation.ON)
        s.graph.add(s.character.id, Relation.ON, s.objects[which].id)

    return change


def get_up(s: Situation) -> None:
    """The character is ON nothing."""
    s.graph.remove_from(s.character.id, Relation.ON)


def go_off(which: int) -> Effect:
    """What was on is off; other things stay as they are."""

    def change(s: Situation) -> None:
        states = s.objects[which].states
        if State.ON in states:
            states.remove(State.ON)
            states.add(State.OFF)

    return change


def take_off(which: int) -> Effect:
    """What the character wears comes into a free hand."""

    def change(s: Situation) -> None:
        thing = s.objects[which].id
        s.graph.remove(thing, Relation.ON, s.character.id)
        _hold(s, thing, free_hand(s))

    return change


def _hold(s: Situation, thing: int, hand: Relation | None) -> None:
    graph, me = s.graph, s.character.id
    if hand is not None:
        graph.add(me, hand, thing)
    _link(graph, me, thing)
    room = graph.room_of(me)
    if room is not None:
        _bring_into_room(graph, {thing, *contents(graph, thing)} - {me}, room)


def _set_down(s: Situation, thing: int, relation: Relation, place: int) -> None:
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
    _link(graph, s.character.id, place)
    _link(graph, thing, place)


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


def _link(graph: Graph, one: int, other: int) -> None:
    if one != other:  # here nothing is close to itself
        link_nodes(graph, one, other)
