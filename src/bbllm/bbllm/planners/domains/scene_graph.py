"""The surroundings of the robot, by the facts of a scene."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from bbllm.core.naming import class_of
from bbllm.core.skill_calls import plain
from bbllm.core.types import Fact, Kind, Scene, Skill

CHARACTER = 'character'
"""Class of the acting characters in a household; the first one executes the task."""
BETWEEN_OBJECTS = ('inside', 'on')
"""Predicates that relate an object to its place."""
STANCES = ('lost', 'clear', 'empty')
"""States that are always sensed."""
EXPECTED_STATES = frozenset({'clean', 'plugged_in'})
"""States that prompts omit."""
SENSED = frozenset(
    {
        *('on', 'in', 'inside', 'held_by', 'occupied_by', 'in_room', 'close_to', 'near'),
        *('left_of', 'right_of', 'in_front_of', 'behind', 'last_seen_at', 'unseen_for'),
        *('reachable', 'unreachable', 'out_of_reach'),
    }
)
"""Predicates of sensed facts, some of which are marked as estimated because the pose was."""


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """Facts of a scene, by purpose."""

    character: str | None
    """Name of the acting character; None on a table with an arm."""
    close: frozenset[str]
    """Objects that the world takes for close, also those inside something closed."""
    held: tuple[str, ...]
    """Objects in a hand."""
    rooms: Mapping[str, str]
    """The room of each object."""
    states: Mapping[str, tuple[str, ...]]
    """States of each object, for example `('closed', 'off')`."""
    placed: tuple[tuple[str, str, str], ...]
    """(object, `inside` or `on`, its place)."""
    affords: Mapping[str, frozenset[str]]
    """Affordances of each object that has some, for example `{'grabbable'}`."""

    @property
    def hidden(self) -> frozenset[str]:
        """Objects inside a closed one, at any depth."""
        parents: dict[str, list[str]] = {}
        for name, relation, other in self.placed:
            if relation == 'inside':
                parents.setdefault(name, []).append(other)
        shut = {name for name, states in self.states.items() if 'closed' in states}
        around = {name: reached(parents[name], lambda x: parents.get(x, ())) for name in parents}
        return frozenset(name for name in parents if not shut.isdisjoint(around[name]))

    @property
    def reachable(self) -> frozenset[str]:
        """Objects that are close and inside nothing closed."""
        return self.close - self.hidden


Item = TypeVar('Item')


def reached(starts: Iterable[Item], onward: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Return items and all that they lead to, each once, nearest first."""
    found = dict.fromkeys(starts)
    waiting = [*found]
    for item in waiting:
        new = dict.fromkeys(other for other in onward(item) if other not in found)
        found |= new
        waiting += new  # the loop goes on with these
    return waiting


def scene_graph(scene: Scene) -> SceneGraph:
    """Gather the facts of a scene about the character and the objects around it."""
    character = next((name for name in scene.names if class_of(name) == CHARACTER), None)
    close, held, placed = set(), [], []
    rooms: dict[str, str] = {}
    states: dict[str, tuple[str, ...]] = {}
    affords: dict[str, frozenset[str]] = {}
    for fact in scene.facts:
        if fact.predicate == 'is':
            states[fact.subject] = (*states.get(fact.subject, ()), fact.object)
        elif fact.predicate in BETWEEN_OBJECTS:
            placed.append((fact.subject, fact.predicate, fact.object))
        elif fact.predicate == 'affords':
            affords[fact.subject] = affords.get(fact.subject, frozenset()) | {fact.object}
        elif fact.predicate == 'in_room':
            rooms[fact.subject] = fact.object
        elif fact.predicate == 'held_by' and character in (None, fact.object):
            held.append(fact.subject)
        elif fact.predicate == 'close_to' and fact.object == character:
            close.add(fact.subject)
    return SceneGraph(
        character, frozenset(close), tuple(held), rooms, states, tuple(placed), affords
    )


def meant_by(word: str, names: Iterable[str]) -> list[str]:
    """
    Return the names that a word can mean, in their order: that object, else all of the class.

    `kitchen cabinet` and `kitchen_cabinet` are the class `kitchencabinet`.
    """
    names = list(names)
    exact = [name for name in names if _plain(name) == _plain(word)]
    return exact or [name for name in names if _class(name) == squeezed(word)]


def whereabouts(name: str, around: SceneGraph) -> str:
    """Return where an object is: `on the table`, `in the closed fridge`; '' if unknown."""
    if name in around.held:
        return 'in a hand'
    rooms = set(around.rooms.values())
    for item, relation, other in around.placed:
        if item == name and other not in rooms:
            closed = 'closed ' if 'closed' in around.states.get(other, ()) else ''
            how = 'on the' if relation == 'on' else f'in the {closed}'.rstrip()
            return f'{how} {class_of(other)}'
    room = around.rooms.get(name)
    return f'in the {class_of(room)}' if room else ''


def unsearched(scene: Scene) -> tuple[list[str], list[str]]:
    """Return the classes of rooms of which nothing was seen yet, and of closed furniture."""
    around = scene_graph(scene)
    seen = {room for name, room in around.rooms.items() if class_of(name) != CHARACTER}
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    closed = [
        name
        for name, words in around.affords.items()
        if 'closed' in around.states.get(name, ())
        and 'containers' in words
        and 'grabbable' not in words
    ]
    left = (room for room in rooms if room not in seen)
    return [*dict.fromkeys(map(class_of, left))], [*dict.fromkeys(map(class_of, closed))]


def is_open(fact: Fact) -> bool:
    """Return whether a fact is of the open state: estimated, and of no sensed predicate."""
    if not fact.estimated or fact.predicate in SENSED:
        return False
    return not (fact.predicate == 'is' and fact.object in STANCES)


def sensed_only(scene: Scene) -> Scene:
    """Return a scene without the open state; the same scene if it has none."""
    kept = tuple(fact for fact in scene.facts if not is_open(fact))
    return scene if len(kept) == len(scene.facts) else replace(scene, facts=kept)


def classes(scene: Scene) -> list[str]:
    """Return the classes of the objects without characters, sorted."""
    return sorted({class_of(name) for name in scene.names} - {CHARACTER})


def class_scene(scene: Scene) -> Scene:
    """
    Return a scene of classes in place of objects, whose only facts are about hands.

    Where all is offered, tasks name single objects, and calls may do so too.
    """
    kinds = {class_of(item.name): item for item in reversed(scene.objects)}
    held = [fact for fact in scene.facts if fact.predicate == 'held_by']
    single = [x for x in scene.objects if scene.offers_all and class_of(x.name) != x.name]
    return replace(
        scene,
        objects=(*(replace(kinds[name], name=name) for name in classes(scene)), *single),
        facts=(
            *(replace(fact, subject=class_of(fact.subject)) for fact in held),
            *(held if single else ()),
        ),
    )


@lru_cache(maxsize=4096)  # a house has the same names at every step
def squeezed(word: str) -> str:
    """Return a word without separators, in lower case: `kitchencabinet`."""
    return re.sub(r'[\s_-]+', '', word).lower()


_plain = lru_cache(maxsize=4096)(plain)


@lru_cache(maxsize=4096)
def _class(name: str) -> str:
    return squeezed(class_of(name))


def further_skills(scene: Scene, own: Collection[str]) -> tuple[Skill, ...]:
    """Return what a scene wants offered beside a planner's own actions, which name skills."""
    return tuple(s for s in scene.skills if scene.offers_all and s.name not in own)
