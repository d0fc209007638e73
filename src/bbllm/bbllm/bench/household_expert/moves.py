"""
The actions that matter to a condition, said in classes as a planner says them.

A class means what it would mean to a planner whose policy is `nearest`: what was gone to last,
else what is close, else what is in the room. So a plan that is found here keeps its meaning when
it is told in classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from bbllm.bench.household_expert.costs import makers_of, of_class, shut_around
from bbllm.bench.optimal.zones import held_by
from bbllm.bench.suites.house_goals import ANYTHING, HouseCondition
from bbllm.bench.suites.household import things_of
from bbllm.core.instance_names import id_of, instance_name
from bbllm.worlds.household.derived import USED, WORDS, Derived, derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import FULL, Visibility, visible
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation, State

GOING = frozenset({Action.WALK, Action.RUN, Action.FIND})
PUTTING = frozenset({Action.PUTIN, Action.PUTBACK})

Said = tuple[Action, tuple[str, ...]]
"""An action and the classes that it is done to."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A household on the way, with what a planner remembers of the way."""

    household: Household
    derived: Derived
    found: int | None = None
    """What was gone to last."""
    lines: tuple[ScriptLine, ...] = ()
    sight: Visibility = FULL
    known: frozenset[int] | None = None
    """Ids of what can be named; None: everything."""
    gripless: frozenset[int] = frozenset()
    """Ids of what no move grabs, as it has slipped out of a hand."""
    by_id: bool = False
    """Whether the planner names things, so that it grabs whichever it means of a class."""
    only: Mapping[str, int] = field(default_factory=dict)
    """By class: the one thing that is to fit all conditions."""

    @classmethod
    def beginning(
        cls,
        household: Household,
        *,
        seen: Iterable[tuple[int, str]] = (),
        found: int | None = None,
        sight: Visibility = FULL,
    ) -> Standing:
        """Return how a planner begins in a household, of which it sees as much as `sight`."""
        known = None if sight.reach == 'full' else visible(household.graph, sight)
        return cls(household, derived(household.graph, seen), found, sight=sight, known=known)

    def after(self, said: Said) -> Standing | None:
        """Return how it is after an action; None where it cannot be done."""
        line = self.grounded(said)
        if line is None or not self.household.can(line):
            return None
        household = self.household.copy()
        if not household.step(line).succeeded:
            return None
        return replace(
            self,
            household=household,
            derived=derived(household.graph, self.derived, line),
            found=line.objects[0][1] if said[0] in GOING else self.found,
            lines=(*self.lines, line),
            known=self._known_in(household.graph),
        )

    def _known_in(self, graph: Graph) -> frozenset[int] | None:
        if self.known is None:
            return None
        now = visible(graph, self.sight)
        return now | self.known if self.sight.accumulating else now

    def grounded(self, said: Said) -> ScriptLine | None:
        """Return an action on things; None where there is none of a class."""
        action, words = said
        ids = [self._thing(action, i, word) for i, word in enumerate(words)]
        things = tuple(
            (self.household.graph.nodes[node_id].class_name, node_id)
            for node_id in ids
            if node_id is not None
        )
        return ScriptLine(action, things) if len(things) == len(words) else None

    def _thing(self, action: Action, i: int, word: str) -> int | None:
        graph = self.household.graph
        ids = [n for n in of_class(graph, word) if self.known is None or n in self.known]
        if self.by_id and (node_id := id_of(word)) in graph.nodes:
            return node_id
        if action in PUTTING and i == 0:
            held = held_by(graph)
            return next((node_id for node_id in ids if node_id in held), None)
        if action not in GOING and self.found in ids:
            return self.found
        return _nearest(graph, ids)


@dataclass(slots=True)
class Focus:
    """Classes that matter to a condition, by what is done to them."""

    taken: set[str] = field(default_factory=set)
    into: set[str] = field(default_factory=set)
    onto: set[str] = field(default_factory=set)
    switched: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    seats: set[str] = field(default_factory=set)

    @property
    def all(self) -> set[str]:
        """All of them."""
        return (
            self.taken | self.into | self.onto | self.switched | self.opened | self.closed
        ) | self.seats


def focus_on(condition: HouseCondition, graph: Graph) -> Focus:
    """Return what matters to a condition."""
    focus = Focus()
    if condition.person:
        focus.seats = {
            node.class_name
            for node in graph.nodes.values()
            if Property.SITTABLE in node.properties and condition.on in (None, node.class_name)
        }
        return focus
    things = {graph.nodes[node_id].class_name for node_id in things_of(condition, graph)}
    if condition.thing == ANYTHING:
        things = _on_a(condition.place, graph) | _classes(graph, held_by(graph))
    if condition.held == ANYTHING:
        things = _classes(graph, held_by(graph))
    if condition.is_ in ('on', 'off'):
        focus.switched = set(things)
    elif condition.is_ in ('open', 'closed'):
        focus.opened = focus.closed = set(things)
        focus.switched = set(things)  # what is on cannot be opened
    elif condition.is_ in WORDS:
        focus.taken = set() if condition.is_ == USED else set(things)
        focus.into, focus.switched = makers_of(graph, str(condition.is_), condition.by)
        focus.into = set() if condition.is_ == USED else focus.into
        focus.closed = {  # with its door open it does nothing to what is inside
            node.class_name
            for node in graph.nodes.values()
            if node.class_name in focus.into and Property.CAN_OPEN in node.properties
        }
    if condition.place or condition.held:
        focus.taken |= things
        focus.into |= {condition.inside} if condition.inside else set()
        focus.onto = {condition.on} if condition.on else set()
        if condition.not_:
            focus.onto = _surfaces(graph) if condition.held else _surfaces_near(graph, condition)
            focus.into = set()
    return focus


