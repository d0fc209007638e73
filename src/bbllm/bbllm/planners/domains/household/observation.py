"""The lists of LLM-State in a household: short names, and no states."""

from collections.abc import Sequence

from bbllm.core.naming import class_of
from bbllm.core.types import Kind, Scene
from bbllm.planners.domains.observation_text import (
    CLOSE,
    HELD,
    MOVABLE_LISTS,
    ROOM,
    ROOMS,
    Observation,
    ShortNames,
)
from bbllm.planners.domains.scene_graph import CHARACTER, scene_graph

HANDLED = frozenset({'grabbable', 'has_switch'})
"""Affordances of objects, which may be containers or surfaces too."""


def lists(scene: Scene, names: ShortNames, moved: Sequence[str] = ()) -> Observation:
    """
    Return the visible rooms, containers, surfaces and objects: `[salmon1 IN fridge1, ...]`.

    An object is in each list that it fits, with what it is on, else in, else its room. The `moved`
    objects, the latest last, end their lists: their places change most.
    """
    around = scene_graph(scene)
    affords = around.affords
    listed = [
        name
        for name in names.by_first_sight(scene.names)
        if name in affords and name not in around.held and class_of(name) != CHARACTER
    ]
    last = {name: i for i, name in enumerate(moved, 1)}
    listed.sort(key=lambda name: last.get(name, 0))
    places = {name: f' IN {names.short(room)}' for name, room in around.rooms.items()}
    rooms = _rooms(scene, names)
    for wanted, word in (('inside', 'IN'), ('on', 'ON')):
        for name, relation, other in around.placed:
            if relation == wanted and names.short(other) not in rooms:
                places[name] = f' {word} {names.short(other)}'
    containers = [name for name in listed if 'containers' in affords[name]]
    surfaces = [name for name in listed if 'surfaces' in affords[name]]
    others = {*containers, *surfaces}
    objects = [name for name in listed if name not in others or HANDLED & affords[name]]
    found: dict[str, Sequence[str]] = {ROOMS: rooms}
    for label, chosen in zip(MOVABLE_LISTS, (containers, surfaces, objects), strict=True):
        found[label] = [names.short(name) + places.get(name, '') for name in chosen]
    return found


def situation(scene: Scene, names: ShortNames) -> Observation:
    """Return what is in the hands, what is close, and the room."""
    around = scene_graph(scene)
    held = [names.short(name) for name in around.held]
    room = around.rooms.get(around.character or '')
    near = [name for name in scene.names if name in around.reachable.difference(around.held)]
    close = [names.short(name) for name in near if class_of(name) != CHARACTER]
    return {HELD: held, CLOSE: close, ROOM: [names.short(room) if room else 'none']}


def _rooms(scene: Scene, names: ShortNames) -> list[str]:
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    return [names.short(name) for name in names.by_first_sight(rooms)]
