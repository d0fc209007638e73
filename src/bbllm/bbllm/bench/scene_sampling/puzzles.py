"""
Draws puzzles: table, words of the sentence, goal, and moves that solve it.

Each kind has a function that draws one try on an empty table. What does not come out as the
recipe wants it (no room, too easy, no single solution) is a NoRoomError, and is drawn anew.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scipy.optimize import linear_sum_assignment

from bbllm.bench.scene_sampling.move_search import Piles, TooLargeError, fewest_moves, lower_bound
from bbllm.bench.scene_sampling.placement import Dice, NoRoomError, Point
from bbllm.bench.scene_sampling.puzzle_table import NEAR_M, PuzzleTable
from bbllm.bench.suites.puzzle_recipe import PuzzleRecipe
from bbllm.bench.suites.scene_recipe import location_name
from bbllm.core.text import listed
from bbllm.sim.scene_file import SceneFile

Moves = tuple[tuple[str, str], ...]
"""What is picked, and the target of the call that puts it down."""


FORBIDDEN_M = 100.0
"""Way between two objects that an assignment shall not pair [m]."""
DEALS = 2000
"""How often piles are drawn."""
MIRROR_DRAWS = 60
"""How often a point is drawn whose image has to be free too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """One trial of a puzzle."""

    scene: SceneFile
    near: frozenset[str]
    """Names of what shall be within reach; all else shall not."""
    words: Mapping[str, str]
    """For the braces of the instruction."""
    goal: Mapping[str, object]
    """Fields of the goal."""
    solution: Moves


@dataclass
class Draft:
    """A try: the table, and what becomes of it."""

    recipe: PuzzleRecipe
    table: PuzzleTable
    words: dict[str, str] = field(default_factory=dict)
    goal: dict[str, object] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)

    @property
    def dice(self) -> Dice:
        return self.table.dice


def draw_puzzle(recipe: PuzzleRecipe, name: str, dice: Dice) -> Puzzle:
    """Draw a puzzle once; raises NoRoomError where this try came to nothing."""
    table = PuzzleTable(name, dice)
    draft = Draft(recipe, table)
    KINDS[recipe.kind](draft)
    if len(draft.moves) < recipe.least:
        raise NoRoomError('it can be done in too few moves')
    # No cubes, which would be more places to put cubes on.
    table.scatter(draft.recipe.others, far=False, kinds=('cylinder',))
    table.scatter(draft.recipe.far, far=True)
    draft.goal.setdefault('moves', len(draft.moves))
    draft.words['moves'] = str(draft.goal['moves'])
    return Puzzle(
        scene=table.scene(),
        near=table.near(),
        words=draft.words,
        goal=draft.goal,
        solution=tuple(draft.moves),
    )


# --- piles on locations: rules of moves ---------------------------------------------------------


def _piles(draft: Draft, piles: Piles, size: Callable[[str], float]) -> list[str]:
    """Put piles on new locations; return the locations."""
    locations = []
    for pile in piles:
        at = draft.table.spot(apart_m=0.11, box=(0.14, 0.62, -0.55, 0.55))
        locations.append(draft.table.location(at))
        z = 0.0
        for color in pile:
            draft.table.add('cube', color, at, size=size(color), z=z, yaw=0.0)
            z += size(color)
    return locations


def _solve(
    draft: Draft, start: Piles, goal: Piles, allowed: Callable[[str, tuple[str, ...]], bool],
    locations: Sequence[str],
) -> None:  # fmt: skip
    """Fill in goal and moves."""
    try:
        found = fewest_moves(start, goal, allowed)
    except TooLargeError as error:
        raise NoRoomError('its search is too large') from error
    if len(found) < draft.recipe.least:
        raise NoRoomError('it can be done in too few moves')
    piles = [[*pile] for pile in start]
    for color, j in found:
        target = f'{piles[j][-1]}_cube' if piles[j] else locations[j]
        next(pile for pile in piles if pile and pile[-1] == color).pop()
        piles[j].append(color)
        draft.moves.append((f'{color}_cube', target))
    on = {}
    for place, pile in zip(locations, goal, strict=True):
        for below, above in zip((place, *(f'{c}_cube' for c in pile)), pile):
            on[f'{above}_cube'] = below
    draft.goal |= {'on': on, 'on_places': True}


