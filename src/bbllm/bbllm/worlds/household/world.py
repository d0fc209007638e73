"""The household as a world: symbols only, and VirtualHome's actions for skills."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from bbllm.core.naming import id_of, instance_name
from bbllm.core.protocols import WorldFeatures
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm.worlds.household.checks import close_ids
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import House, load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import FULL, Visibility, visible
from bbllm.worlds.household.vocabulary import CHARACTER, HANDS, Action, Property, Relation

DOMAIN = 'household'
NOWHERE = Pose(position_m=(0.0, 0.0, 0.0))
"""Pose of everything: a household of symbols has places and no positions."""
_LOOSE = frozenset({Property.GRABBABLE, Property.MOVABLE, Property.BODY_PART, Property.PERSON})


def name_of(graph: Graph, node_id: int) -> str:
    """Return an object's name in a scene, for example `salmon_328`."""
    return instance_name(graph.nodes[node_id].class_name, node_id)


LIMIT = 'limit'
"""Predicate of what is to be seen of an object's use."""


def build_scene(
    graph: Graph,
    known: Collection[int],
    derived: DerivedStates,
    skills: Sequence[Skill],
    stamp_s: float,
    *,
    whole: bool = True,
    unseen: Collection[str] = (),
    constraints: Sequence[Constraint] = (),
    offers_all: bool = False,
) -> Scene:
    """
    Return the known nodes of a graph as objects and facts.

    `close_to` is what actions take for close (`checks.close_to`), and only of characters.

    *whole* is whether nothing can be out of sight, *unseen* are derived states that are left out.
    Facts state what is to be seen of *constraints*, such as `takes both hands`.
    *offers_all* is whether tasks ask for any action.
    """
    names = {node_id: name_of(graph, node_id) for node_id in sorted(known)}
    objects = tuple(_object(name, _kind(graph.nodes[node_id])) for node_id, name in names.items())
    characters = [n for n in names if graph.nodes[n].class_name == CHARACTER]
    close = {character: close_ids(graph, character) for character in characters}
    facts: list[Fact] = []
    for node_id in names:
        facts.extend(_facts_of(graph, node_id, names, derived, unseen))
        there = {
            other
            for relation in (Relation.INSIDE, Relation.ON)
            for other in graph.sources(node_id, relation)
        }
        facts += [
            Fact(names[node_id], LIMIT, words)
            for constraint in constraints
            if constraint.class_name == graph.nodes[node_id].class_name
            and (words := constraint.shown(len(there.intersection(names))))
        ]
        for character in characters:
            if node_id in close[character]:
                facts.append(Fact(names[node_id], 'close_to', names[character]))
    return Scene(
        objects,
        tuple(skills),
        tuple(facts),
        stamp_s,
        domain=DOMAIN,
        whole=whole,
        offers_all=offers_all,
    )


def _kind(node: Node) -> Kind:
    if node.is_room:
        return Kind.LOCATION
    if node.class_name == CHARACTER or not _LOOSE.isdisjoint(node.properties):
        return Kind.OTHER
    return Kind.FIXTURE


def _facts_of(
    graph: Graph,
    node_id: int,
    names: dict[int, str],
    derived: DerivedStates,
    unseen: Collection[str],
) -> Iterable[Fact]:
    node, name = graph.nodes[node_id], names[node_id]
    for word in sorted(state.value.lower() for state in node.states):
        yield Fact(name, 'is', word)
    for word in derived.of(node_id):
        if word not in unseen:
            yield Fact(name, 'is', word)
    for relation in (Relation.INSIDE, Relation.ON):
        for other in _reported(graph.targets(node_id, relation), names):
            yield Fact(name, relation.value.lower(), names[other])
    for hand in HANDS:
        for other in _reported(graph.sources(node_id, hand), names):
            yield Fact(name, 'held_by', names[other])
    if node.class_name == CHARACTER:
        for other in _reported(graph.targets(node_id, Relation.FACING), names):
            yield Fact(name, 'facing', names[other])
    room = graph.find_room(node_id)
    if room is not None and room != node_id and room in names:
        yield Fact(name, 'in_room', names[room])
    yield from _affords(name, node.properties)


# A scene is made after every step, and most of its facts never change.
@lru_cache(maxsize=10_000)
def _affords(name: str, properties: frozenset[Property]) -> tuple[Fact, ...]:
    words = sorted(item.value.lower() for item in properties)
    return tuple(Fact(name, 'affords', word) for word in words)


