"""
A copy of the start in which things are where an observation in a prompt tells them to be.

For planners that forget: where a prompt no longer tells all that was done, `expert` knows no more
than what it does tell. What was opened, switched or heated before is then as at the start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.bench.household_expert.replay import Replay, Tried
from bbllm.bench.household_expert.states import turn
from bbllm.bench.household_expert.told import Told
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.core.instance_names import class_of, id_of
from bbllm.core.types import Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.planners.common.observation_text import WORDS
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.fltrnn.memory_graph import TURNS
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.sane_checks import above
from bbllm.worlds.household.scenes import name_of
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.vocabulary import HANDS, Relation, State
from bbllm.worlds.household.world import HouseholdWorld

RELATIONS = {word: Relation(relation.upper()) for relation, word in WORDS.items()}
SO_ALREADY = 'so_already'
"""Why a step fails that makes what is so."""

_PLACED = re.compile(r'(\w+) (IN|ON) (\w+)')
_LINE = r'^{}: \[?([^\[\]\n]*)\]?$'


class Moved:
    """
    What `expert` was told, with things moved to where an observation tells them to be.

    Args:
        told: The case.
        observation: What `planners.observation_text` wrote at that time.
    """

    def __init__(self, told: Told, observation: str):
        self._told = told
        self._observation = observation
        self._places = {thing: (how, place) for thing, how, place in _PLACED.findall(observation)}
        household, _ = told.case()
        world = HouseholdWorld(household.graph, visibility=told.visibility())
        self.names = _named(world, [*self._places, *self._listed('Current Holding')])
        """What the planner calls things, as far as can be told."""

    def case(self) -> tuple[Household, HouseholdGoal]:
        """Return the household with all moved, each time a new one, and the goal."""
        household, goal = self._told.case()
        graph = household.graph
        for short, (how, place) in self._places.items():
            thing, other = self._id(short), self._id(place)
            if thing is not None and other is not None:
                put(graph, thing, RELATIONS[how], other)
        self._place_character(graph)
        return household, goal

    def visibility(self) -> Visibility:
        """Return how much the planner is told."""
        return self._told.visibility()

    def _place_character(self, graph: Graph) -> None:
        me = graph.character
        assert me is not None  # a household has one
        for relation in (Relation.INSIDE, Relation.CLOSE, *HANDS):
            graph.remove_from(me, relation)
        graph.remove_to(me, Relation.CLOSE)
        for room in self._ids('Current Room'):
            graph.add(me, Relation.INSIDE, room)
        for near in self._ids('You are close to'):
            graph.add(me, Relation.CLOSE, near)
            graph.add(near, Relation.CLOSE, me)
        for hand, thing in zip(HANDS, self._ids('Current Holding'), strict=False):
            for relation in (Relation.ON, Relation.INSIDE):
                graph.remove_from(thing, relation)
            graph.add(me, hand, thing)
            graph.add(me, Relation.CLOSE, thing)
            for room in self._ids('Current Room'):
                graph.add(thing, Relation.INSIDE, room)

    def _listed(self, label: str) -> list[str]:
        found = re.search(_LINE.format(label), self._observation, re.MULTILINE)
        return [item for item in found[1].split(', ') if item] if found else []

    def _ids(self, label: str) -> list[int]:
        ids = map(self._id, self._listed(label))
        return [node_id for node_id in ids if node_id is not None]

    def _id(self, short: str) -> int | None:
        name = self.names.name(short)
        return None if name is None else id_of(name)


class Believing(Replay):
    """
    A replay that learns from what it cannot explain: some state is not as it believes.

    Where a door may be shut that it believes open, that is likelier than a thing without a grip.
    """

    def __init__(self, told: Told, history: Sequence[Tried], names: ShortNames):
        self._sure: set[int] = set()
        """Ids of doors and devices whose state the history tells."""
        super().__init__(told, history, names)

    def _do(self, call: SkillCall) -> None:
        """Do again what succeeded; whatever had to be open or shut, on or off for it, was so."""
        ids = [node_id for node_id in map(id_of, call.args) if node_id is not None]
        if call.skill in TURNS:
            was, _ = TURNS[call.skill]
            self._believe(ids[0], was)
            self._sure.add(ids[0])
        graph = self.world.graph
        for thing in ids:
            for other in above(graph, thing):
                if not graph.nodes[other].is_room:
                    self._believe(other, 'open')
        if call.skill == 'putin':
            self._believe(ids[-1], 'open')
        super()._do(call)

    def _why_not(self, call: SkillCall) -> str:
        broken = super()._why_not(call)
        ids = [n for name in call.args if (n := id_of(name)) in self.world.graph.nodes]
        if broken or not ids:
            return broken
        if call.skill in TURNS:
            _, now = TURNS[call.skill]
            self._believe(ids[0], now)
            self._sure.add(ids[0])
            super()._do(call)  # it fails now as it did, and the world is looked at anew
            return SO_ALREADY
        shut = self._doors(call.skill, ids) - self._sure
        for door in shut:
            self._believe(door, 'closed')
        return 'inside_closed' if shut else ''

    def _doors(self, skill: str, ids: Sequence[int]) -> set[int]:
        """Return what has to be open for a thing to be taken or put, and is believed to be."""
        if skill not in ('grab', 'putin'):
            return set()
        graph = self.world.graph
        around = {*above(graph, ids[-1]), *ids[1:]}
        return {n for n in around if State.OPEN in graph.nodes[n].states}

    def _believe(self, thing: int, word: str) -> None:
        turn(self.world.graph.nodes[thing].states, word)


def put(graph: Graph, thing: int, relation: Relation, place: int) -> None:
    """Move a thing, if it is not there; what is near it is no longer."""
    if graph.has(thing, relation, place):
        return
    for old in (Relation.ON, Relation.INSIDE, Relation.CLOSE):
        graph.remove_from(thing, old)
    graph.remove_to(thing, Relation.CLOSE)
    graph.add(thing, relation, place)
    room = graph.room_of(place)
    if room is not None and relation is Relation.ON:
        graph.add(thing, Relation.INSIDE, room)


def _named(world: HouseholdWorld, told: list[str]) -> ShortNames:
    """
    Name things as a planner did: exactly what is seen at the start, the rest in their order.

    Which of two eggs it saw first later on, no prompt tells; they are taken in order of their
    numbers.
    """
    names = ShortNames()
    names.see(world.observe())
    unseen = [
        name for node_id in sorted(world.graph.nodes)
        if names.short(name := name_of(world.graph, node_id)) == name
    ]  # fmt: skip
    wanted = {re.sub(r'\d+$', '', short) for short in told}
    later = [name for name in unseen if class_of(name) in wanted]
    nowhere = Pose(position_m=(0.0, 0.0, 0.0))
    things = tuple(SceneObject(name=name, kind=Kind.OTHER, pose=nowhere) for name in later)
    names.see(Scene(things, (), (), 0.0, domain='household'))
    return names