def _told(locations: Sequence[str], goal: Piles) -> str:
    parts = []
    for place, pile in zip(locations, goal, strict=True):
        names = [f'{color}_cube' for color in pile]
        if len(names) == 1:
            parts.append(f'on {place} only {names[0]}')
        elif names:
            parts.append(f'on {place} {", ".join(names)}')
    return '; '.join(parts)


def _dealt(dice: Dice, items: Sequence[str], n: int, tallest: int) -> Piles:
    """Deal objects to piles, each pile of no more than so many."""
    piles: list[list[str]] = [[] for _ in range(n)]
    for item in items:
        piles[dice.one_of([i for i in range(n) if len(piles[i]) < tallest])].append(item)
    return tuple(map(tuple, piles))


def hanoi(draft: Draft) -> None:
    """Cubes of different sizes on a few locations, none ever on a smaller one."""
    dice, n = draft.dice, draft.recipe.n
    tallest = min(n, draft.recipe.tallest)
    colors = draft.table.colors('cube')[:n]
    sizes = {color: 0.062 - min(0.006, 0.038 / n) * i for i, color in enumerate(colors)}
    start, goal = (_dealt(dice, colors, draft.recipe.places, tallest) for _ in range(2))
    locations = _piles(draft, start, lambda color: round(sizes[color], 3))

    def allowed(color: str, pile: tuple[str, ...]) -> bool:
        return len(pile) < tallest and (not pile or sizes[color] < sizes[pile[-1]])

    _solve(draft, start, goal, allowed, locations)
    draft.goal |= {'shrinking': True, 'tallest': tallest}
    draft.words |= {'piles': _told(locations, goal), 'places': listed(locations)}
    draft.words |= {'tallest': str(tallest)}


def towers(draft: Draft) -> None:
    """Towers to rebuild with few free places."""
    dice, recipe = draft.dice, draft.recipe
    colors = draft.table.colors('cube')[: recipe.n]

    def deal() -> Piles:
        return _dealt(dice, dice.shuffled(colors), recipe.places, recipe.tallest)

    start, goal = _far_apart(draft, deal, deal)
    locations = [location_name(i) for i in range(recipe.places)]
    _solve(draft, start, goal, lambda _, pile: len(pile) < recipe.tallest, locations)
    _piles(draft, start, lambda color: 0.04)
    draft.goal |= {'tallest': recipe.tallest}
    draft.words |= {'piles': _told(locations, goal), 'places': listed(locations)}
    draft.words |= {'tallest': str(recipe.tallest)}


def _far_apart(
    draft: Draft, start: Callable[[], Piles], goal: Callable[[], Piles]
) -> tuple[Piles, Piles]:
    """Draw piles until their lower bound is that of the recipe."""
    for _ in range(DEALS):
        piles = start(), goal()
        if lower_bound(*piles) >= draft.recipe.bound:
            return piles
    raise NoRoomError('it can be done in too few moves')


def order(draft: Draft) -> None:
    """Cubes of different heights, one on each location but one, to be sorted by height."""
    dice, n = draft.dice, draft.recipe.n
    colors = draft.table.colors('cube')[:n]
    heights = dict(zip(colors, range(24, 24 + 4 * n, 4), strict=True))
    start = tuple(dice.shuffled([*((color,) for color in colors), ()]))
    locations = _piles(draft, start, lambda color: heights[color] / 1000)
    # From left to right, the lowest first, and the rightmost location free.
    ranked = sorted(range(n + 1), key=lambda i: -draft.table.places[i][1])
    ys = sorted(place[1] for place in draft.table.places)
    if min(b - a for a, b in itertools.pairwise(ys)) < 0.006:
        raise NoRoomError('two locations are as far left as each other')
    goal: list[tuple[str, ...]] = [()] * (n + 1)
    for color, i in zip(colors, ranked, strict=False):
        goal[i] = (color,)
    _solve(draft, start, tuple(goal), lambda _, pile: not pile, locations)
    draft.goal |= {'tallest': 1}


# --- geometry -----------------------------------------------------------------------------------


def _pose(at: Point, z: float, yaw: float | None = None) -> str:
    numbers = f'{at[0]:.4f} {at[1]:.4f} {z:.4f}'
    return numbers if yaw is None else f'{numbers} {yaw:g}'


