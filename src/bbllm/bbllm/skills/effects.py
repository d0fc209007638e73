"""Effects of skills: facts that a call removes and adds."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Protocol

from bbllm.core.types import MOVABLE, Fact, Kind, Scene, SkillCall
from bbllm.skills.containers import is_container, is_deep
from bbllm.skills.placing import PlaceTarget

LOCATION_RADIUS_M = 0.02
"""An object is on a location when its centre is this near to it [m]."""
Names = Mapping[str, Sequence[str]]
"""The names that a word in braces, such as `{held}`, stands for in effects."""


class Effects(Protocol):
    """What has effects."""

    @property
    def removes(self) -> tuple[Fact, ...]: ...

    @property
    def adds(self) -> tuple[Fact, ...]: ...


def names_before(params: Sequence[str], call: SkillCall, scene: Scene) -> Names:
    """Return what words of effects stand for; where an object comes to rest is not among them."""
    held = () if scene.held is None else (scene.held,)
    bears: dict[str, set[str]] = {i.name: set() for i in scene.objects if i.kind in MOVABLE}
    for fact in scene.facts:
        if fact.predicate == 'on' and fact.object in bears:
            bears[fact.object].add(fact.subject)
    return {
        **{f'{{{param}}}': (arg,) for param, arg in zip(params, call.args, strict=True)},
        '{held}': held,
        '{empty hand}': () if held else ('hand',),
        '{uncovered}': [
            name for name, above in bears.items() if above and above == {*call.args[:1]}
        ],
    }


def names_where(call: SkillCall, scene: Scene, target: PlaceTarget | None = None) -> Names:
    """
    Return what an object is on or in once it is placed.

    Without a target, whose place is known, what the call names.
    """
    named = [*call.args] if target is None else [*target.supports, call.args[0]]
    items = [scene.object(name) for name in dict.fromkeys(named) if name in scene.names]
    bodies = [item.name for item in items if item.kind in MOVABLE]
    around = [item.name for item in items if is_deep(item)]
    bowls = [item.name for item in items if is_container(item) and not is_deep(item)]
    marks = [item.name for item in items if item.kind is Kind.LOCATION]
    if target is not None and not marks:
        x, y, _ = target.centre_m
        marks = [
            item.name
            for item in scene.objects
            if item.kind is Kind.LOCATION
            and math.dist(item.pose.position_m[:2], (x, y)) <= LOCATION_RADIUS_M
        ]
    wide = [item.name for item in items if item.kind is Kind.FIXTURE]
    below = () if around else bowls[:1] or bodies or marks[:1] or wide[:1]
    return {
        '{below}': below,
        '{around}': around[:1],
        '{mark}': [name for name in below if name in marks],
    }


def changed(facts: Iterable[Fact], effects: Effects, names: Names) -> tuple[Fact, ...]:
    """Return facts with the effects of a skill."""
    gone = [pattern for each in effects.removes for pattern in _bound(each, names)]
    new = [fact for each in effects.adds for fact in _bound(each, names)]
    return (*(fact for fact in facts if not _is_among(fact, gone)), *new)


def _bound(pattern: Fact, names: Names) -> Iterator[Fact]:
    ends = (names.get(end, (end,)) for end in (pattern.subject, pattern.object))
    for subject, other in product(*ends):
        yield Fact(subject, pattern.predicate, other, estimated=pattern.estimated)


def _is_among(fact: Fact, patterns: Sequence[Fact]) -> bool:
    for pattern in patterns:
        if (
            pattern.subject in ('*', fact.subject)
            and pattern.predicate in ('*', fact.predicate)
            and pattern.object in ('*', fact.object)
        ):
            return True
    return False


def unsure(scene: Scene) -> set[str]:
    """Return the names of objects of which it is not known where they are, or how turned."""
    return {fact.subject for fact in scene.facts if fact.estimated}
