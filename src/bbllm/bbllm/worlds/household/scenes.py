"""The scene of a household graph, as planners receive it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from bbllm.core.instance_names import instance_name
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, Skill
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.graph import CycleError, Graph, Node
from bbllm.worlds.household.vocabulary import CHARACTER, HANDS, Property, Relation

DOMAIN = 'household'
NOWHERE = Pose(position_m=(0.0, 0.0, 0.0))
"""Pose of everything: a household of symbols has places and no positions."""
_LOOSE = frozenset({Property.GRABBABLE, Property.MOVABLE, Property.BODY_PART, Property.PERSON})


def name_of(graph: Graph, node_id: int) -> str:
    """Return an object's name in a scene, for example `salmon_328`."""
    return instance_name(graph.nodes[node_id].class_name, node_id)


def build_scene(
    graph: Graph,
    known: Collection[int],
    derived: DerivedStates,
    skills: Sequence[Skill],
    stamp_s: float,
    *,
    whole: bool = True,
) -> Scene:
    """
    Tell a graph as objects and facts; of CLOSE only what is close to a character is told.

    Args:
        graph: The household.
        known: Ids of what may be told of.
        derived: What has become of objects.
        skills: What can be done.
        stamp_s: When it was looked at [s].
        whole: Whether nothing can be out of sight.
    """
    names = {node_id: name_of(graph, node_id) for node_id in sorted(known)}
    objects = tuple(_object(name, _kind(graph.nodes[node_id])) for node_id, name in names.items())
    facts: list[Fact] = []
    for node_id in names:
        facts.extend(_facts_of(graph, node_id, names, derived))
    return Scene(objects, tuple(skills), tuple(facts), stamp_s, domain=DOMAIN, whole=whole)


def _kind(node: Node) -> Kind:
    if node.is_room:
        return Kind.LOCATION
    if node.class_name == CHARACTER or not _LOOSE.isdisjoint(node.properties):
        return Kind.OTHER
    return Kind.FIXTURE


def _facts_of(
    graph: Graph, node_id: int, names: dict[int, str], derived: DerivedStates
) -> Iterable[Fact]:
    node, name = graph.nodes[node_id], names[node_id]
    for word in sorted(state.value.lower() for state in node.states):
        yield Fact(name, 'is', word)
    for word in derived.of(node_id):
        yield Fact(name, 'is', word)
    for relation in (Relation.INSIDE, Relation.ON):
        for other in _told(graph.targets(node_id, relation), names):
            yield Fact(name, relation.value.lower(), names[other])
    for hand in HANDS:
        for other in _told(graph.sources(node_id, hand), names):
            yield Fact(name, 'held_by', names[other])
    for other in _told(graph.sources(node_id, Relation.CLOSE), names):
        if graph.nodes[other].class_name == CHARACTER and other != node_id:
            yield Fact(name, 'close_to', names[other])
    if node.class_name == CHARACTER:
        for other in _told(graph.targets(node_id, Relation.FACING), names):
            yield Fact(name, 'facing', names[other])
    room = _room(graph, node_id)
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


def _told(ids: Iterable[int], names: dict[int, str]) -> list[int]:
    return sorted(node_id for node_id in ids if node_id in names)


def _room(graph: Graph, node_id: int) -> int | None:
    try:
        return graph.room_of(node_id)
    except CycleError:
        return None
