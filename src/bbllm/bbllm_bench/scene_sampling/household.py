"""Draws the household that a trial starts in: arranged for its task, and a little otherwise."""

from collections.abc import Sequence

from bbllm.worlds.household.derived import derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import with_states
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State
from bbllm_bench.scene_sampling.placement import Dice
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseGoal, HouseholdGoal
from bbllm_bench.suites.household import HouseView, judge_household, lying

TRIES = 50
"""How often a start is drawn before it counts as impossible."""
TOGGLED = (0, 3)
"""How many containers are found open in place of closed, or closed in place of open."""
MOVED = (0, 4)
"""How many objects stand elsewhere in their room."""
_PLACES = (Relation.INSIDE, Relation.ON)


class NoStartError(Exception):
    """No start was found, with the reason."""


def draw_start(
    graph: Graph,
    goal: HouseGoal,
    at_first: Sequence[HouseCondition],
    dice: Dice,
    *,
    shuffled: bool = False,
) -> Graph:
    """
    Return a household as a trial finds it; the graph that is given stays as it is.

    Each condition of `at_first` is true of all objects of its class. The person stands in any
    room, some other containers are open that were closed or the other way round, and a few objects
    that the task does not name stand elsewhere in their room. Nothing is taken away and nothing
    locked, so that who could do the task still can. Goals of other kinds belong to the graph as it
    is, and nothing is drawn.

    *shuffled* is whether the places of `at_first` are dealt anew among its entries.

    Raises:
        NoStartError: The goal is reached by each start that was drawn, or `at_first` wants an
            object in or on itself, or in or on what it carries.
    """
    if not isinstance(goal, HouseholdGoal):
        return graph.copy()
    arranged = {each.thing for each in at_first if each.thing}
    about = (*goal.all, *at_first)
    named = {name for each in about for name in each.classes}
    named |= {ANYTHING} if any(each.thing == ANYTHING for each in about) else set()
    for _ in range(TRIES):
        drawn = graph.copy()
        for condition in _dealt(at_first, dice) if shuffled else at_first:
            _arrange(drawn, condition, dice)
        _vary(drawn, arranged, named, dice)
        if not judge_household(goal, drawn, derived(drawn)).passed:
            return drawn
    raise NoStartError(
        f'each of {TRIES} starts has reached the goal already; define the start with `at_first`, '
        'as in at_first: [{thing: salmon, on: kitchencounter}]'
    )


def _dealt(at_first: Sequence[HouseCondition], dice: Dice) -> list[HouseCondition]:
    """Return conditions of which those with a place have each other's."""
    placed = [each for each in at_first if each.place and not each.not_]
    places = iter(dice.shuffled([(each.inside, each.on) for each in placed]))
    return [
        each.model_copy(update=dict(zip(('inside', 'on'), next(places), strict=True)))
        if each in placed
        else each
        for each in at_first
    ]


def start_dice(suite: str, task: str, start_seed: int) -> Dice:
    """Return what draws a start that is the same in all trials of all runs."""
    return Dice(f'{suite}/{task}/start {start_seed}')


def put(graph: Graph, item: int, relation: Relation, place: int) -> None:
    """Put an object in or on another, or into a room, with all that is in or on it."""
    room = graph.room_of(place)
    _take_away(graph, item, _PLACES)
    graph.add(item, relation, place)
    if place != room:
        graph.add(item, Relation.CLOSE, place)
        graph.add(place, Relation.CLOSE, item)
    if room is None:
        return
    graph.add(item, Relation.INSIDE, room)
    for other in _carried_by(graph, item):
        for old in [n for n in graph.targets(other, Relation.INSIDE) if graph.nodes[n].is_room]:
            graph.remove(other, Relation.INSIDE, old)
        graph.add(other, Relation.INSIDE, room)


def _arrange(graph: Graph, condition: HouseCondition, dice: Dice) -> None:
    """Make a condition true of all objects of its class, and see that there are enough of them."""
    if condition.thing == ANYTHING:
        _clear(graph, condition, dice)
        return
    _add_missing(graph, condition)
    places = [n for n in sorted(graph.nodes) if graph.nodes[n].class_name == condition.place]
    for node_id, node in sorted(graph.nodes.items()):
        if node.class_name != condition.thing:
            continue
        if condition.is_:
            word = State(condition.is_.upper())
            node.states = set(with_states(frozenset(node.states), word))
            continue
        beneath = _carried_by(graph, node_id) | {node_id}
        free = [place for place in places if place not in beneath]
        if not free:
            raise NoStartError(
                f'at_first wants {condition}, and each {condition.place} is in or on '
                f'the {condition.thing} already, or is it; name another place, as in '
                'at_first: [{thing: salmon, on: kitchencounter}]'
            )
        relation = Relation.INSIDE if condition.inside else Relation.ON
        put(graph, node_id, relation, dice.one_of(free))


