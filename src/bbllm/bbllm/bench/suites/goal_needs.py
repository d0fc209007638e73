"""Whether a scene has what a goal requires; otherwise no planner could ever reach it."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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

    What is out of reach does not count, where a goal needs objects that can be moved.
    """
    near = [item for item in scene.movables if item.name not in out_of_reach]
    match goal:
        case Resting():
            places = [item.name for item in (*scene.places, *scene.fixtures)]
            return _unknown_names(goal, [item.name for item in scene.movables], places)
        case Contained():
            return _unknown_goods(goal, [item.name for item in scene.movables])
        case Triangle() | ColorLine():
            return list(_missing_colors(goal, [item for item in near if item.kind is Kind.CUBE]))
        case Tower() | Corners() | Hold():
            missing = _missing_blocks(goal, scene, out_of_reach)
        case _:
            missing = _missing_kinds(goal, Counter(item.kind for item in near))
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
            return _unknown_goods(goal, [kind for group in sure for kind in group.kinds])
        case Resting():
            movable = [group.name_of(color) for group in recipe.objects for color in group.palette]
            places = [location_name(index) for index in range(recipe.most_locations)]
            return _unknown_names(goal, movable, [*places, recipe.table.name])
    return []


def unmet(needs: str, *, masses: int, fixed: int) -> list[str]:
    """Return why it cannot be found out what differs among so many masses and fixed blocks."""
    if needs == 'weights' and masses < 2:
        return ['needs weights, but all blocks weigh the same; give them `mass`']
    if needs == 'movable' and not fixed:
        return ['needs movable, but no block is fixed; give one `fixed`']
    return []


def _nearest(name: str, known: Sequence[str]) -> str:
    """Return the name that is spelled most like one, in quotes; '' where none is."""
    return ''.join(map(repr, difflib.get_close_matches(name, known, n=1)))


# --- kinds and names ----------------------------------------------------------------------------


def _missing_kinds(goal: Goal, near: Counter[Kind]) -> Iterator[str]:
    cubes, cylinders = near[Kind.CUBE], near[Kind.CYLINDER]
    match goal:
        case OneSide(things=things):
            if not near[Kind(things)]:
                yield f'a {things} within reach'
        case LetterL() | PlusSign():
            wanted = goal.least_cubes if isinstance(goal, LetterL) else CUBES_OF_A_PLUS
            if cubes < wanted:
                yield f'{wanted} cubes within reach'
        case PairsASide():
            if not cubes == cylinders == 2:
                yield 'exactly two cubes and two cylinders within reach'
        case _:
            if not (cubes and cylinders):
                yield 'a cube and a cylinder within reach'


def _unknown_goods(goal: Contained, known: Sequence[str]) -> list[str]:
    names = dict.fromkeys((*goal.inside, *goal.inside.values()))
    return [_unknown(goal, name, known) for name in names if name not in known]


