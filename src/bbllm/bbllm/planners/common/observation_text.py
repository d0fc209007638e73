"""
What LLM-State and Inner Monologue are told of a scene: names in lists, and no states.

Source: Chen et al., LLM-State, section III-A and appendix VI-A. Whether something is open, on or
warm is not told: to keep track of that is the work of the planner. On a table, where positions
matter and things are few, the text is that of the other planners.

What stays comes first, so that a server can keep the beginning of a prompt: lists are in the order
of first sight, furniture before what is moved about, and what has been in a hand last of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.instance_names import class_of
from bbllm.core.types import Kind, Scene
from bbllm.planners.common.prompting import environment
from bbllm.planners.common.scene_graph import CHARACTER, HOUSEHOLD, SceneGraph, scene_graph
from bbllm.planners.common.short_names import ShortNames

HANDLED = frozenset({'grabbable', 'has_switch'})
"""What can be taken or switched is an object, also where it is a container or surface too."""
WORDS = {'inside': 'IN', 'on': 'ON'}


def observation_text(scene: Scene, names: ShortNames) -> str:
    """Write all that is seen, then where the robot is; see `lists_text` and `situation_text`."""
    lists = lists_text(scene, names)
    return f'{lists}\n{situation_text(scene, names)}' if scene.domain == HOUSEHOLD else lists


def lists_text(scene: Scene, names: ShortNames, *, moved: Sequence[str] = ()) -> str:
    """
    Write what is seen: rooms, containers, surfaces and objects: `[salmon1 IN fridge1, ...]`.

    A thing stands in each list that it belongs to; walls and the like, to which nothing can be
    done, in none. A thing is told by what it is on, else by what it is in, else by its room.

    Args:
        scene: What is there.
        names: What things are called.
        moved: Names of things that were taken, the latest last; so they end their lists, as what
            is said of them changes most.
    """
    if scene.domain != HOUSEHOLD:
        return environment(scene)
    around = scene_graph(scene)
    rooms = _rooms(scene)
    affords = _affords(scene)
    told = [
        name
        for name in names.by_first_sight(scene.names)
        if name in affords and name not in around.held and class_of(name) != CHARACTER
    ]
    last = {name: i for i, name in enumerate(moved, 1)}
    told.sort(key=lambda name: last.get(name, 0))
    places = _places(around, rooms)

    def listed(label: str, chosen: Iterable[str]) -> str:
        return f'{label}: [{", ".join(_placed(name, places, names) for name in chosen)}]'

    containers = [name for name in told if 'containers' in affords[name]]
    surfaces = [name for name in told if 'surfaces' in affords[name]]
    others = {*containers, *surfaces}
    objects = [name for name in told if name not in others or HANDLED & affords[name]]
    return '\n'.join(
        [
            rooms_text(scene, names),
            listed('Container List', containers),
            listed('Surface List', surfaces),
            listed('Object List', objects),
        ]
    )


def rooms_text(scene: Scene, names: ShortNames) -> str:
    """Write which rooms there are; of a table, nothing."""
    if scene.domain != HOUSEHOLD:
        return ''
    return f'Room List: [{_names(names.by_first_sight(_rooms(scene)), names)}]'


def situation_text(scene: Scene, names: ShortNames) -> str:
    """Write where the robot is: what it holds, and in a house what it is close to and its room."""
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


def _affords(scene: Scene) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for fact in scene.facts:
        if fact.predicate == 'affords':
            found.setdefault(fact.subject, set()).add(fact.object)
    return found


def _places(around: SceneGraph, rooms: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return of each thing the one place that it is told by, with `inside` or `on`."""
    places = {thing: ('inside', room) for thing, room in around.rooms.items()}
    for wanted in ('inside', 'on'):
        for thing, relation, other in around.placed:
            if relation == wanted and other not in rooms:
                places[thing] = (relation, other)
    return places


def _placed(name: str, places: dict[str, tuple[str, str]], names: ShortNames) -> str:
    if name not in places:
        return names.short(name)
    relation, other = places[name]
    return f'{names.short(name)} {WORDS[relation]} {names.short(other)}'


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
    Return what one description of a scene says that an earlier one did not, and what is gone.

    What is out of sight since the robot is in another room is not told to be gone.
    """
    known, now = _lists(before), _lists(after)
    told = []
    for line in after.split('\n'):
        label, items = _items(line)
        new = [item for item in items if item not in known.get(label, ())]
        gone = set(known.get(label, ())).difference(items)
        if label and label.startswith(('Current', 'You')) and (new or gone):
            told.append(line)  # what is held or near is told in whole
        elif new:
            told.append(f'{label}: [{", ".join(new)}]' if label else line)
    if known.get(ROOM) == now.get(ROOM):
        there = _things(now)
        gone_things = [name for name in _things(known) if name not in there]
        told += [f'{GONE}: [{", ".join(gone_things)}]'] * bool(gone_things)
    return '; '.join(told) or NOTHING_NEW


def _lists(text: str) -> dict[str, list[str]]:
    """Return what a description lists, by label."""
    found: dict[str, list[str]] = {}
    for label, items in map(_items, text.split('\n')):
        found.setdefault(label, []).extend(items)
    return found


def _things(lists: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """
    Return the things that are seen or held, each once: `salmon1` of `salmon1 IN fridge1`.

    What the robot is close to says nothing of it: walls and lamps stand in that list alone, and
    who goes away from them still sees them.
    """
    whole = (label for label in lists if label.endswith(' List') and label != ROOMS)
    named = (lists[label] for label in (*whole, HELD) if label in lists)
    return {item.partition(' ')[0]: None for items in named for item in items}


def _items(line: str) -> tuple[str, list[str]]:
    """Return the label of a list and what is in it; any other line is one item of its own."""
    found = _LISTED.fullmatch(line)
    if found:
        return found['label'], [item for item in found['items'].split(', ') if item]
    label, colon, rest = line.partition(': ')
    return (label, [rest]) if colon and label.startswith('Current') else ('', [line])