def moves(standing: Standing, focus: Focus) -> Iterator[Said]:
    """Yield what could be done next about it."""
    graph = standing.household.graph
    ids = [node_id for name in sorted(focus.all) for node_id in of_class(graph, name)]
    shut = _classes(graph, (other for node_id in ids for other in shut_around(graph, node_id)))
    held = _classes(graph, held_by(graph))
    rooms = _classes(graph, (room for n in ids if (room := graph.room_of(n)) is not None))
    # Next to what things are taken out of, one of its class means one that is still in there.
    out_of = _classes(graph, (n for name in focus.taken for n in _containers(graph, name)))
    for name in sorted(focus.all | shut | out_of | rooms):
        yield Action.WALK, (name,)
    for name in sorted(focus.taken):
        yield from _grabs(standing, name)
    for name in sorted(shut | focus.opened | focus.into):
        yield Action.OPEN, (name,)
    for name in sorted(focus.closed):
        yield Action.CLOSE, (name,)
    if not held & focus.taken:  # what works on a thing is switched on when that is in its place
        for name in sorted(focus.switched):
            yield Action.SWITCHON, (name,)
    for name in sorted(focus.switched | shut | focus.into):
        yield Action.SWITCHOFF, (name,)
    for name in sorted(focus.seats):
        yield Action.SIT, (name,)
    if graph.character is not None and State.SITTING in graph.nodes[graph.character].states:
        yield Action.STANDUP, ()
    yield from _puts(graph, focus, held)


def _grabs(standing: Standing, name: str) -> Iterator[Said]:
    """Yield grabbing one of a class; where things are named, the first of those that are alike."""
    if not standing.by_id:
        yield Action.GRAB, (name,)
        return
    graph = standing.household.graph
    kinds = set()
    for n in of_class(graph, name):
        words = frozenset(word for thing, word in standing.derived if thing == n)
        places = (frozenset(graph.targets(n, each)) for each in (Relation.INSIDE, Relation.ON))
        kind = (*places, frozenset(graph.nodes[n].states), words)
        line = ScriptLine(Action.GRAB, ((name, n),))
        if n not in standing.gripless and kind not in kinds and standing.household.can(line):
            kinds.add(kind)
            yield Action.GRAB, (instance_name(name, n),)


def _puts(graph: Graph, focus: Focus, held: set[str]) -> Iterator[Said]:
    for name in sorted(held & focus.taken):
        for place in sorted(focus.into):
            yield Action.PUTIN, (name, place)
        for place in sorted(focus.onto):
            yield Action.PUTBACK, (name, place)
    if len(held_by(graph)) == len(HANDS):
        me = graph.character
        assert me is not None  # it holds something
        near = _classes(graph, graph.targets(me, Relation.CLOSE)) & _surfaces(graph)
        for name in sorted(held - focus.taken):
            for place in sorted(near):
                yield Action.PUTBACK, (name, place)


def _nearest(graph: Graph, ids: Iterable[int]) -> int | None:
    """Choose as `planners.grounding` does by the policy `nearest`."""
    me = graph.character
    assert me is not None  # a household has one
    here, close, held = graph.room_of(me), graph.targets(me, Relation.CLOSE), held_by(graph)

    def distance(node_id: int) -> int:
        if node_id in close or node_id in held:
            return 1
        return 2 if here is not None and graph.room_of(node_id) == here else 3

    return min(ids, key=distance, default=None)


def _classes(graph: Graph, ids: Iterable[int]) -> set[str]:
    return {graph.nodes[node_id].class_name for node_id in ids}


def _containers(graph: Graph, name: str) -> Iterator[int]:
    """Yield what can be opened and has things of a class in it."""
    for node_id in of_class(graph, name):
        for place in graph.targets(node_id, Relation.INSIDE):
            if Property.CAN_OPEN in graph.nodes[place].properties:
                yield place


def _on_a(name: str | None, graph: Graph) -> set[str]:
    """Return the classes of what lies on or in things of a class."""
    places = of_class(graph, name or '')
    lying = {
        thing
        for place in places
        for relation in (Relation.ON, Relation.INSIDE)
        for thing in graph.sources(place, relation)
    }
    return _classes(graph, (n for n in lying if Property.GRABBABLE in graph.nodes[n].properties))


def _surfaces_near(graph: Graph, condition: HouseCondition) -> set[str]:
    """Return a surface in the rooms of a place, on which what is taken from there can be put."""
    rooms = {graph.room_of(place) for place in of_class(graph, condition.place or '')}
    others = _surfaces(graph) - {condition.place}
    found = {
        node.class_name
        for node_id, node in graph.nodes.items()
        if node.class_name in others and graph.room_of(node_id) in rooms
    }
    return set(sorted(found)[:1])


def _surfaces(graph: Graph) -> set[str]:
    return {
        node.class_name
        for node in graph.nodes.values()
        if Property.SURFACES in node.properties
        and not {Property.GRABBABLE, Property.SITTABLE, Property.LIEABLE} & node.properties
        and node.category not in ('Floor', 'Floors')
    }
