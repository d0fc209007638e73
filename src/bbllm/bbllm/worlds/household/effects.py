"""
Effects of rules: the small changes that the table of rules is built from.

Without parameters for them, an effect changes the first object of a line, and a place is the
second. No effect raises once the checks of its rule are passed.
"""

from collections.abc import Callable, Iterable, Set

from bbllm.worlds.household.checks import A, ActionSituation, B, carried, contents, free_hand
from bbllm.worlds.household.graph import Graph, in_set_order
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State

Effect = Callable[[ActionSituation], None]

_PLACED = (Relation.ON, Relation.INSIDE)
_LEFT_BY_WALKING = (Relation.INSIDE, Relation.CLOSE, Relation.FACING)
_LEFT_BY_TAKING = (Relation.ON, Relation.INSIDE, Relation.CLOSE, *HANDS)


def set_state(state: State, instead_of: State) -> Effect:
    """It is now, for example, OPEN and not CLOSED."""

    def change(s: ActionSituation) -> None:
        states = s.objects[A].states
        states.discard(instead_of)
        states.add(state)

    return change


def take_posture(*states: State) -> Effect:
    """The character sits, lies, or does neither."""

    def change(s: ActionSituation) -> None:
        others = s.posture - {State.SITTING, State.LYING}
        s.character.states = {*others, *states}

    return change


def link(s: ActionSituation) -> None:
    """The character is CLOSE to it, and it to the character."""
    link_nodes(s.graph, s.character.id, s.objects[A].id)


def turn_away(s: ActionSituation) -> None:
    """The character faces nothing."""
    s.graph.remove_from(s.character.id, Relation.FACING)


def face(s: ActionSituation) -> None:
    """The character faces it too."""
    s.graph.add(s.character.id, Relation.FACING, s.objects[A].id)


def face_what_it_faces(s: ActionSituation) -> None:
    """The character faces too what the object faces."""
    for node_id in tuple(s.graph.targets(s.objects[A].id, Relation.FACING)):
        s.graph.add(s.character.id, Relation.FACING, node_id)


def rest_on_it(s: ActionSituation) -> None:
    """The character is ON it."""
    s.graph.add(s.character.id, Relation.ON, s.objects[A].id)


def walk_to(s: ActionSituation) -> None:
    """
    The character goes to it.

    It is close then to the object, to what the object is in or on, to the object's contents where
    it can be opened, and to its own body. What it carries comes along, yet is INSIDE the room that
    the character came from, as in VirtualHome.
    """
    graph, me, node = s.graph, s.character.id, s.objects[A]
    held = [node_id for hand in HANDS for node_id in graph.targets(me, hand)]
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


def take(s: ActionSituation) -> None:
    """
    It comes into a free hand and leaves where it was; what was ON or INSIDE it falls off.

    Of where it was the first is remembered: what it was ON, else INSIDE, else CLOSE to, of several
    as VirtualHome lists them. The character stays close to that.
    """
    graph, me, node_id = s.graph, s.character.id, s.objects[A].id
    hand = free_hand(s)
    place = place_of(graph, node_id, (*_PLACED, Relation.CLOSE))
    room = graph.room_of(me)
    _cut(graph, node_id, _LEFT_BY_TAKING)
    link_nodes(graph, me, node_id)
    if hand is not None:
        graph.add(me, hand, node_id)
    _add_inside(graph, node_id, room)
    if place is not None:
        link_nodes(graph, me, place[0])
        s.memory.taken_from[node_id] = place


def unhand(s: ActionSituation) -> None:
    """It is in no hand."""
    for hand in HANDS:
        s.graph.remove(s.character.id, hand, s.objects[A].id)


def put(relation: Relation | None = None) -> Effect:
    """It is ON or INSIDE a place, None: as it was taken from there; the three are close then."""

    def change(s: ActionSituation) -> None:
        item, place = s.objects[A].id, s.objects[B].id
        unhand(s)
        link_nodes(s.graph, s.character.id, place)
        link_nodes(s.graph, item, place)
        s.graph.add(item, relation or s.memory.taken_from[item][1], place)

    return change


def forget_place(s: ActionSituation) -> None:
    """It is no longer known where it was taken from."""
    s.memory.taken_from.pop(s.objects[A].id, None)


def drop_into_room(s: ActionSituation) -> None:
    """It is INSIDE the room that the character is in."""
    _add_inside(s.graph, s.objects[A].id, s.graph.room_of(s.character.id))


def pour(s: ActionSituation) -> None:
    """It is INSIDE a place; water leaves the hand, a vessel stays in it."""
    s.graph.add(s.objects[A].id, Relation.INSIDE, s.objects[B].id)
    if s.objects[A].class_name == 'water':
        unhand(s)


def wear(s: ActionSituation) -> None:
    """It is ON the character."""
    s.graph.add(s.objects[A].id, Relation.ON, s.character.id)


def shed(s: ActionSituation) -> None:
    """It is no longer ON the character."""
    s.graph.remove(s.objects[A].id, Relation.ON, s.character.id)


def link_nodes(graph: Graph, one: int, other: int) -> None:
    """Make two nodes CLOSE to each other; also one to itself, as VirtualHome does."""
    graph.add_both_ways(one, Relation.CLOSE, (other,))


