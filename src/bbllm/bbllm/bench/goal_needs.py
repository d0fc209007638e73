"""Whether a scene has what a goal speaks of; otherwise no planner could ever reach it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from bbllm.bench.goals import (
    ColorLine,
    Goal,
    LetterL,
    OneSide,
    PairsASide,
    PlusSign,
    Resting,
    Segregated,
    Triangle,
)
from bbllm.core.types import Kind, SceneObject
from bbllm.sim.scenes import SceneFile

CUBES_OF_A_PLUS = 5
CUBES_OF_A_TRIANGLE = 3


def lacks(goal: Goal, scene: SceneFile, out_of_reach: Sequence[str] = ()) -> list[str]:
    """
    Return what a goal speaks of and a scene lacks, one sentence part each; empty where nothing.

    Args:
        goal: What the table shall look like.
        scene: What it looks like at the start.
        out_of_reach: Names that do not count, where a goal needs things that can be moved.
    """
    if isinstance(goal, Resting):
        return list(_unknown_names(goal, scene))
    near = Counter(item.kind for item in scene.movables if item.name not in out_of_reach)
    cubes = near[Kind.CUBE]
    wanted: list[tuple[bool, str]] = []
    if isinstance(goal, OneSide):
        kind = Kind(goal.things)
        wanted = [(near[kind] > 0, f'a {kind.value} within reach')]
    elif isinstance(goal, LetterL):
        wanted = [(cubes >= goal.least_cubes, f'{goal.least_cubes} cubes within reach')]
    elif isinstance(goal, PlusSign):
        wanted = [(cubes >= CUBES_OF_A_PLUS, f'{CUBES_OF_A_PLUS} cubes within reach')]
    elif isinstance(goal, PairsASide):
        pairs = near[Kind.CUBE] == near[Kind.CYLINDER] == 2
        wanted = [(pairs, 'exactly two cubes and two cylinders within reach')]
    elif isinstance(goal, Segregated):
        both = cubes > 0 and near[Kind.CYLINDER] > 0
        wanted = [(both, 'a cube and a cylinder within reach')]
    elif isinstance(goal, Triangle | ColorLine):
        return list(_missing_colors(goal, scene, out_of_reach))
    return [f'the goal {goal.kind} needs {text}' for holds, text in wanted if not holds]


def _unknown_names(goal: Resting, scene: SceneFile) -> Iterable[str]:
    movable = [item.name for item in scene.movables]
    places = [item.name for item in (*scene.movables, *scene.places, *scene.fixtures)]
    for thing, base in goal.on.items():
        for name, known in ((thing, movable), (base, places)):
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f'; did you mean {close[0]!r}?' if close else '.'
                yield (
                    f'the goal {goal.kind} names {name!r}, which the scene lacks{hint} '
                    f'Known: {", ".join(known) or "none"}'
                )


def _missing_colors(
    goal: Triangle | ColorLine, scene: SceneFile, out_of_reach: Sequence[str]
) -> Iterable[str]:
    cubes = [item for item in scene.movables if item.kind is Kind.CUBE]
    near = [item for item in cubes if item.name not in out_of_reach]
    if isinstance(goal, Triangle):
        fit = [item for item in near if item.color in goal.colors]
        if len(fit) < CUBES_OF_A_TRIANGLE:
            yield (
                f'the goal {goal.kind} needs {CUBES_OF_A_TRIANGLE} cubes within reach of the '
                f'colours {", ".join(goal.colors)}, but there are {len(fit)}; '
                f'the cubes within reach are {_listed(near)}'
            )
        return
    if len(near) < 2:
        yield f'the goal {goal.kind} needs two cubes within reach, but there are {len(near)}'
    for item in near:
        if item.color not in goal.colors:
            close = difflib.get_close_matches(item.color, goal.colors, n=1)
            hint = f' (did you mean {close[0]}?)' if close else ''
            yield (
                f'the goal {goal.kind} has no place for {item.name}: {item.color or "no colour"} '
                f'is none of its colours {", ".join(goal.colors)}{hint}'
            )


def _listed(items: Sequence[SceneObject]) -> str:
    return ', '.join(item.name for item in items) or 'none'