def _unknown_names(goal: Resting, movable: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return what there is not, and what is to rest on itself, by others in between or not."""
    faults = [
        _unknown(goal, name, known)
        for pair in goal.on.items()
        for name, known in zip(pair, (movable, [*places, *movable]))
        if name not in known
    ]
    reported: set[str] = set()
    for first in goal.on:
        chain = [first]
        while (base := goal.on.get(chain[-1])) is not None and base not in chain:
            chain.append(base)
        if base == first and first not in reported:
            reported.update(chain)
            circle = ' on '.join([*chain, first])
            end = 'in the end something must rest on a table or a location'
            faults.append(f'the goal {goal.kind} wants {circle}; {end}')
    return faults


def _unknown(goal: Goal, name: str, known: Sequence[str]) -> str:
    close = _nearest(name, known)
    hint = f'; did you mean {close}?' if close else '.'
    return (
        f'the goal {goal.kind} names {name!r}, which the scene lacks{hint} '
        f'Known: {", ".join(known) or "none"}'
    )


# --- colours ------------------------------------------------------------------------------------


def _missing_colors(goal: Triangle | ColorLine, cubes: Sequence[SceneObject]) -> Iterator[str]:
    there = [item.color for item in cubes]
    if isinstance(goal, Triangle):
        n_fit = sum(color in goal.colors for color in there)
        if n_fit < CUBES_OF_A_TRIANGLE:
            # A colour that no cube has may be one that a cube has, misspelled.
            strange = {color: _nearest(color, there) for color in goal.colors}
            meant = (
                f' (did it mean {close} by {color!r}?)'
                for color, close in strange.items()
                if close and color not in there
            )
            yield (
                f'the goal {goal.kind} needs {CUBES_OF_A_TRIANGLE} cubes within reach of the '
                f'colours {", ".join(goal.colors)}, but there are {n_fit}; '
                f'the cubes within reach are {_listed(cubes)}{next(meant, "")}'
            )
        return
    if len(cubes) < CUBES_OF_A_LINE:
        yield f'the goal {goal.kind} needs two cubes within reach, but there are {len(cubes)}'
    others = [item for item in cubes if item.color not in goal.colors]
    if others:
        close = _nearest(others[0].color, goal.colors)
        hint = f' (did it mean {close} by {others[0].color!r}?)' if close else ''
        yield (
            f'the goal {goal.kind} has no place for {_listed(others)}: its colours are '
            f'{", ".join(goal.colors)}{hint}'
        )


def _listed(items: Iterable[SceneObject]) -> str:
    return ', '.join(item.name for item in items) or 'none'


def _colors_never_drawn(goal: Triangle | ColorLine, recipe: Recipe) -> Iterator[str]:
    """Yield a fault where too few colours of a goal are among those of cubes within reach."""
    cubes = [group for group in recipe.objects if group.kind == 'cube']
    near = [group for group in cubes if group.reach]
    palette = list(dict.fromkeys(color for group in near for color in group.palette))
    fitting = set(palette).intersection(goal.colors)
    # Each colour comes once, and what is out of reach may use it up.
    far = [group for group in cubes if not group.reach and fitting.issuperset(group.palette)]
    free = max(0, len(fitting) - sum(least(group.count) for group in far))
    drawn = sum(min(greatest(g.count), len(fitting.intersection(g.palette))) for g in near)
    if isinstance(goal, Triangle):
        wanted = CUBES_OF_A_TRIANGLE
    else:  # all that is within reach belongs to a line
        wanted = max(CUBES_OF_A_LINE, sum(least(group.count) for group in near))
    if (most := min(drawn, free)) < wanted:
        nearest = {color: _nearest(color, palette) for color in goal.colors}
        never = [
            f'{color!r} (did it mean {close}?)' if close else repr(color)
            for color, close in nearest.items()
            if color not in palette
        ]
        yield (
            f'the goal {goal.kind} needs {wanted} cubes within reach of the colours '
            f'{", ".join(goal.colors)}, but `generate` draws at most {most} of them'
            f'{"; it never draws " if never else ""}{", ".join(never)}; '
            f'those drawn are {", ".join(palette) or "none"}'
        )


# --- weights and fixed blocks -------------------------------------------------------------------

Blocks = Tower | Corners | Hold


def _missing_blocks(goal: Blocks, scene: SceneFile, out_of_reach: Sequence[str]) -> Iterator[str]:
    near = [spec for spec in scene.objects if spec.name not in out_of_reach]
    loose = [spec for spec in near if not spec.fixed]
    masses = [spec.mass for spec in scene.objects]
    match goal:
        case Corners():
            most = CORNERS_OF_A_TABLE * len(scene.tables)
            if not loose or len(loose if goal.which == 'movable' else near) > most:
                yield f'one to {most} blocks within reach that can be moved'
            if goal.which == 'all' and len(loose) < len(near):
                yield 'blocks of which none is fixed, or which: movable'
        case Hold():
            heaviest = [spec for spec in loose if spec.mass == max(masses)]
            if len(heaviest) != 1 or masses.count(max(masses)) != 1:
                yield 'one block that is heavier than all others, within reach and not fixed'
        case Tower():
            if len(loose) < goal.height - 1 or len(near) < goal.height:
                yield f'{goal.height} blocks within reach, of which one may be fixed'
            if goal.order == 'on_fixed' and len(loose) == len(near):
                yield 'a block within reach that is fixed to the table'
            if goal.order == 'lighter_up' and len(set(masses)) < len(masses):
                yield 'blocks that all weigh differently'


def _blocks_never_made(goal: Blocks, recipe: Recipe) -> Iterator[str]:
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
