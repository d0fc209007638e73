"""
Draws puzzles: table, words of the sentence, goal, and moves that solve it.

Each kind has a function that draws one try on an empty table. What does not come out as the
recipe wants it (no room, too easy, no single solution) is a NoRoomError, and is drawn anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.text import listed
from bbllm.scene.scene_file import SceneFile
from bbllm_bench.scene_sampling.clutter import insert, retrieve
from bbllm_bench.scene_sampling.move_search import Piles, TooLargeError, fewest_moves, lower_bound
from bbllm_bench.scene_sampling.placement import Dice, NoRoomError
from bbllm_bench.scene_sampling.puzzle_table import Draft, Moves, PuzzleTable
from bbllm_bench.suites.scene_recipe import PuzzleRecipe, location_name

DEALS = 2000
"""How often piles are drawn."""


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


def draw_puzzle(recipe: PuzzleRecipe, name: str, dice: Dice) -> Puzzle:
    """Draw a puzzle once; raises NoRoomError where this try came to nothing."""
    table = PuzzleTable(name, dice)
    draft = Draft(recipe, table)
    KINDS[recipe.kind](draft)
    if len(draft.moves) < recipe.least:
        raise NoRoomError('it can be done in too few moves')
    table.scatter(draft.recipe.far, far=True)
    if 'still' in draft.goal:  # everything but what the task moves, also what is out of reach
        moved = {name for name, _ in draft.moves}
        draft.goal['still'] = tuple(spec.name for spec in table.specs if spec.name not in moved)
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


def _piles(draft: Draft, piles: Piles) -> list[str]:
    """Put piles on new locations; return the locations."""
    locations = []
    for pile in piles:
        at = draft.table.spot(apart_m=0.11, box=(0.14, 0.62, -0.55, 0.55))
        locations.append(draft.table.location(at))
        for level, color in enumerate(pile):
            draft.table.add('cube', color, at, z=0.04 * level, yaw=0.0)
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


def _reported(locations: Sequence[str], goal: Piles) -> str:
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


def towers(draft: Draft) -> None:
    """Towers to rebuild with few free places."""
    dice, recipe = draft.dice, draft.recipe
    colors = draft.table.colors('cube')[: recipe.n]

    def deal() -> Piles:
        return _dealt(dice, dice.shuffled(colors), recipe.places, recipe.tallest)

    start, goal = _far_apart(draft, deal, deal)
    locations = [location_name(i) for i in range(recipe.places)]
    _solve(draft, start, goal, lambda _, pile: len(pile) < recipe.tallest, locations)
    _piles(draft, start)
    draft.goal |= {'tallest': recipe.tallest}
    draft.words |= {'piles': _reported(locations, goal), 'places': listed(locations)}
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


def partly(draft: Draft) -> None:
    """Towers to rebuild, of which some name a cube out of reach."""
    dice, recipe, table = draft.dice, draft.recipe, draft.table
    colors = table.colors('cube')
    near, far = dice.shuffled(colors[: recipe.n]), colors[recipe.n : recipe.n + 2]
    reported: list[tuple[str, ...]] = []

    def wanted() -> Piles:
        """Draw the towers that are named; what is above a far cube goes to the last location."""
        order, rest = dice.shuffled(near), list[str]()
        goal: list[tuple[str, ...]] = []
        reported.clear()
        for size, color in zip((4, 4, recipe.n - 8), (*far, '')):
            pile, order = order[:size], order[size:]
            cut = dice.number((1, 3)) if color else size
            goal.append(tuple(pile[:cut]))
            rest += pile[cut:]
            reported.append((*pile[:cut], *([color] if color else []), *pile[cut:]))
        return (*goal, tuple(rest))

    start, goal = _far_apart(
        draft, lambda: _dealt(dice, near, recipe.places, recipe.tallest), wanted
    )
    if max(map(len, goal)) > recipe.tallest:
        raise NoRoomError('the last pile is too high')
    locations = [location_name(i) for i in range(recipe.places)]
    _solve(draft, start, goal, lambda _, pile: len(pile) < recipe.tallest, locations)
    _piles(draft, start)
    for color in far:
        table.add('cube', color, table.spot(far=True), far=True)
    draft.goal |= {'tallest': recipe.tallest}
    draft.words |= {
        'piles': _reported(locations[:-1], tuple(reported)),
        'last': locations[-1],
        'places': listed(locations),
        'tallest': str(recipe.tallest),
    }


KINDS: Mapping[str, Callable[[Draft], None]] = {
    'towers': towers,
    'partly': partly,
    'retrieve': retrieve,
    'insert': insert,
}