def _put_aside(draft: Draft, name: str) -> None:
    """Move what is in the way to a free point."""
    at = draft.table.spot()
    draft.moves.append((name, _pose(at, draft.table.size(name)[2] / 2)))


def mirror(draft: Draft) -> None:
    """Cylinders to where cubes are, mirrored in a line that is oblique to the axes."""
    table, dice, n = draft.table, draft.dice, draft.recipe.n
    middle = complex(dice.between(0.40, 0.50), dice.between(-0.12, 0.12))
    slope = math.radians(dice.number((15, 60)) * dice.one_of((-1, 1)))
    along, half = complex(math.cos(slope), math.sin(slope)), dice.between(0.10, 0.16)
    ends = [middle - along * half, middle + along * half]
    a, b = (table.take((end.real, end.imag)) for end in ends)
    for end in (a, b):
        table.location(end)
    along = complex(b[0] - a[0], b[1] - a[1]) / math.dist(a, b)

    def image(point: Point) -> Point:
        offset = complex(point[0] - a[0], point[1] - a[1])
        turned = along * (offset / along).conjugate()
        return round(a[0] + turned.real, 4), round(a[1] + turned.imag, 4)

    colors = [color for color in table.colors('cube') if color not in ('brown', 'violet')][:n]
    images = {}
    for color in colors:
        at, images[color] = _with_image(table, image)
        table.add('cube', color, at)
    blockers = []
    for color in dice.shuffled(colors)[:2]:  # what stands where an image is to be
        x, y = images[color]
        near = (x + dice.between(-0.015, 0.015), y + dice.between(-0.015, 0.015))
        other = next(c for c in table.colors('cylinder') if c not in colors)
        blockers.append(table.add('cylinder', other, near))
    for blocker in blockers:
        _put_aside(draft, blocker)
    for color in colors:
        name = table.add('cylinder', color, table.spot())
        draft.moves.append((name, _pose(images[color], 0.02)))
    still = tuple(f'{color}_cube' for color in colors)
    draft.goal |= {
        'at': {f'{color}_cylinder': images[color] for color in colors},
        'still': still,
        'untouched': still,
    }
    draft.words |= {'line': 'location_A and location_B', 'colors': listed(colors)}


def _with_image(table: PuzzleTable, image: Callable[[Point], Point]) -> tuple[Point, Point]:
    """Return and take a free point whose image is free too."""
    for _ in range(MIRROR_DRAWS):
        at = table.spot()
        try:
            return at, table.take(image(at))
        except NoRoomError:
            table.points.remove(at)
    raise NoRoomError('no room for an image')


def assignment(draft: Draft) -> None:
    """A cube on each cylinder, so that the sum of the ways is least: greed does not find it."""
    table, n = draft.table, draft.recipe.n
    cubes = [table.add('cube', color, table.spot()) for color in table.colors('cube')[:n]]
    colors = table.colors('cylinder')[:n]
    cylinders = [table.add('cylinder', color, table.spot()) for color in colors]
    ways = {(c, d): math.dist(table.xy(c), table.xy(d)) for c in cubes for d in cylinders}
    best = _least_assignment(ways, cubes, cylinders)
    others = (
        _least_assignment({**ways, pair: FORBIDDEN_M}, cubes, cylinders) for pair in best.items()
    )
    second = min(sum(ways[pair] for pair in other.items()) for other in others)
    if not 0.003 <= second - sum(ways[pair] for pair in best.items()) <= 0.012:
        raise NoRoomError('the second best is too near, or too far')
    for by_turns in (_nearest_pairs(ways), _each_its_nearest(cubes, cylinders, ways)):
        if by_turns == best:
            raise NoRoomError('greed finds it')
    draft.moves += best.items()
    draft.goal |= {'on': best, 'still': tuple(cylinders)}


def _least_assignment(
    ways: Mapping[tuple[str, str], float], cubes: Sequence[str], cylinders: Sequence[str]
) -> dict[str, str]:
    costs = [[ways[cube, cylinder] for cylinder in cylinders] for cube in cubes]
    rows, columns = linear_sum_assignment(costs)
    return {cubes[i]: cylinders[j] for i, j in zip(rows, columns, strict=True)}


