"""Judges a household at the end of an episode, by its graph and not by what a planner saw."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from bbllm.core.text import listed
from bbllm.worlds.household.checks import A, Memory, close_to
from bbllm.worlds.household.checks import ActionSituation as Moment
from bbllm.worlds.household.derived import WORDS, Derived, by_device
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation, State
from bbllm.worlds.household.world import name_of
from bbllm_bench.suites.house_goals import (
    ANYTHING,
    GraphEdge,
    GraphGoal,
    HouseCondition,
    HouseGoal,
    HouseholdGoal,
)
from bbllm_bench.suites.scores import Condition, Score

MOST_NAMED = 3
"""How many objects of a class a reason names."""
_PLACES = (Relation.INSIDE, Relation.ON)
_EDGE_WORDS: Mapping[Relation, str] = {
    **{relation: f'is {relation.value.lower()}' for relation in Relation},
    Relation.CLOSE: 'is close to',
    Relation.FACING: 'faces',
    Relation.HOLDS_RH: 'holds in the right hand',
    Relation.HOLDS_LH: 'holds in the left hand',
}


@dataclass(frozen=True, slots=True)
class HouseView:
    """A household as conditions are checked against it."""

    graph: Graph
    derived: Derived
    """What has become of objects, see worlds.household.derived."""
    seat: int | None = None
    """What the person sat or lay down on last, if that is known: VirtualHome's own rules leave
    it ON all that it ever sat on."""
    only: Mapping[str, int] = field(default_factory=dict)
    """By class: the one object that counts."""

    def of_class(self, class_name: str) -> list[int]:
        """Return the ids of a class that count, sorted."""
        if class_name in self.only:
            return [self.only[class_name]]
        nodes = self.graph.nodes.values()
        return sorted(node.id for node in nodes if node.class_name == class_name)

    def objects_of(self, condition: HouseCondition) -> list[int]:
        """Return the ids of all that a condition may be about, sorted."""
        name = condition.thing or condition.held or ''
        ids = self.of_class(name)
        if name == ANYTHING:
            nodes = self.graph.nodes.values()
            ids = sorted(node.id for node in nodes if Property.GRABBABLE in node.properties)
        if condition.room is None:
            return ids
        rooms = self.of_class(condition.room)
        return [node_id for node_id in ids if self.graph.room_of(node_id) in rooms]

    def fitting(self, condition: HouseCondition) -> list[int]:
        """Return the objects that meet a condition, whatever its count and `not`, sorted."""
        graph = self.graph
        if condition.person:
            me = graph.character
            return [me] if me is not None and self._person_fits(condition, graph.nodes[me]) else []
        found = self.objects_of(condition)
        if condition.held:
            found = [n for n in found if any(graph.sources(n, hand) for hand in HANDS)]
        if condition.is_:
            found = [n for n in found if self._is(n, str(condition.is_), condition.by)]
        if condition.place:
            ways = [(Relation.INSIDE, condition.inside), (Relation.ON, condition.on)]
            there = {
                node_id
                for relation, place in ways
                if place
                for node_id in lying(graph, relation, self.of_class(place))
            }
            found = [n for n in found if n in there]
        return found

    def _person_fits(self, condition: HouseCondition, me: Node) -> bool:
        """
        Whether the person sits or lies, on what the condition names.

        That it is ON something alone is not enough: by VirtualHome's own rules this stays when
        it stands up or walks off. Where it sits it is close to, and sat down last.
        """
        graph = self.graph
        if State(str(condition.person).upper()) not in me.states:
            return False
        seats = graph.targets(me.id, Relation.ON)
        return condition.on is None or any(
            seat in seats
            and self.seat in (None, seat)
            and close_to(A)(Moment(graph, me, (graph.nodes[seat],), Memory()))
            for seat in self.of_class(condition.on)
        )

    def _is(self, node_id: int, word: str, by: str | None) -> bool:
        if word in WORDS:
            return (node_id, word if by is None else by_device(word, by)) in self.derived
        return State(word.upper()) in self.graph.nodes[node_id].states


def judge_household(
    goal: HouseGoal,
    graph: Graph,
    derived: Derived,
    *,
    seat: int | None = None,
    done: Sequence[Action] = (),
) -> Score:
    """
    Score a household as it is now.

    What became of objects, and the last seat, are those of `HouseView`; *done* is what was carried
    out so far.
    """
    house = HouseView(graph, derived, seat)
    match goal:
        case GraphGoal():
            return Score((*_in_graph(goal, graph), *_on_the_way(goal.actions, done)))
        case HouseholdGoal():
            return Score(tuple(_best(goal, house)))


def _in_graph(goal: GraphGoal, graph: Graph) -> Iterator[Condition]:
    for node in goal.nodes:
        text = f'{name_of(graph, node.id)} is {node.state.value.lower()}'
        now = ', '.join(sorted(state.value.lower() for state in graph.nodes[node.id].states))
        met = node.state in graph.nodes[node.id].states
        yield Condition(
            text, '' if met else f'It is not so: {text}. It is {now or "in no state"}.'
        )
    for edge in goal.edges:
        text = edge_text(edge, partial(name_of, graph))
        met = graph.has(edge.from_id, edge.relation, edge.to_id)
        yield Condition(text, '' if met else f'It is not so: {text}.')


def edge_text(edge: GraphEdge, name: Callable[[int], str]) -> str:
    """Return an edge that a goal asks for in words, for example `book_3 is on table_7`."""
    return f'{name(edge.from_id)} {_EDGE_WORDS[edge.relation]} {name(edge.to_id)}'


def action_text(options: Sequence[Action]) -> str:
    """Return the actions of which a goal asks for one, for example `lookat or watch`."""
    return ' or '.join(action.skill for action in options)


def _on_the_way(wanted: Sequence[Sequence[Action]], done: Sequence[Action]) -> Iterator[Condition]:
    """Check that actions were done in their order; after a missing one none counts."""
    rest, missing = iter(done), ''
    for options in wanted:
        text = action_text(options)
        if not missing and not any(action in options for action in rest):
            missing = text
        yield Condition(f'done: {text}', f'Not done: {missing}.' if missing else '')


def _best(goal: HouseholdGoal, house: HouseView) -> list[Condition]:
    """Check all conditions against a household, with the objects of `same` that do best."""
    chosen = product(*(house.of_class(name) for name in goal.same))
    views = [replace(house, only=dict(zip(goal.same, ids))) for ids in chosen]
    # Without any object of such a class no condition about it holds.
    tries = [[_checked(each, view) for each in goal.all] for view in views or [house]]
    return max(tries, key=lambda conditions: sum(one.holds for one in conditions))


def _checked(condition: HouseCondition, house: HouseView) -> Condition:
    graph, fitting = house.graph, house.fitting(condition)
    if (len(fitting) >= condition.count) is not condition.not_:
        return Condition(str(condition))
    if condition.not_:
        which = listed([name_of(graph, node_id) for node_id in fitting[:MOST_NAMED]])
        more = f' and {len(fitting) - MOST_NAMED} more' if len(fitting) > MOST_NAMED else ''
        wanted = str(condition).removeprefix('not: ')
        reported = f'It must not be so: {wanted}. It is, of {which}{more}.'
        return Condition(str(condition), reported)
    ids = house.objects_of(condition)
    if condition.person:
        ids = [] if graph.character is None else [graph.character]
    found = '; '.join(_how_it_is(graph, node_id, house.derived) for node_id in ids[:MOST_NAMED])
    more = f', and {len(ids) - MOST_NAMED} more' if len(ids) > MOST_NAMED else ''
    missing = 'It is not so' if condition.count == 1 else f'Only {len(fitting)}'
    reported = f'{missing}: {condition}. {found[:1].upper()}{found[1:]}{more}.'
    return Condition(str(condition), reported)


def lying(graph: Graph, relation: Relation, places: Iterable[int]) -> set[int]:
    """
    Return what is in or on one of these places, or in or on something that is.

    What is on a plate in the fridge is in the fridge, and fruit in a bowl on the table on the
    table.
    """
    found: set[int] = set().union(*(graph.sources(place, relation) for place in places))
    waiting = [*found]
    while waiting:
        here = waiting.pop()
        # A room leads nowhere else, and what is in the same room is not on one another.
        steps = () if graph.nodes[here].is_room else _PLACES
        for step in steps:
            more = graph.sources(here, step) - found
            found |= more
            waiting.extend(more)
    return found


def _how_it_is(graph: Graph, node_id: int, derived: Derived) -> str:
    """Return where an object is and what it is: `salmon_103 is on kitchencounter_110, heated`."""
    held = any(graph.sources(node_id, hand) for hand in HANDS)
    places = [
        f'{relation.value.lower()} {name_of(graph, other)}'
        for relation in (Relation.ON, Relation.INSIDE)
        for other in sorted(graph.targets(node_id, relation))
    ]
    words = [
        *(['in a hand'] if held else places[:1]),
        *sorted(state.value.lower() for state in graph.nodes[node_id].states),
        *(word for word in WORDS if (node_id, word) in derived),
    ]
    return f'{name_of(graph, node_id)} is {", ".join(words) or "nowhere"}'
