"""
The text of a scene for LLM-State and Inner Monologue: names in lists, and no states.

Source: Chen et al., LLM-State, section III-A and appendix VI-A. States such as open, on or warm
are omitted: the planner has to track them. On a table, where positions matter and objects are few,
the text is that of the other planners.

Constant parts come first, so that a server can cache the beginning of a prompt: lists are in the
order of first sight, furniture before movable objects, and objects that were in a hand last.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.naming import class_of
from bbllm.core.types import Kind, Scene
from bbllm.planners.common.prompting import environment
from bbllm.planners.common.scene_graph import CHARACTER, HOUSEHOLD, scene_graph
from bbllm.planners.common.short_names import ShortNames

HANDLED = frozenset({'grabbable', 'has_switch'})
"""Affordances of objects, which may be containers or surfaces too."""


def observation_text(scene: Scene, names: ShortNames) -> str:
    """Return the visible objects and the robot's place; see `lists_text`, `situation_text`."""
    lists = lists_text(scene, names)
    return f'{lists}\n{situation_text(scene, names)}' if scene.domain == HOUSEHOLD else lists


def lists_text(scene: Scene, names: ShortNames, *, moved: Sequence[str] = ()) -> str:
    """
    Return the visible rooms, containers, surfaces and objects: `[salmon1 IN fridge1, ...]`.

    An object is in each list that it fits; walls and other objects without affordances are in
    none. Its place is the object that it is on, else the one that it is in, else its room. The
    objects that were taken, the latest last, end their lists: their places change most.
    """
    if scene.domain != HOUSEHOLD:
        return environment(scene)
    around = scene_graph(scene)
    affords: dict[str, set[str]] = {}
    for fact in scene.facts:
        if fact.predicate == 'affords':
            affords.setdefault(fact.subject, set()).add(fact.object)
    listed = [
        name
        for name in names.by_first_sight(scene.names)
        if name in affords and name not in around.held and class_of(name) != CHARACTER
    ]
    last = {name: i for i, name in enumerate(moved, 1)}
    listed.sort(key=lambda name: last.get(name, 0))
    places = {name: f' IN {names.short(room)}' for name, room in around.rooms.items()}
    rooms = _rooms(scene)
    for wanted, word in (('inside', 'IN'), ('on', 'ON')):
        for name, relation, other in around.placed:
            if relation == wanted and other not in rooms:
                places[name] = f' {word} {names.short(other)}'

    def line(label: str, chosen: Iterable[str]) -> str:
        placed = (names.short(name) + places.get(name, '') for name in chosen)
        return f'{label}: [{", ".join(placed)}]'

    containers = [name for name in listed if 'containers' in affords[name]]
    surfaces = [name for name in listed if 'surfaces' in affords[name]]
    others = {*containers, *surfaces}
    objects = [name for name in listed if name not in others or HANDLED & affords[name]]
    return '\n'.join(
        [
            rooms_text(scene, names),
            line('Container List', containers),
            line('Surface List', surfaces),
            line('Object List', objects),
        ]
    )


def rooms_text(scene: Scene, names: ShortNames) -> str:
    """Return the list of rooms; empty for a table."""
    if scene.domain != HOUSEHOLD:
        return ''
    return f'Room List: [{_names(names.by_first_sight(_rooms(scene)), names)}]'


def situation_text(scene: Scene, names: ShortNames) -> str:
    """Return the contents of the hands, and in a house the close objects and the room."""
    around = scene_graph(scene)
    held = _names(around.held, names)
    if scene.domain != HOUSEHOLD:
        return f'Current Holding: [{held}]'
    room = around.rooms.get(around.character or '')
    near = [name for name in scene.names if name in around.close]
    close = [name for name in near if name not in around.held and class_of(name) != CHARACTER]
    return '\n'.join(
        [
            f'Current Holding: [{held}]',
            f'You are close to: [{_names(close, names)}]',
            f'Current Room: {names.short(room) if room else "none"}',
        ]
    )


def _rooms(scene: Scene) -> list[str]:
    return [item.name for item in scene.objects if item.kind is Kind.LOCATION]


def _names(chosen: Iterable[str], names: ShortNames) -> str:
    return ', '.join(map(names.short, chosen))


NOTHING_NEW = 'nothing new'
GONE = 'No longer seen'
ROOM = 'Current Room'
HELD = 'Current Holding'
ROOMS = 'Room List'

_LISTED = re.compile(r'(?P<label>[^:\[\]]+): \[(?P<items>[^\[\]]*)\]')


def changes(before: str, after: str) -> str:
    """
    Return what is new in a description of a scene, and which objects are gone.

    Objects that are out of sight because the robot changed rooms are not listed as gone.
    """
    known, now = _lists(before), _lists(after)
    new_lines = []
    for line in after.split('\n'):
        label, items = _items(line)
        new = [item for item in items if item not in known.get(label, ())]
        gone = set(known.get(label, ())).difference(items)
        if label and label.startswith(('Current', 'You')) and (new or gone):
            new_lines.append(line)  # hands and near objects are listed as a whole
        elif new:
            new_lines.append(f'{label}: [{", ".join(new)}]' if label else line)
    if known.get(ROOM) == now.get(ROOM):
        there = _objects(now)
        if lost := [name for name in _objects(known) if name not in there]:
            new_lines.append(f'{GONE}: [{", ".join(lost)}]')
    return '; '.join(new_lines) or NOTHING_NEW


def _lists(text: str) -> dict[str, list[str]]:
    """Return the lists of a description, by label."""
    found: dict[str, list[str]] = {}
    for label, items in map(_items, text.split('\n')):
        found.setdefault(label, []).extend(items)
    return found


def _objects(lists: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """
    Return the objects in sight or in a hand, each once: `salmon1` of `salmon1 IN fridge1`.

    The list of close objects is ignored: walls and lamps are in that list alone, and stay visible
    when the robot goes away.
    """
    whole = (label for label in lists if label.endswith(' List') and label != ROOMS)
    named = (lists[label] for label in (*whole, HELD) if label in lists)
    return {item.partition(' ')[0]: None for items in named for item in items}


def _items(line: str) -> tuple[str, list[str]]:
    """Return the label of a list and its items; any other line is one item."""
    found = _LISTED.fullmatch(line)
    if found:
        return found['label'], [item for item in found['items'].split(', ') if item]
    label, colon, rest = line.partition(': ')
    return (label, [rest]) if colon and label.startswith('Current') else ('', [line])
