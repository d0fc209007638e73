"""What is around the one who acts, gathered from the facts of a scene in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from bbllm.core.instance_names import class_of
from bbllm.core.skill_calls import plain
from bbllm.core.types import Scene

HOUSEHOLD = 'household'
"""The domain of a household's scenes."""
CHARACTER = 'character'
"""Class of who acts in a household; the lowest number is the one that is told what to do."""
BETWEEN_THINGS = ('inside', 'on')
"""Predicates that say where a thing is by another thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneGraph:
    """Facts of a scene, by what they are asked for."""

    character: str | None
    """Name of who acts; None on a table, where an arm does."""
    close: frozenset[str]
    """What is within reach of who acts."""
    held: tuple[str, ...]
    """What is in a hand."""
    rooms: Mapping[str, str]
    """The room of a thing."""
    states: Mapping[str, tuple[str, ...]]
    """States of a thing, for example `('closed', 'off')`."""
    placed: tuple[tuple[str, str, str], ...]
    """(thing, `inside` or `on`, other thing)."""

    @property
    def hidden(self) -> frozenset[str]:
        """What is inside something closed, however deep."""
        parents: dict[str, list[str]] = {}
        for thing, relation, other in self.placed:
            if relation == 'inside':
                parents.setdefault(thing, []).append(other)
        shut = {name for name, states in self.states.items() if 'closed' in states}
        found: set[str] = set()
        for thing in parents:
            seen, waiting = {thing}, list(parents[thing])
            while waiting:
                other = waiting.pop()
                if other in shut:
                    found.add(thing)
                    break
                if other not in seen:
                    seen.add(other)
                    waiting += parents.get(other, [])
        return frozenset(found)


def scene_graph(scene: Scene) -> SceneGraph:
    """Gather what a scene says of who acts and of what is around."""
    character = next((name for name in scene.names if class_of(name) == CHARACTER), None)
    close, held, placed = set(), [], []
    rooms: dict[str, str] = {}
    states: dict[str, tuple[str, ...]] = {}
    for fact in scene.facts:
        if fact.predicate == 'is':
            states[fact.subject] = (*states.get(fact.subject, ()), fact.object)
        elif fact.predicate in BETWEEN_THINGS:
            placed.append((fact.subject, fact.predicate, fact.object))
        elif fact.predicate == 'in_room':
            rooms[fact.subject] = fact.object
        elif fact.predicate == 'held_by' and character in (None, fact.object):
            held.append(fact.subject)
        elif fact.predicate == 'close_to' and fact.object == character:
            close.add(fact.subject)
    return SceneGraph(
        character=character,
        close=frozenset(close),
        held=tuple(held),
        rooms=rooms,
        states=states,
        placed=tuple(placed),
    )


def meant_by(word: str, names: Iterable[str]) -> list[str]:
    """
    Return which of the names a word can mean, in the names' order.

    A name itself means that one thing. Else it is the name of a class, however its words are
    put together: `kitchen cabinet` and `kitchen_cabinet` are `kitchencabinet`.
    """
    names = list(names)
    wanted = plain(word)
    exact = [name for name in names if _plain(name) == wanted]
    if exact:
        return exact
    wanted = squeezed(word)
    return [name for name in names if _class(name) == wanted]


def classes(scene: Scene) -> list[str]:
    """Return the classes of what is there, but for who acts, each once and sorted."""
    return sorted({class_of(name) for name in scene.names} - {CHARACTER})


def class_scene(scene: Scene) -> Scene:
    """
    Return a scene of classes in place of things, for a Body that is to answer in classes.

    Of the facts only what is held is left: the others are about one thing, not about its class.
    """
    kinds = {class_of(item.name): item for item in reversed(scene.objects)}
    held = [fact for fact in scene.facts if fact.predicate == 'held_by']
    return replace(
        scene,
        objects=tuple(replace(kinds[name], name=name) for name in classes(scene)),
        facts=tuple(replace(fact, subject=class_of(fact.subject)) for fact in held),
    )


@lru_cache(maxsize=4096)  # a house has the same names at every step
def squeezed(word: str) -> str:
    """Write a word without what stands between its parts: `kitchen cabinet` as one word."""
    return re.sub(r'[\s_-]+', '', word).lower()


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return plain(name)


@lru_cache(maxsize=4096)
def _class(name: str) -> str:
    return squeezed(class_of(name))
