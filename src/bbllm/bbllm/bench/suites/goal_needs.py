"""Whether a scene has what a goal speaks of; otherwise no planner could ever reach it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from bbllm.bench.suites.goals import (
    ColorLine,
    Contained,
    Corners,
    Goal,
    Hold,
    LetterL,
    OneSide,
    PairsASide,
    PlusSign,
    Resting,
    Segregated,
    Tower,
    Triangle,
)
from bbllm.bench.suites.scene_recipe import Recipe, greatest, least, location_name
from bbllm.bench.suites.unseen_needs import unseen_lacks, unseen_never_has
from bbllm.core.types import Kind, SceneObject
from bbllm.sim.scene_file import SceneFile

CUBES_OF_A_PLUS = 5
CUBES_OF_A_TRIANGLE = 3
CUBES_OF_A_LINE = 2


def lacks(goal: Goal, scene: SceneFile, out_of_reach: Sequence[str] = ()) -> list[str]:
    """
    Return what a goal speaks of and a scene lacks, one sentence part each; empty where nothing.

    Args:
        goal: What the table shall look like.
        scene: What it looks like at the start.
        out_of_reach: Names that do not count, where a goal needs things that can be moved.
    """
    if isinstance(goal, Resting):
        movable = [item.name for item in scene.movables]
        places = [item.name for item in (*scene.places, *scene.fixtures)]
        return _faults_of_names(goal, movable, places)
    if isinstance(goal, Contained):
        return list(_unknown_goods(goal, [item.name for item in scene.movables]))
    if isinstance(goal, Tower | Corners | Hold):
        return unseen_lacks(goal, scene, out_of_reach)
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


def never_has(goal: Goal, recipe: Recipe) -> list[str]:
    """Return what no scene made by a recipe can have although a goal needs it, one part each."""
    if isinstance(goal, Triangle | ColorLine):
        return list(_colors_never_drawn(goal, recipe))
    if isinstance(goal, Tower | Corners | Hold):
        return unseen_never_has(goal, recipe)
    if isinstance(goal, Contained):
        sure = [group for group in recipe.things if group.count is None]
        return list(_unknown_goods(goal, [kind for group in sure for kind in group.kinds]))
    if not isinstance(goal, Resting):
        return []
    movable = [group.name_of(color) for group in recipe.objects for color in group.palette]
    places = [location_name(index) for index in range(recipe.most_locations)]
    return list(_faults_of_names(goal, movable, [*places, recipe.table.name]))


def _unknown_goods(goal: Contained, known: Sequence[str]) -> Iterable[str]:
    for name in dict.fromkeys((*goal.inside, *goal.inside.values())):
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f'; did you mean {close[0]!r}?' if close else '.'
            yield (
                f'the goal {goal.kind} names {name!r}, which the scene lacks{hint} '
                f'Known: {", ".join(known) or "none"}'
            )


def _faults_of_names(goal: Resting, movable: Sequence[str], places: Sequence[str]) -> list[str]:
    return [*_unknown_names(goal, movable, places), *_circles(goal)]


def _circles(goal: Resting) -> Iterable[str]:
    """Yield what is to rest on itself, by however many others in between."""
    told: set[str] = set()
    for first in goal.on:
        chain = [first]
        while (base := goal.on.get(chain[-1])) is not None and base not in chain:
            chain.append(base)
        if base == first and first not in told:
            told.update(chain)
            yield (
                f'the goal {goal.kind} wants {" on ".join([*chain, first])}; in the end '
                'something must rest on a table or a location'
            )


def _unknown_names(goal: Resting, movable: Sequence[str], places: Sequence[str]) -> Iterable[str]:
    for thing, base in goal.on.items():
        for name, known in ((thing, movable), (base, [*places, *movable])):
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
                f'the cubes within reach are {_listed(near)}{_meant(goal, near)}'
            )
        return
    if len(near) < CUBES_OF_A_LINE:
        yield f'the goal {goal.kind} needs two cubes within reach, but there are {len(near)}'
    strange = [item for item in near if item.color not in goal.colors]
    if strange:
        color = strange[0].color
        close = difflib.get_close_matches(color, goal.colors, n=1)
        hint = f' (did it mean {close[0]!r} by {color!r}?)' if close else ''
        yield (
            f'the goal {goal.kind} has no place for {_listed(strange)}: its colours are '
            f'{", ".join(goal.colors)}{hint}'
        )


def _colors_never_drawn(goal: Triangle | ColorLine, recipe: Recipe) -> Iterable[str]:
    """Yield a fault where too few colours of a goal are among those of cubes within reach."""
    cubes = [group for group in recipe.objects if group.kind == 'cube']
    near = [group for group in cubes if group.reach]
    fitting = {color for group in near for color in group.palette if color in goal.colors}
    # Each colour comes once, and what is out of reach may use it up.
    far = [group for group in cubes if not group.reach and fitting.issuperset(group.palette)]
    gone = sum(least(group.count) for group in far)
    free = max(0, len(fitting) - gone)
    drawn = sum(min(greatest(g.count), len(fitting.intersection(g.palette))) for g in near)
    if isinstance(goal, Triangle):
        wanted = CUBES_OF_A_TRIANGLE
    else:  # all that is within reach belongs to a line
        wanted = max(CUBES_OF_A_LINE, sum(least(group.count) for group in near))
    if (most := min(drawn, free)) < wanted:
        palette = tuple(dict.fromkeys(color for group in near for color in group.palette))
        yield (
            f'the goal {goal.kind} needs {wanted} cubes within reach of the colours '
            f'{", ".join(goal.colors)}, but `generate` draws at most {most} of them'
            f'{_never_drawn(goal, palette)}'
        )


def _never_drawn(goal: Triangle | ColorLine, palette: Sequence[str]) -> str:
    """Name the colours of a goal that are never drawn, each with the nearest that is."""
    words = []
    for color in goal.colors:
        if color not in palette:
            close = difflib.get_close_matches(color, palette, n=1)
            words.append(f'{color!r} (did it mean {close[0]!r}?)' if close else repr(color))
    drawn = f'; those drawn are {", ".join(palette) or "none"}'
    return (f'; it never draws {", ".join(words)}' if words else '') + drawn


def _meant(goal: Triangle, near: Sequence[SceneObject]) -> str:
    """Name a colour of a goal that no cube has but that looks like one that a cube has."""
    there = [item.color for item in near]
    for color in goal.colors:
        close = difflib.get_close_matches(color, there, n=1)
        if close and color not in there:
            return f' (did it mean {close[0]!r} by {color!r}?)'
    return ''


def _listed(items: Sequence[SceneObject]) -> str:
    return ', '.join(item.name for item in items) or 'none'
