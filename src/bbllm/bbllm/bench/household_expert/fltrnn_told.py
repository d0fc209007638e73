"""What a prompt of FLTRNN or its baselines tells of a house, read for `expert`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bbllm.bench.household_expert.states import turn
from bbllm.bench.household_expert.told_scene import put
from bbllm.core.instance_names import id_of, instance_name
from bbllm.core.types import Fact, Scene
from bbllm.planners.common.scene_graph import BETWEEN_THINGS, surroundings
from bbllm.planners.fltrnn.context_selection import HAND, ROBOT, TOLD_STATES, is_useful
from bbllm.planners.fltrnn.grammar import parse_thing
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.prompting import MEMORY
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.vocabulary import HANDS, Relation
from bbllm.worlds.household.world import HouseholdWorld

_UNSEEN = re.compile(r'; not in sight: ([\w, ]*); rooms: .*; closed: (.*)')
_PLACED = re.compile(r"\('([^']*)', '(\w+)', '([^']*)'\)")
_ID = re.compile(r'(\w+)\(id:(\d+)\)')
_HOW = re.compile(r'((?:\w+\(id:\d+\)(?:, )?)+) (?:is|are) ((?:\w+ and )*\w+)')


@dataclass(frozen=True, slots=True)
class ToldHouse:
    """What the newest memory line of a prompt says."""

    names: frozenset[str]
    """The things and rooms that it names; those of a prompt's examples are not of this house."""
    placed: tuple[tuple[str, str, str], ...]
    """(thing, relation as facts write it, place or `hand`)."""
    states: Mapping[str, tuple[str, ...]]
    """Of things, those that matter to actions."""
    unseen: tuple[str, ...] = ()
    """Classes that are said not to be in sight."""
    closed: frozenset[str] = frozenset()
    """What could be looked into for them."""
    seated: bool = False
    """Whether the robot sits."""

    def scene(self, household: Household) -> Scene:
        """Return a household as it is told to be: what is not told of is as at the start."""
        scene = HouseholdWorld(household.graph, mode=household.mode).observe()
        character = surroundings(scene).character or ''
        told = {thing for thing, _, _ in self.placed}
        facts = [
            fact
            for fact in scene.facts
            if not (
                fact.subject in told and fact.predicate in (*BETWEEN_THINGS, 'held_by', 'in_room')
            )
            and not (
                fact.subject in self.states
                and fact.predicate == 'is'
                and fact.object in TOLD_STATES
            )
        ]
        rooms = {item.name for item in scene.objects if item.kind.value == 'location'}
        for thing, relation, place in self.placed:
            if place == HAND:
                facts.append(Fact(thing, 'held_by', character))
            elif place in rooms:
                facts.append(Fact(thing, 'in_room', place))
            else:
                facts.append(Fact(thing, relation, place))
        facts += [Fact(name, 'is', word) for name, words in self.states.items() for word in words]
        return replace(scene, facts=tuple(facts))

    def only(self, scene: Scene) -> Scene:
        """Return a scene without the things that are not named."""
        character = surroundings(scene).character
        gone = {name for name in scene.names if name not in self.names and name != character}
        return replace(
            scene,
            objects=tuple(item for item in scene.objects if item.name not in gone),
            facts=tuple(f for f in scene.facts if not {f.subject, f.object} & gone),
        )

    def household(self, household: Household) -> Household:
        """Return a household, which changes, with only what is named, where that is told to be."""
        graph = household.graph
        memory = MemoryGraph(HouseholdWorld(graph, mode=household.mode).observe())
        for name in memory.names:
            node_id = id_of(name)
            if node_id is not None and name not in self.names and is_useful(memory, name):
                _forget(graph, node_id)
        self._place(graph)
        for name, words in self.states.items():
            for word in words:
                if (node_id := id_of(name)) in graph.nodes:
                    turn(graph.nodes[node_id].states, word)
        return household

    def _place(self, graph: Graph) -> None:
        me = graph.character
        assert me is not None  # a household has one
        # Nothing is told of what is near.
        graph.remove_from(me, Relation.CLOSE)
        graph.remove_to(me, Relation.CLOSE)
        hands = iter(HANDS)
        for name, relation, place in self.placed:
            thing, other = id_of(name), id_of(place)
            if thing not in graph.nodes:
                continue
            if place == HAND:
                for old in (Relation.ON, Relation.INSIDE):
                    graph.remove_from(thing, old)
                graph.add(me, next(hands), thing)
                graph.add(me, Relation.CLOSE, thing)
            elif other in graph.nodes:
                put(graph, thing, Relation(relation.upper()), other)


def read_told(prompt: str) -> ToldHouse:
    """Read what a prompt tells of the house in which a plan is asked for."""
    line = prompt.rsplit(f'\n{MEMORY}', 1)[-1].partition('\n')[0]
    unseen = _UNSEEN.search(line)
    states = {
        name: tuple(words.split(' and '))
        for names, words in _HOW.findall(line)
        for name in _things(names)
    }
    return ToldHouse(
        names=frozenset(instance_name(word, int(number)) for word, number in _ID.findall(line)),
        placed=tuple(_placed(line)),
        states=states,
        unseen=tuple(unseen[1].split(', ')) if unseen else (),
        closed=frozenset(_things(unseen[2])) if unseen else frozenset(),
        seated=f"('{ROBOT}', 'ON'," in line,
    )


def _placed(line: str) -> Iterator[tuple[str, str, str]]:
    for things, relation, place in _PLACED.findall(line):
        for thing in _things(things):
            yield thing, relation.lower(), parse_thing(place) or place


def _things(text: str) -> Iterator[str]:
    return filter(None, map(parse_thing, text.split(', ')))


def _forget(graph: Graph, node_id: int) -> None:
    for relation in Relation:
        graph.remove_from(node_id, relation)
        graph.remove_to(node_id, relation)
    del graph.nodes[node_id]
