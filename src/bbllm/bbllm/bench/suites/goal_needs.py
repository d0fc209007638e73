"""Whether a scene has what a goal requires; otherwise no planner could ever reach it."""

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
from bbllm.core.types import Kind, SceneObject
from bbllm.sim.scene_file import SceneFile

CUBES_OF_A_PLUS = 5
CUBES_OF_A_TRIANGLE = 3
CUBES_OF_A_LINE = 2
CORNERS_OF_A_TABLE = 4


def lacks(goal: Goal, scene: SceneFile, out_of_reach: Sequence[str] = ()) -> list[str]:
    """
    Return what a goal requires and a scene lacks, one sentence part each; empty if nothing.

    Args:
        goal: What the table must become.
        scene: The table at the start.
        out_of_reach: Names that do not count, where a goal needs objects that can be moved.
    """
    movable = [item.name for item in scene.movables]
    match goal:
        case Resting():
            places = [item.name for item in (*scene.places, *scene.fixtures)]
            return [*_unknown_names(goal, movable, places), *_circles(goal)]
        case Contained():
            return list(_unknown_goods(goal, movable))
        case Triangle() | ColorLine():
            return list(_missing_colors(goal, scene, out_of_reach))
        case Tower() | Corners() | Hold():
            missing = _missing_blocks(goal, scene, out_of_reach)
        case _:
            near = Counter(item.kind for item in scene.movables if item.name not in out_of_reach)
            missing = _missing_kinds(goal, near[Kind.CUBE], near[Kind.CYLINDER])
    return [f'the goal {goal.kind} needs {text}' for text in missing]


def never_has(goal: Goal, recipe: Recipe) -> list[str]:
    """Return what no scene made by a recipe can have although a goal needs it, one part each."""
    match goal:
        case Triangle() | ColorLine():
            return list(_colors_never_drawn(goal, recipe))
        case Tower() | Corners() | Hold():
            missing = _blocks_never_made(goal, recipe)
            return [f'the goal {goal.kind} needs {text}' for text in missing]
        case Contained():
            sure = [group for group in recipe.things if group.count is None]
            return list(_unknown_goods(goal, [kind for group in sure for kind in group.kinds]))
        case Resting():
            movable = [group.name_of(color) for group in recipe.objects for color in group.palette]
            places = [location_name(index) for index in range(recipe.most_locations)]
            known = _unknown_names(goal, movable, [*places, recipe.table.name])
            return [*known, *_circles(goal)]
    return []


def unmet(needs: str, *, masses: int, fixed: int) -> list[str]:
    """
    Return why what a task needs cannot be found out, one sentence part each.

    Args:
        needs: What has to be found out.
        masses: How many different masses there may be.
        fixed: How many blocks may be fixed.
    """
    if needs == 'weights' and masses < 2:
        return ['needs weights, but all blocks weigh the same; give them `mass`']
    if needs == 'movable' and not fixed:
        return ['needs movable, but no block is fixed; give one `fixed`']
    return []


# --- kinds and names ----------------------------------------------------------------------------


def _missing_kinds(goal: Goal, cubes: int, cylinders: int) -> Iterable[str]:
    match goal:
        case OneSide():
            if not (cubes if goal.things == 'cube' else cylinders):
                yield f'a {goal.things} within reach'
        case LetterL() | PlusSign():
            wanted = goal.least_cubes if isinstance(goal, LetterL) else CUBES_OF_A_PLUS
            if cubes < wanted:
                yield f'{wanted} cubes within reach'
        case PairsASide():
            if not cubes == cylinders == 2:
                yield 'exactly two cubes and two cylinders within reach'
        case Segregated():
            if not (cubes and cylinders):
                yield 'a cube and a cylinder within reach'


def _unknown_goods(goal: Contained, known: Sequence[str]) -> Iterable[str]:
    for name in dict.fromkeys((*goal.inside, *goal.inside.values())):
        if name not in known:
            yield _unknown(goal, name, known)


def _unknown_names(goal: Resting, movable: Sequence[str], places: Sequence[str]) -> Iterable[str]:
    for above, below in goal.on.items():
        for name, known in ((above, movable), (below, [*places, *movable])):
            if name not in known:
                yield _unknown(goal, name, known)


def _unknown(goal: Goal, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f'; did you mean {close[0]!r}?' if close else '.'
    return (
        f'the goal {goal.kind} names {name!r}, which the scene lacks{hint} '
        f'Known: {", ".join(known) or "none"}'
    )


def _circles(goal: Resting) -> Iterable[str]:
    """Yield what is to rest on itself, by however many others in between."""
    reported: set[str] = set()
    for first in goal.on:
        chain = [first]
        while (base := goal.on.get(chain[-1])) is not None and base not in chain:
            chain.append(base)
        if base == first and first not in reported:
            reported.update(chain)
            yield (
                f'the goal {goal.kind} wants {" on ".join([*chain, first])}; in the end '
                'something must rest on a table or a location'
            )


# --- colours ------------------------------------------------------------------------------------


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
    """Name a colour of a goal that no cube has but that is spelled like one that a cube has."""
    there = [item.color for item in near]
    for color in goal.colors:
        close = difflib.get_close_matches(color, there, n=1)
        if close and color not in there:
            return f' (did it mean {close[0]!r} by {color!r}?)'
    return ''


def _listed(items: Sequence[SceneObject]) -> str:
    return ', '.join(item.name for item in items) or 'none'


# --- weights and fixed blocks -------------------------------------------------------------------

Blocks = Tower | Corners | Hold


def _missing_blocks(goal: Blocks, scene: SceneFile, out_of_reach: Sequence[str]) -> Iterable[str]:
    near = [spec for spec in scene.objects if spec.name not in out_of_reach]
    loose = [spec for spec in near if not spec.fixed]
    if isinstance(goal, Corners):
        most = CORNERS_OF_A_TABLE * len(scene.tables)
        if not loose or len(loose if goal.which == 'movable' else near) > most:
            yield f'one to {most} blocks within reach that can be moved'
        if goal.which == 'all' and len(loose) < len(near):
            yield 'blocks of which none is fixed, or which: movable'
        return
    masses = [spec.mass for spec in scene.objects]
    if isinstance(goal, Hold):
        heaviest = [spec for spec in loose if spec.mass == max(masses)]
        if len(heaviest) != 1 or masses.count(max(masses)) != 1:
            yield 'one block that is heavier than all others, within reach and not fixed'
        return
    if len(loose) < goal.height - 1 or len(near) < goal.height:
        yield f'{goal.height} blocks within reach, of which one may be fixed'
    if goal.order == 'on_fixed' and len(loose) == len(near):
        yield 'a block within reach that is fixed to the table'
    if goal.order == 'lighter_up' and len(set(masses)) < len(masses):
        yield 'blocks that all weigh differently'


def _blocks_never_made(goal: Blocks, recipe: Recipe) -> Iterable[str]:
    near = [group for group in recipe.objects if group.reach]
    most, fixed = (sum(greatest(g.count) for g in near), sum(g.fixed for g in near))
    if isinstance(goal, Tower):
        if most < goal.height:
            yield f'{goal.height} blocks within reach, but `generate` makes at most {most}'
        if goal.order == 'on_fixed' and not fixed:
            yield 'a block that is fixed; give a group within reach `fixed: 1`'
    weighs = isinstance(goal, Hold) or (isinstance(goal, Tower) and goal.order == 'lighter_up')
    if weighs and not all(group.mass and group.mass_ratio > 1 for group in recipe.objects):
        yield 'blocks that weigh differently; give every group `mass` and a `mass_ratio` above 1'