def _nearest_pairs(ways: Mapping[tuple[str, str], float]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for cube, cylinder in sorted(ways, key=ways.__getitem__):
        if cube not in pairs and cylinder not in pairs.values():
            pairs[cube] = cylinder
    return pairs


def _each_its_nearest(
    cubes: Sequence[str], cylinders: Sequence[str], ways: Mapping[tuple[str, str], float]
) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for cube in cubes:
        free = [cylinder for cylinder in cylinders if cylinder not in pairs.values()]
        pairs[cube] = min(free, key=lambda cylinder: ways[cube, cylinder])
    return pairs


def two_heights(draft: Draft) -> None:
    """The only two groups of cubes whose heights make two given sums, in two towers."""
    table, dice, n = draft.table, draft.dice, draft.recipe.n
    # In tenths of a millimetre, so that few sums are alike.
    sizes = dice.shuffled(range(230, 560))[:n]
    one, other = sizes[:4], sizes[4:8]
    wanted = sum(one), sum(other)
    groups = [group for size in range(1, 7) for group in itertools.combinations(sizes, size)]
    first, second = ([{*group} for group in groups if sum(group) == h] for h in wanted)
    if sum(a.isdisjoint(c) for a in first for c in second) != 1 or max(wanted) > 1900:
        raise NoRoomError('no single choice of cubes, or too high a tower')
    spots = [table.spot(apart_m=0.12, box=(0.3, 0.6, -0.4, 0.4)) for _ in wanted]
    places = [table.location(at) for at in spots]
    occupant = table.add('cylinder', table.colors('cylinder')[0], spots[0])
    other_place = table.location(table.spot())
    draft.moves.append((occupant, other_place))
    on = {occupant: other_place}
    colors = table.colors('cube')
    names = {
        size: table.add('cube', color, table.spot(), size=size / 10_000)
        for size, color in zip(sizes, colors, strict=False)
    }
    tops = []
    for place, group in zip(places, (one, other), strict=True):
        tower = [names[size] for size in sorted(group, reverse=True)]
        draft.moves += zip(tower, (place, *tower), strict=False)
        on |= dict(zip(tower, (place, *tower), strict=False))
        tops.append(tower[-1])
    draft.goal |= {'on': on, 'bare': tuple(tops)}
    draft.words |= {
        'occupant': occupant,
        'other': other_place,
        'one': f'{wanted[0] / 10} mm high on {places[0]}',
        'two': f'{wanted[1] / 10} mm high on {places[1]}',
    }


def shortest_path(draft: Draft) -> None:
    """Two towers in the order of the shortest way through all cubes, from a given one on."""
    table, n = draft.table, draft.recipe.n
    names = [
        table.add('cube', color, table.spot(), size=0.03) for color in table.colors('cube')[:n]
    ]
    ways = [[_apart(table, a, c) for c in names] for a in names]
    (least, order), (second, _) = _shortest_paths(ways)
    if not 0.003 <= second - least <= 0.02:
        raise NoRoomError('the second best is too near, or too far')
    greedy = [0]
    while len(greedy) < n:
        left = [i for i in range(n) if i not in greedy]
        greedy.append(min(left, key=ways[greedy[-1]].__getitem__))
    if tuple(greedy) == order:
        raise NoRoomError('greed finds it')
    path = [names[i] for i in order]
    tops = []
    for tower in (path[: n // 2], path[n // 2 :]):
        place = table.location(table.spot(apart_m=0.11, box=(0.3, 0.6, -0.4, 0.4)))
        draft.moves += zip(tower, (place, *tower), strict=False)
        tops.append(tower[-1])
    draft.goal |= {'on': dict(draft.moves), 'bare': tuple(tops)}
    draft.words |= {'first': names[0], 'half': str(n // 2)}


def _shortest_paths(ways: Sequence[Sequence[float]]) -> list[tuple[float, tuple[int, ...]]]:
    """Return the two shortest paths from the first of some points through all others."""
    n = len(ways)
    # By what was visited, and where that ends: the two shortest ways there (Held and Karp, 1962).
    now: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = {(1, 0): [(0.0, (0,))]}
    for _ in range(n - 1):
        after: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = {}
        for (visited, last), paths in now.items():
            for i in range(n):
                if not visited >> i & 1:
                    after.setdefault((visited | 1 << i, i), []).extend(
                        (way + ways[last][i], (*path, i)) for way, path in paths
                    )
        now = {state: sorted(paths)[:2] for state, paths in after.items()}
    return sorted(path for paths in now.values() for path in paths)[:2]


def gaps(draft: Draft) -> None:
    """A line beside an object that has to be moved first, with gaps that grow."""
    table, dice, n = draft.table, draft.dice, draft.recipe.n
    sizes = dice.shuffled(range(26, 50, 2))[:n]
    first, grows = dice.number((9, 12)), dice.number((2, 4))
    colors = table.colors('cube')[:n]
    cubes = {f'{color}_cube': size for color, size in zip(colors, sizes, strict=True)}
    # The reference is neither the largest nor the smallest.
    reference = sorted(cubes, key=cubes.__getitem__)[n // 2]
    line = [reference, *sorted((c for c in cubes if c != reference), key=lambda c: -cubes[c])]
    offsets, y = {reference: 0.0}, 0.0
    for i, (left, right) in enumerate(itertools.pairwise(line)):
        y -= (cubes[left] + cubes[right]) / 2 + first + grows * i
        offsets[right] = y / 1000
    x = dice.between(0.44, 0.52)
    start = (x, dice.between(0.10, 0.16) - offsets[line[-1]] / 2 - 0.1)
    if math.hypot(*start) > NEAR_M[1] or math.hypot(x, start[1] + offsets[line[-1]]) > NEAR_M[1]:
        raise NoRoomError('the line is too long')
    place = table.location(start)
    other = table.location(table.spot(apart_m=0.12))
    table.points += [(x, start[1] + offset) for offset in offsets.values()]
    if math.dist(table.places[1], (x, table.places[1][1])) < 0.09:
        raise NoRoomError('the second location is in the line')
    occupant = table.add('cylinder', table.colors('cylinder')[0], start)
    blocked = dice.shuffled(line[2:])[:1]
    for name in blocked:  # stands where the line is to be
        at = (round(x + dice.between(-0.02, 0.02), 3), round(start[1] + offsets[name], 3))
        blocker = table.add('cylinder', table.colors('cylinder')[0], at)
        _put_aside(draft, blocker)
    for name, size in cubes.items():
        table.add('cube', name.removesuffix('_cube'), table.spot(), size=size / 1000)
    draft.moves += [(occupant, other), (reference, place)]
    for name in line[1:]:
        at = (x, start[1] + offsets[name])
        draft.moves.append((name, _pose(at, cubes[name] / 2000, 0)))
    draft.goal |= {
        'on': {occupant: other, reference: place},
        'beside': {name: (reference, 0.0, round(offsets[name], 4)) for name in line[1:]},
    }
    draft.words |= {
        'reference': reference,
        'place': place,
        'occupant': occupant,
        'other': other,
        'first': str(first),
        'grows': str(grows),
    }


def packing(draft: Draft) -> None:
    """The boxes that fill a row best, each turned so that it fits in."""
    table, dice, n = draft.table, draft.dice, draft.recipe.n
    # Fingers never grip what is longer than this along its long side, so that they have room.
    longs = dice.shuffled(range(58, 79))[:n]
    shorts = [dice.number((26, 40)) for _ in longs]
    sums = sorted(
        (sum(longs[i] for i in chosen), len(chosen), chosen)
        for size in range(3, 6)
        for chosen in itertools.combinations(range(n), size)
    )
    total, k, chosen = dice.one_of([each for each in sums if 250 <= each[0] <= 300])
    length = total + 2 * (k + 1)
    better = [each for each in sums if total <= each[0] <= length + 8]
    close = [each for each in sums if total - 4 <= each[0] < total]
    if len(better) > 1 or len(close) < 3 or total - close[-1][0] < 2:
        raise NoRoomError('no single best choice, or nothing comes close')
    x, y = dice.between(0.40, 0.46), -length / 2000 + dice.between(-0.05, 0.05)
    depth = max(shorts) + 4
    region = (x, round(x + depth / 1000, 3), round(y, 3), round(y + length / 1000, 3))
    table.places += [(region[0], region[2]), (region[1], region[3])]
    middle, steps = (region[0] + region[1]) / 2, 8
    table.points += [
        (middle, region[2] + (region[3] - region[2]) * i / steps) for i in range(steps + 1)
    ]
    names, first = [], [dice.number((0, 1)) for _ in longs]
    for long, short, along_x in zip(longs, shorts, first, strict=True):
        height = dice.number((30, 42)) / 1000
        size = (
            (long / 1000, short / 1000, height) if along_x else (short / 1000, long / 1000, height)
        )
        yaw = float(dice.number((0, 179)) - 90)
        names.append(
            table.add('cube', table.colors('cube')[0], table.spot(apart_m=0.1), size=size, yaw=yaw)
        )
    y = region[2] + 0.002
    for i in chosen:
        at = (middle, y + longs[i] / 2000)
        draft.moves.append((names[i], _pose(at, table.size(names[i])[2] / 2, 90 * first[i])))
        y += longs[i] / 1000 + 0.002
    inside = tuple(names[i] for i in chosen)
    draft.goal |= {
        'moves': 6,  # which does not give away how many there are to be
        'within': inside,
        'region': region,
        'still': tuple(name for name in names if name not in inside),
    }


# --- sentences to be worked out ------------------------------------------------------------------


def partly(draft: Draft) -> None:
    """Towers to rebuild, of which some name a cube out of reach."""
    dice, recipe, table = draft.dice, draft.recipe, draft.table
    colors = table.colors('cube')
    near, far = dice.shuffled(colors[: recipe.n]), colors[recipe.n : recipe.n + 2]
    told: list[tuple[str, ...]] = []

    def wanted() -> Piles:
        """Draw the towers that are named; what is above a far cube goes to the last location."""
        order, rest = dice.shuffled(near), list[str]()
        goal: list[tuple[str, ...]] = []
        told.clear()
        for size, color in zip((4, 4, recipe.n - 8), (*far, '')):
            pile, order = order[:size], order[size:]
            cut = dice.number((1, 3)) if color else size
            goal.append(tuple(pile[:cut]))
            rest += pile[cut:]
            told.append((*pile[:cut], *([color] if color else []), *pile[cut:]))
        return (*goal, tuple(rest))

    start, goal = _far_apart(
        draft, lambda: _dealt(dice, near, recipe.places, recipe.tallest), wanted
    )
    if max(map(len, goal)) > recipe.tallest:
        raise NoRoomError('the last pile is too high')
    locations = [location_name(i) for i in range(recipe.places)]
    _solve(draft, start, goal, lambda _, pile: len(pile) < recipe.tallest, locations)
    _piles(draft, start, lambda color: 0.04)
    for color in far:
        table.add('cube', color, table.spot(far=True), far=True)
    draft.goal |= {'tallest': recipe.tallest}
    draft.words |= {
        'piles': _told(locations[:-1], tuple(told)),
        'last': locations[-1],
        'places': listed(locations),
        'tallest': str(recipe.tallest),
    }


def errands(draft: Draft) -> None:
    """Errands one after the other, of which only the outcome counts: what stands where by then?"""
    dice, n = draft.dice, draft.recipe.n
    colors = draft.table.colors('cube')[:n]
    start: Piles = tuple(dice.shuffled([*((color,) for color in colors), ()]))
    locations = _piles(draft, start, lambda color: 0.04)
    at = [pile[0] if pile else '' for pile in start]
    said = []
    verbs = ['swap', 'turn', 'if', 'flip']
    for verb in dice.shuffled([*verbs * (draft.recipe.n // 3), 'empty', 'if']):
        said.append(ERRANDS[verb](dice, at, locations))
    goal = tuple((color,) if color else () for color in at)
    _solve(draft, start, goal, lambda _, pile: not pile, locations)
    draft.goal |= {'tallest': 1}
    draft.words |= {'errands': ' '.join(f'{i}) {text}' for i, text in enumerate(said, 1))}


def _swap(at: list[str], i: int, j: int) -> None:
    at[i], at[j] = at[j], at[i]


def _filled(dice: Dice, at: Sequence[str], n: int) -> list[int]:
    """Return so many places that have a cube."""
    return dice.shuffled([i for i, color in enumerate(at) if color])[:n]


def _errand_swap(dice: Dice, at: list[str], locations: Sequence[str]) -> str:
    i, j = _filled(dice, at, 2)
    text = f'Exchange {at[i]}_cube and what then stands on {locations[j]}.'
    _swap(at, i, j)
    return text


def _errand_turn(dice: Dice, at: list[str], locations: Sequence[str]) -> str:
    i, j, k = _filled(dice, at, 3)
    at[i], at[j], at[k] = at[k], at[i], at[j]
    a, b, c = (locations[each] for each in (i, j, k))
    return f'Move what stands on {a} to {b}, what stood there to {c}, and what stood there to {a}.'


def _errand_if(dice: Dice, at: list[str], locations: Sequence[str]) -> str:
    i, j, k, m = _filled(dice, at, 4)
    text = (
        f'If the cube on {locations[i]} then comes before that on {locations[j]} in the '
        f'alphabet, exchange {at[i]}_cube and {at[k]}_cube, else exchange {at[j]}_cube and '
        f'{at[m]}_cube.'
    )
    _swap(at, *((i, k) if at[i] < at[j] else (j, m)))
    return text


def _errand_flip(dice: Dice, at: list[str], locations: Sequence[str]) -> str:
    chosen = _filled(dice, at, 4)
    colors = [at[i] for i in chosen]
    for i, color in zip(chosen, reversed(colors), strict=True):
        at[i] = color
    names = listed([locations[i] for i in chosen])
    return f'Reverse the order of the cubes on {names}, in this order.'


def _errand_empty(dice: Dice, at: list[str], locations: Sequence[str]) -> str:
    (i,) = _filled(dice, at, 1)
    _swap(at, i, at.index(''))
    return f'Move what stands on {locations[i]} to the location that is free then.'


ERRANDS: Mapping[str, Callable[[Dice, list[str], Sequence[str]], str]] = {
    'swap': _errand_swap,
    'turn': _errand_turn,
    'if': _errand_if,
    'flip': _errand_flip,
    'empty': _errand_empty,
}
"""Each does an errand to the colours on the locations, and returns its sentence."""
MARGIN_M = 0.006
"""By how much a description fits one object better than all others [m]."""
AROUND_M = 0.2
"""How far a neighbour may be in the description that counts neighbours [m]."""


def riddles(draft: Draft) -> None:
    """A tower of objects that are described by where they stand."""
    table, dice, recipe = draft.table, draft.dice, draft.recipe
    place = table.location(table.spot(apart_m=0.12, box=(0.3, 0.6, -0.4, 0.4)))
    table.scatter(recipe.n, far=False)  # before the rest is: descriptions are about all of it
    table.scatter(recipe.far, far=True)
    draft.recipe = recipe.model_copy(update={'far': 0})
    tower: list[str] = []
    said = []
    for describe in dice.shuffled([*RIDDLES]):
        text, name = describe(table)
        if name in table.far or name in tower:
            raise NoRoomError('a description is of what will not do')
        tower.append(name)
        said.append(text)
    draft.moves += zip(tower, (place, *tower), strict=False)
    others = {spec.name for spec in table.specs} - {*tower, *table.far}
    draft.goal |= {
        'on': dict(draft.moves),
        'bare': (tower[-1],),
        'still': tuple(sorted(others)),
    }
    draft.words |= {
        'place': place,
        'riddles': '; '.join(f'{i}) {text}' for i, text in enumerate(said, 1)),
    }


def _single(scores: Mapping[str, float], margin: float = MARGIN_M) -> str:
    """Return the name with the highest score, if by far enough."""
    first, second, *_ = sorted(scores, key=lambda name: -scores[name])
    if scores[first] - scores[second] < margin:
        raise NoRoomError('a description fits two objects')
    return first


def _names(table: PuzzleTable, kind: str = '') -> list[str]:
    return [spec.name for spec in table.specs if kind in ('', spec.kind)]


def _apart(table: PuzzleTable, one: str, other: str) -> float:
    return math.dist(table.xy(one), table.xy(other))


def _most_alone(table: PuzzleTable) -> tuple[str, str]:
    ways = {
        name: min(_apart(table, name, other) for other in _names(table) if other != name)
        for name in _names(table)
        if name not in table.far
    }
    return 'the object within reach whose nearest other object is farthest away', _single(ways)


def _most_neighbours(table: PuzzleTable) -> tuple[str, str]:
    counts = {}
    for name in _names(table):
        ways = [_apart(table, name, other) for other in _names(table) if other != name]
        if any(abs(way - AROUND_M) < 0.003 for way in ways):
            raise NoRoomError('a neighbour is about as far as the limit')
        counts[name] = float(sum(way < AROUND_M for way in ways))
    text = f'the object with the most others within {AROUND_M * 100:.0f} cm of it'
    return text, _single(counts, 1.0)


def _between(table: PuzzleTable) -> tuple[str, str]:
    one, other = table.dice.shuffled(_names(table))[:2]
    (ax, ay), (bx, by) = table.xy(one), table.xy(other)
    middle = (ax + bx) / 2, (ay + by) / 2
    ways = {name: -math.dist(table.xy(name), middle) for name in _names(table)}
    name = _single(ways)
    if name in (one, other):
        raise NoRoomError('nothing is between two objects')
    return f'the object that is nearest to the middle between {one} and {other}', name


def _mirrored(table: PuzzleTable) -> tuple[str, str]:
    one = table.dice.one_of(table.far)
    x, y = table.xy(one)
    centre = (x / 2, -y / 2)
    ways = {name: -math.dist(table.xy(name), centre) for name in _names(table) if name != one}
    text = (
        f'the object that is nearest to the middle between the origin (x = y = 0) and the mirror '
        f'image of {one} in the line y = 0'
    )
    return text, _single(ways)


def _same_way(table: PuzzleTable) -> tuple[str, str]:
    near = [name for name in _names(table) if name not in table.far]
    pairs = {
        (a, b): _apart(table, a, b)
        for a, b in itertools.combinations(near, 2)
        if {table.spec(a).kind, table.spec(b).kind} == {'cube', 'cylinder'}
    }
    if len(pairs) < 2:
        raise NoRoomError('there are too few cubes or cylinders')
    (first, way), (_, second) = sorted(pairs.items(), key=lambda item: -item[1])[:2]
    if way - second < MARGIN_M:
        raise NoRoomError('a description fits two objects')
    name = next(name for name in first if table.spec(name).kind == 'cylinder')
    text = (
        'the cylinder of that pair of a cube and a cylinder, both within reach, that are farthest '
        'from each other'
    )
    return text, name


def _closest_pair(table: PuzzleTable) -> tuple[str, str]:
    near = [name for name in _names(table, 'cube') if name not in table.far]
    pairs = {(a, b): -_apart(table, a, b) for a, b in itertools.combinations(near, 2)}
    if len(near) < 3:
        raise NoRoomError('there are too few cubes')
    (first, way), (_, second) = sorted(pairs.items(), key=lambda item: -item[1])[:2]
    arm = {name: -math.hypot(*table.xy(name)) for name in first}
    if way - second < MARGIN_M or abs(arm[first[0]] - arm[first[1]]) < MARGIN_M:
        raise NoRoomError('a description fits two objects')
    text = (
        'of the two cubes within reach that are closest to each other, the one that is nearer to '
        'the origin'
    )
    return text, max(first, key=arm.__getitem__)


def _near_centroid(table: PuzzleTable) -> tuple[str, str]:
    points = [table.xy(name) for name in _names(table, 'cylinder')]
    if not points or len(_names(table, 'cube')) < 2:
        raise NoRoomError('there are too few cubes or cylinders')
    x, y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    ways = {name: -math.dist(table.xy(name), (x, y)) for name in _names(table, 'cube')}
    text = 'the cube that is nearest to the mean of the positions of all cylinders'
    return text, _single(ways)


RIDDLES = (
    _closest_pair,
    _near_centroid,
    _most_alone,
    _most_neighbours,
    _between,
    _mirrored,
    _same_way,
)


KINDS: Mapping[str, Callable[[Draft], None]] = {
    'hanoi': hanoi,
    'towers': towers,
    'order': order,
    'mirror': mirror,
    'assignment': assignment,
    'two_heights': two_heights,
    'shortest_path': shortest_path,
    'gaps': gaps,
    'packing': packing,
    'partly': partly,
    'errands': errands,
    'riddles': riddles,
}
