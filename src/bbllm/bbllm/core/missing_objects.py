"""
Lost objects: what was seen and is no longer there to be seen is a fact, and no object.

Such facts are `(red_cube is lost)`, `(red_cube last_seen_at 0.45 0.16 0.02)` and
`(red_cube unseen_for 12 s)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bbllm.core.types import Fact, Scene

LAST_SEEN_AT = 'last_seen_at'
UNSEEN_FOR = 'unseen_for'


@dataclass(frozen=True, slots=True, kw_only=True)
class LostObject:
    """An object whose place is not known any more."""

    name: str
    position_m: tuple[float, float, float]
    """Where its centre was last, world frame [m]."""
    seen_s: float
    """When that was, on the world's clock [s]."""


def lost_facts(lost: Iterable[LostObject], now_s: float) -> tuple[Fact, ...]:
    """Return the facts of a scene about lost objects at a time on the world's clock [s]."""
    facts: list[Fact] = []
    for item in lost:
        x, y, z = item.position_m
        facts += [
            Fact(item.name, 'is', 'lost'),
            Fact(item.name, LAST_SEEN_AT, f'{x:.3f} {y:.3f} {z:.3f}'),
            Fact(item.name, UNSEEN_FOR, f'{max(0.0, now_s - item.seen_s):.0f} s'),
        ]
    return tuple(facts)


def lost_names(scene: Scene) -> tuple[str, ...]:
    """Return the names of all lost objects."""
    return tuple(
        fact.subject for fact in scene.facts if (fact.predicate, fact.object) == ('is', 'lost')
    )


def lost_text(scene: Scene, name: str) -> str:
    """Return a sentence that an object is lost, where it was last and how long ago."""
    told = {fact.predicate: fact.object for fact in scene.facts if fact.subject == name}
    where = f' at {told[LAST_SEEN_AT]}' if LAST_SEEN_AT in told else ''
    since = f' {told[UNSEEN_FOR]} ago' if UNSEEN_FOR in told else ''
    if not where and not since:
        return f'{name} is lost.'
    return f'{name} is lost: it was last seen{where}{since}.'