def _clear(graph: Graph, condition: HouseCondition, dice: Dice) -> None:
    """Put everything that can be grabbed on another surface of the room."""
    nodes = graph.nodes
    for node_id in HouseView(graph, frozenset()).objects_of(condition):
        for place in tuple(graph.targets(node_id, Relation.ON)):
            if nodes[place].class_name == condition.on:
                beside = _surfaces_beside(graph, node_id)
                others = [n for n in beside if nodes[n].class_name != condition.on]
                if not others:
                    raise NoStartError(f'at_first wants {condition}, and the room has no other')
                put(graph, node_id, Relation.ON, dice.one_of(others))


def _add_missing(graph: Graph, condition: HouseCondition) -> None:
    """Add objects of a class until there are as many as the condition counts, where it does."""
    ids = [n for n, node in graph.nodes.items() if node.class_name == condition.thing]
    for _ in range(condition.count - len(ids)):
        twin = graph.nodes[ids[0]].copy()
        twin.id = max(graph.nodes) + 1
        graph.nodes[twin.id] = twin
        for room in graph.targets(ids[0], Relation.INSIDE):
            if graph.nodes[room].is_room:
                graph.add(twin.id, Relation.INSIDE, room)
                break


def _vary(graph: Graph, arranged: set[str], named: set[str], dice: Dice) -> None:
    """Change a household a little, but no states of arranged classes and no places of named."""
    nodes, me = graph.nodes, graph.character
    rooms = sorted(node_id for node_id, node in nodes.items() if node.is_room)
    if me is not None and nodes[me].class_name not in arranged and rooms:
        resting = {State.SITTING, State.LYING} & nodes[me].states
        if not resting and not any(graph.targets(me, hand) for hand in HANDS):
            _take_away(graph, me, (*_PLACES, Relation.FACING))
            graph.add(me, Relation.INSIDE, dice.one_of(rooms))
    # Furniture with a door; what runs with its door shut stays as it is.
    doors = [
        node_id
        for node_id, node in sorted(nodes.items())
        if {Property.CAN_OPEN, Property.CONTAINERS} <= node.properties
        and Property.GRABBABLE not in node.properties
        and State.ON not in node.states
        and node.class_name not in arranged
    ]
    for node_id in dice.shuffled(doors)[: dice.number(TOGGLED)]:
        node = nodes[node_id]
        new = State.CLOSED if State.OPEN in node.states else State.OPEN
        node.states = set(with_states(frozenset(node.states), new))
    loose = [
        node_id
        for node_id, node in sorted(nodes.items())
        if Property.GRABBABLE in node.properties
        and node.class_name not in named
        and ANYTHING not in named  # else what stands where counts, whatever it is
        and graph.targets(node_id, Relation.ON)
        and not _carried_by(graph, node_id)
        and not any(graph.sources(node_id, hand) for hand in HANDS)
    ]
    for node_id in dice.shuffled(loose)[: dice.number(MOVED)]:
        if places := _surfaces_beside(graph, node_id):
            put(graph, node_id, Relation.ON, dice.one_of(places))


def _surfaces_beside(graph: Graph, item: int) -> list[int]:
    """Return furniture in the same room that objects stand on and not for sitting."""
    room = graph.room_of(item)
    return [
        node_id
        for node_id, node in sorted(graph.nodes.items())
        if Property.SURFACES in node.properties
        and node.category not in ('Floor', 'Floors')
        and not node.properties & {Property.GRABBABLE, Property.SITTABLE, Property.LIEABLE}
        and graph.room_of(node_id) == room
    ]


def _carried_by(graph: Graph, node_id: int) -> set[int]:
    """Return what is in or on an object, however deep."""
    return {n for word in _PLACES for n in lying(graph, word, [node_id])} - {node_id}


def _take_away(graph: Graph, node_id: int, relations: Sequence[Relation]) -> None:
    for relation in (*relations, Relation.CLOSE):
        graph.remove_from(node_id, relation)
    graph.remove_to(node_id, Relation.CLOSE)