@lru_cache(maxsize=10_000)
def _object(name: str, kind: Kind) -> SceneObject:
    return SceneObject(name=name, kind=kind, pose=NOWHERE)


def _reported(ids: Iterable[int], names: dict[int, str]) -> list[int]:
    return sorted(node_id for node_id in ids if node_id in names)


_PARAMS: tuple[tuple[str, ...], ...] = ((), ('object',), ('object', 'place'))

SKILLS = tuple(Skill(action.skill, _PARAMS[action.arity], action.summary) for action in Action)
"""All actions; not `target`, which a table's skills also take as a pose."""


STEP_S = 1.0
"""Duration of each step: a household of symbols has no clock [s]."""


class HouseholdWorld:
    """
    A household behind `core.protocols.World`.

    Args:
        house: Name of a house, path of a house file or of a graph, the house or graph itself; it
            is not changed.
        mode: Which rules apply.
        visibility: How much of it a scene shows. Only shown objects can be named in a call.
        constraints: Hidden reasons of failures, see `constraints`.

    Raises UnknownNameError, or ConfigError for what is no house.
    """

    def __init__(
        self,
        house: str | Path | House | Graph,
        *,
        mode: Mode = Mode.SANE,
        visibility: Visibility = FULL,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        if isinstance(house, (str, Path)):
            house = load_house(house, strict=mode is Mode.SANE)
        graph = house.graph if isinstance(house, House) else house
        self.household = Household(graph, mode=mode, constraints=constraints)
        self._unseen = frozenset(each.unseen for each in constraints if each.unseen)
        self.lines: list[ScriptLine] = []
        """What was carried out, as lines of a script; steps that were refused are not in it."""
        self.derived = DerivedStates()
        """What has become of objects so far."""
        self.derived.update(self.graph)
        self._visibility = visibility
        self._known: frozenset[int] = frozenset()
        """Ids of what was seen so far."""
        self._steps = 0
        self._scene: Scene | None = None

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(copy=self.copy)

    def copy(self) -> HouseholdWorld:
        """Return a household that goes on by itself from here."""
        other = copy.copy(self)
        other.household, other.derived = self.household.copy(), copy.copy(self.derived)
        other.lines = [*self.lines]
        return other

    @property
    def graph(self) -> Graph:
        """The household as it is now; not to be changed from outside."""
        return self.household.graph

    @property
    def seat(self) -> int | None:
        """Id of what the character sat or lay down on last; None before it has."""
        for line in reversed(self.lines):
            if line.action in (Action.SIT, Action.LIE):
                return line.objects[0][1]
        return None

    @property
    def skills(self) -> tuple[Skill, ...]:
        return SKILLS

    @property
    def time_s(self) -> float:
        """A second for each step that was tried [s]."""
        return self._steps * STEP_S

    def observe(self) -> Scene:
        """Return the character's view of the household."""
        if self._scene is None:
            self._known |= visible(self.graph, self._visibility)
            # How much there is beyond what was seen nobody tells, not even that it is nothing.
            whole = self._visibility.reach == 'full'
            self._scene = build_scene(
                self.graph,
                self._known,
                self.derived,
                SKILLS,
                self.time_s,
                whole=whole,
                unseen=self._unseen,
                constraints=self.household.constraints,
                offers_all=self.household.mode is Mode.EAI,  # its goals name actions, too
            )
        return self._scene

    def execute(self, call: SkillCall) -> Outcome:
        """
        Do one action, or nothing and return why, in VirtualHome's own words.

        The name of the check that failed is the outcome's `raw`, for example `not_close`.
        """
        try:
            checked = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        line = line_of(checked, self.graph)
        self._steps += 1
        self._scene = None
        result = self.household.step(line)
        message = '; '.join(result.messages)
        if not result.succeeded:
            reported = message or f'Nothing came of "{line}", and VirtualHome gives no reason'
            why = CallError(call, Code.PRECONDITION, reported).outcome
            return replace(why, raw=result.broken)
        self.lines.append(line)
        self.derived.update(self.graph, line)
        return Outcome(call=call, status=Status.SUCCEEDED, message=message, duration_s=STEP_S)

    def stop(self) -> None:
        """Do nothing: each action is done at once."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def line_of(call: SkillCall, graph: Graph) -> ScriptLine:
    """Return a checked call as a line of a script, numbered 0 as ProgPrompt's lines are."""
    ids = [node_id for node_id in map(id_of, call.args) if node_id is not None]
    items = tuple((graph.nodes[node_id].class_name, node_id) for node_id in ids)
    return ScriptLine(Action[call.skill.upper()], items)
