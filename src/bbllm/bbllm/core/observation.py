"""
What a planner sees and feels after an action, and which objects it no longer sees.

The record as a line, as in prompts:

    red_cube: [0.450 -0.100 0.020 0.000 0.000 0.131 0.991] EEF: [...] Force: [...] Gripper: [...]

Positions in metres and quaternions as x y z w, both in the world frame; force in newtons, in world
axes; the gripper as what each of the two fingers is open [m].

A lost object, seen and no longer there to be seen, is a fact and no object: `(red_cube is lost)`,
`(red_cube last_seen_at 0.45 0.16 0.02)` and `(red_cube unseen_for 12 s)`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.types import MOVABLE, Fact, Pose, Scene

MOVED_M = 0.01
"""What is farther than this from where it was has moved [m]."""
IN_HAND_M = 0.03
"""What is nearer than this to the tool centre point was in the hand [m]."""
NOT_MEASURED = 'not measured'
"""What stands for a force that nothing measures."""

Seven = tuple[float, float, float, float, float, float, float]
Three = tuple[float, float, float]
Two = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Poses as x y z qx qy qz qw, in the world frame [m]."""

    blocks: Mapping[str, Seven] = field(default_factory=dict)
    """Pose of the centre of each movable object, in the scene's order."""
    eef: Seven | None = None
    """Pose of the tool centre point."""
    force_n: Three | None = None
    """External force on the hand, in world axes; None where it is not measured [N]."""
    fingers_m: Two | None = None
    """How far each finger is from the middle [m]."""

    def __str__(self) -> str:
        parts = [f'{name}: [{_numbers(pose)}]' for name, pose in self.blocks.items()]
        if self.eef is not None:
            parts.append(f'EEF: [{_numbers(self.eef)}]')
        force = NOT_MEASURED if self.force_n is None else _numbers(self.force_n, 2)
        parts.append(f'Force: [{force}]')
        if self.fingers_m is not None:
            parts.append(f'Gripper: [{_numbers(self.fingers_m)}]')
        return ' '.join(parts)


def observed(scene: Scene) -> Observed:
    """Return the blocks and the hand of a scene."""
    hand = scene.hand
    return Observed(
        blocks={item.name: _seven(item.pose) for item in scene.objects if item.kind in MOVABLE},
        eef=None if hand is None else _seven(hand.tcp),
        force_n=None if hand is None else hand.force_n,
        fingers_m=None if hand is None else (hand.width_m / 2, hand.width_m / 2),
    )


def last_moves(observations: Iterable[Observed]) -> Mapping[str, int]:
    """Return in which observation, by number, each object was first in its last place."""
    places: dict[str, Seven] = {}
    moves: dict[str, int] = {}
    for number, seen in enumerate(observations):
        for name, pose in seen.blocks.items():
            was = places.setdefault(name, pose)
            if math.dist(was[:3], pose[:3]) > MOVED_M:
                places[name], moves[name] = pose, number
    return moves


def as_seen(scene: Scene, seen: Observed) -> Scene:
    """Return a scene as it was observed: where what moves was, and what was in the hand."""
    places = {name: Pose(position_m=p[:3], quat_xyzw=p[3:]) for name, p in seen.blocks.items()}
    items = (item for item in scene.objects if item.kind not in MOVABLE or item.name in places)
    held = [
        Fact(name, 'held_by', 'hand')
        for name, pose in seen.blocks.items()
        if seen.eef and math.dist(pose[:3], seen.eef[:3]) < IN_HAND_M
    ]
    near = [fact for fact in scene.facts if fact.predicate == 'reachable']
    objects = tuple(replace(item, pose=places.get(item.name, item.pose)) for item in items)
    return replace(scene, objects=objects, facts=(*near, *held))


def _seven(pose: Pose) -> Seven:
    return (*pose.position_m, *pose.quat_xyzw)


def _numbers(values: Sequence[float], digits: int = 3) -> str:
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return ' '.join(f'{round(value, digits) + 0.0:.{digits}f}' for value in values)


def held_names(scene: Scene | None) -> tuple[str, ...]:
    """Return what is in a hand; nothing where there is no scene."""
    facts = () if scene is None else scene.facts
    return tuple(fact.subject for fact in facts if fact.predicate == 'held_by')


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
    return tuple(
        fact.subject for fact in scene.facts if (fact.predicate, fact.object) == ('is', 'lost')
    )


def lost_text(scene: Scene, name: str) -> str:
    """Return a sentence that an object is lost, where it was last and how long ago."""
    reported = {fact.predicate: fact.object for fact in scene.facts if fact.subject == name}
    where = f' at {reported[LAST_SEEN_AT]}' if LAST_SEEN_AT in reported else ''
    since = f' {reported[UNSEEN_FOR]} ago' if UNSEEN_FOR in reported else ''
    if not where and not since:
        return f'{name} is lost.'
    return f'{name} is lost: it was last seen{where}{since}.'
