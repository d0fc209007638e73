"""The clean rules: VirtualHome's table with its surprising rows replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bbllm.worlds.household.checks import (
    A,
    B,
    free_hand,
    has_room,
    holding,
    in_same_room,
    in_state,
    no,
    remembered,
)
from bbllm.worlds.household.effects import (
    face_what_it_faces,
    forget_place,
    let_go,
    link_nodes,
    place_of,
    pour,
    set_state,
    take_posture,
    unhand,
    wear,
)
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.named_checks import (
    B_NOT_OPEN,
    B_OPEN,
    B_OPEN_IF_TAKEN_OUT,
    BERTHS,
    CLOSE_A,
    CLOSE_B,
    FREE_HAND,
    HOLDING_A,
    MOVABLE,
    PLUG,
    SEATS,
    STANDING,
)
from bbllm.worlds.household.rule import Check, Effect, Rule
from bbllm.worlds.household.rules import LOOK, RULES
from bbllm.worlds.household.sane_checks import (
    at_hand,
    can_go_to,
    carried,
    contents,
    not_carried,
    not_under_character,
    place_left_beside,
    worn,
)
from bbllm.worlds.household.situation import ActionSituation
from bbllm.worlds.household.vocabulary import Action, Property, Relation, State

_PLACED = (Relation.ON, Relation.INSIDE)


def go_to(which: int) -> Effect:
    """
    The character goes to it, and with it what it carries.

    It is close then to the thing, to what the thing is in or on, to the contents of a thing that
    is not closed, to its own body and to what it carries.
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
                _link(graph, me, other)

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
            _link(graph, me, place[0])
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
        _link(s.graph, s.character.id, thing)

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
    _link(graph, me, thing)
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


AT_HAND = Check('inside_closed', at_hand(A), '{a} is inside other closed thing')
B_AT_HAND = Check('inside_closed', at_hand(B), '{b} is inside other closed thing')
NOT_INTO_ITSELF = Check('inside_itself', can_go_to(A, B), '{b} is {a} or goes along with it')
PUT_DOWN = (HOLDING_A, CLOSE_B, B_AT_HAND, NOT_INTO_ITSELF)
SAME_ROOM = Check('other_room', in_same_room(A), '{C} is not in the room of {a}')
MOVING = Rule((MOVABLE, CLOSE_A, AT_HAND, FREE_HAND))
WALK = Rule((STANDING, Check('no_room', has_room(A), '{a} is in no room')), (go_to(A),))
LET_FALL = Rule((HOLDING_A,), (let_fall(A),))


def _with_at_hand(action: Action) -> Rule:
    rule = RULES[action]
    return replace(rule, checks=(*rule.checks, AT_HAND))


def _resting(action: Action, posture: State, places: dict[str, int]) -> Rule:
    close, posture_check, property_check, _ = RULES[action].checks
    place = Check('no_place', place_left_beside(A, places, 1), 'Too many things on {a}')
    carried = Check('carried', not_carried(A), '{C} is holding or wearing {a}')
    return Rule(
        (close, posture_check, property_check, carried, place),
        (settle_on(A), face_what_it_faces(A), take_posture(posture)),
    )


_CHANGED: Mapping[Action, Rule] = {
    Action.WALK: WALK,
    Action.RUN: WALK,
    Action.FIND: replace(RULES[Action.FIND], instead=WALK, misses_things=True),
    Action.GRAB: Rule(
        (
            RULES[Action.GRAB].checks[0],
            Check('already_grabbed', no(holding(A)), '{a} already grabbed'),
            CLOSE_A,
            AT_HAND,
            FREE_HAND,
            Check('under_character', not_under_character(A), '{C} is on {a}'),
        ),
        (pick_up(A),),
    ),
    Action.PUTBACK: Rule(PUT_DOWN, (set_down(A, Relation.ON, B),)),
    Action.PUTIN: Rule(
        (*PUT_DOWN, Check('not_open', B_OPEN, B_NOT_OPEN)), (set_down(A, Relation.INSIDE, B),)
    ),
    Action.PUTOBJBACK: Rule(
        (
            Check('not_grabbed', remembered(A), '{a} not grabbed'),
            *PUT_DOWN,
            Check('not_open', B_OPEN_IF_TAKEN_OUT, B_NOT_OPEN),
        ),
        (set_back(A, B),),
        recalls_place=True,
    ),
    Action.SIT: _resting(Action.SIT, State.SITTING, SEATS),
    Action.LIE: _resting(Action.LIE, State.LYING, BERTHS),
    Action.STANDUP: replace(RULES[Action.STANDUP], effects=(take_posture(), get_up)),
    Action.DROP: LET_FALL,
    Action.RELEASE: LET_FALL,
    Action.POUR: Rule((*RULES[Action.POUR].checks, B_AT_HAND, NOT_INTO_ITSELF), (pour(A, B),)),
    Action.LOOKAT_SHORT: LOOK,
    Action.LOOKAT_LONG: LOOK,
    Action.TURNTO: replace(RULES[Action.TURNTO], checks=(SAME_ROOM,)),
    Action.WATCH: Rule(
        (RULES[Action.WATCH].checks[0], SAME_ROOM, *LOOK.checks, AT_HAND),
    ),
    Action.PUSH: MOVING,
    Action.PULL: MOVING,
    Action.MOVE: MOVING,
    Action.PLUGOUT: Rule(
        (
            PLUG,
            CLOSE_A,
            FREE_HAND,
            Check('not_plugged_in', in_state(A, State.PLUGGED_IN), '{a} is not plugged_in'),
            AT_HAND,
        ),
        (set_state(A, State.PLUGGED_OUT, State.PLUGGED_IN), go_off(A)),
    ),
    Action.PUTON: Rule(RULES[Action.PUTON].checks, (wear(A), unhand(A), forget_place(A))),
    Action.PUTOFF: Rule(
        (Check('not_worn', worn(A), '{C} does not wear {a}'), FREE_HAND), (take_off(A),)
    ),
    **{
        action: _with_at_hand(action)
        for action in (
            Action.OPEN,
            Action.CLOSE,
            Action.SWITCHON,
            Action.SWITCHOFF,
            Action.EAT,
            Action.WIPE,
            Action.WASH,
            Action.RINSE,
            Action.SCRUB,
            Action.SQUEEZE,
            Action.CUT,
            Action.TOUCH,
            Action.TYPE,
            Action.PLUGIN,
        )
    },
}
SANE_RULES: Mapping[Action, Rule] = {**RULES, **_CHANGED}
"""One row for each action, as in `rules.RULES`."""