def place_of(
    graph: Graph, node_id: int, relations: Iterable[Relation]
) -> tuple[int, Relation] | None:
    """Return what an object stands to in the first of these relations that leads to no room."""
    for relation in relations:
        places = _not_rooms(graph, in_set_order(graph.targets(node_id, relation)))
        if places:
            return places[0], relation
    return None


def _cut(graph: Graph, node_id: int, relations: tuple[Relation, ...]) -> None:
    for relation in relations:
        graph.remove_from(node_id, relation)
        graph.remove_to(node_id, relation)


def _add_inside(graph: Graph, node_id: int, room: int | None) -> None:
    if room is not None:
        graph.add(node_id, Relation.INSIDE, room)


def _not_rooms(graph: Graph, ids: Set[int]) -> list[int]:
    return [node_id for node_id in ids if not graph.nodes[node_id].is_room]


# Effects of the clean rules only.


def go_to(s: ActionSituation) -> None:
    """
    The character goes to it, and with it what it carries.

    It is close then to the object, to what the object is in or on, to the contents of an object
    that is not closed, to its own body and to what it carries.
    """
    graph, me, node = s.graph, s.character.id, s.objects[A]
    along = carried(graph, me)
    room = graph.room_of(node.id)
    if room is None:
        return
    for relation in (*_LEFT_BY_WALKING, Relation.ON):
        graph.remove_from(me, relation)
    graph.remove_to(me, Relation.CLOSE)
    graph.add(me, Relation.INSIDE, room)
    for item in along:
        _leave_neighbours(graph, item, along)
    _bring_into_room(graph, along, room)
    near = along | set(graph.body_parts)
    if node.id != room:
        near.add(node.id)
        near.update(graph.targets(node.id, Relation.INSIDE), graph.targets(node.id, Relation.ON))
        if Property.CAN_OPEN in node.properties and State.CLOSED not in node.states:
            near.update(graph.sources(node.id, Relation.INSIDE))
    for other in near:
        if not graph.nodes[other].is_room:
            _join(graph, me, other)


def pick_up(s: ActionSituation) -> None:
    """It comes into a free hand, with all that is in or on it."""
    graph, item = s.graph, s.objects[A].id
    hand = free_hand(s)
    place = place_of(graph, item, _PLACED)
    for relation in _PLACED:
        graph.remove_from(item, relation)
    _leave_neighbours(graph, item, contents(graph, item))
    _hold(s, hand)
    if place is None:
        forget_place(s)
    else:
        _join(graph, s.character.id, place[0])
        s.memory.taken_from[item] = place


def set_down(relation: Relation | None = None) -> Effect:
    """
    It is ON or INSIDE a place and nowhere else, in the room of the place.

    Without a relation it stands there again as it was taken from there.
    """

    def change(s: ActionSituation) -> None:
        graph, me, item, place = s.graph, s.character.id, s.objects[A].id, s.objects[B].id
        now = relation or s.memory.taken_from[item][1]
        unhand(s)
        forget_place(s)
        for old in _PLACED:
            graph.remove_from(item, old)
        graph.add(item, now, place)
        room = graph.room_of(place)
        if room is None:
            room = graph.room_of(me)
        _bring_into_room(graph, {item, *contents(graph, item)}, room)
        _join(graph, me, place)
        _join(graph, item, place)

    return change


def let_fall(s: ActionSituation) -> None:
    """It leaves the hand and lies somewhere in the room."""
    unhand(s)
    forget_place(s)
    _join(s.graph, s.character.id, s.objects[A].id)


def get_up(s: ActionSituation) -> None:
    """The character is ON nothing."""
    s.graph.remove_from(s.character.id, Relation.ON)


def go_off(s: ActionSituation) -> None:
    """What was on is off; other objects stay as they are."""
    states = s.objects[A].states
    if State.ON in states:
        states.remove(State.ON)
        states.add(State.OFF)


def take_off(s: ActionSituation) -> None:
    """What the character wears comes into a free hand."""
    shed(s)
    _hold(s, free_hand(s))


def _hold(s: ActionSituation, hand: Relation | None) -> None:
    graph, me, item = s.graph, s.character.id, s.objects[A].id
    if hand is not None:
        graph.add(me, hand, item)
    _join(graph, me, item)
    _bring_into_room(graph, {item, *contents(graph, item)} - {me}, graph.room_of(me))


def _bring_into_room(graph: Graph, items: Iterable[int], room: int | None) -> None:
    if room is None:
        return
    for item in items:
        for other in tuple(graph.targets(item, Relation.INSIDE)):
            if graph.nodes[other].is_room:
                graph.remove(item, Relation.INSIDE, other)
        graph.add(item, Relation.INSIDE, room)


def _leave_neighbours(graph: Graph, item: int, keep: set[int]) -> None:
    for other in graph.targets(item, Relation.CLOSE) | graph.sources(item, Relation.CLOSE):
        if other not in keep:
            graph.remove(item, Relation.CLOSE, other)
            graph.remove(other, Relation.CLOSE, item)


def _join(graph: Graph, one: int, other: int) -> None:
    if one != other:  # here nothing is close to itself
        link_nodes(graph, one, other)
