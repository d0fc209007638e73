"""
How often two formulations of a goal disagree, over thousands of tables near its thresholds.

A table is within the band where the first formulation would say something else if its tolerances
were a little tighter or wider (see `banded`). Outside it the two must agree on all but one table;
over all tables, though these were made to be hard, on all but a few.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from layouts import (
    CUBES_RIGHT,
    EDGE_M,
    LETTER,
    LINE,
    PAIRS,
    PLUS,
    RAINBOW,
    SEGREGATED,
    TRIANGLE,
    Spot,
    judged,
    moved,
    pattern,
    table,
)
from unseen_layouts import BY_WEIGHT, CORNERS, HEAVIEST, NAMES, small_table, weighing

from bbllm.bench.scorers.judging import judge
from bbllm.bench.suites.goals import Goal
from bbllm.bench.suites.scores import FinalState, Verdict
from bbllm.core.types import Kind

TABLES = 500
BAND = 0.02
"""Share by which tolerances are tightened and widened, and pitches moved in."""
BAND_DEG = 1.0
WIDER = {
    *('still_m', 'straight_m', 'centre_m', 'location_m', 'residual_edges'),
    *('near_m', 'corner_m'),
}
"""Tolerances that let more pass where they are greater."""
NEAREST_M = 0.9 * EDGE_M
"""How near the middles of two things may be: what stands on another may be seen a little low."""
MOST_DISPUTED = 0.01
MOST_DISPUTED_BEYOND = 1


def shaken(rng: random.Random, spots: dict[str, Spot], scale_m: float) -> dict[str, Spot]:
    """Shake all a little and one of them more."""
    for name in list(spots):
        spots = moved(spots, name, rng.gauss(0, scale_m / 4), rng.gauss(0, scale_m / 4))
    return moved(spots, rng.choice(list(spots)), rng.gauss(0, scale_m), rng.gauss(0, scale_m))


def clutter(rng: random.Random, count: int) -> dict[str, Spot]:
    """Make cubes anywhere, near to what is in the middle of the table or not."""
    names = [f'grey_cube_{index}' for index in range(count)]
    return {name: (rng.gauss(0.5, 0.15), rng.gauss(-0.1, 0.2)) for name in names}


def overlap(situation: FinalState) -> bool:
    """Tell whether things are nearer than two cubes that touch, which no table can show."""
    spots = [
        item.pose.position_m
        for item in situation.objects.values()
        if item.kind in (Kind.CUBE, Kind.CYLINDER)
    ]
    return any(math.dist(a, b) < NEAREST_M for a, b in itertools.combinations(spots, 2))


def drawn(
    make: Callable[[random.Random], FinalState], rng: random.Random, count: int
) -> Iterator[FinalState]:
    """Yield tables that could be."""
    tables = (make(rng) for _ in itertools.count())
    return itertools.islice((one for one in tables if not overlap(one)), count)


def sides(rng: random.Random) -> FinalState:
    names = ['red_cube', 'blue_cube', 'grey_cylinder', 'white_cylinder']
    spots: dict[str, Spot] = {
        name: (rng.uniform(0.3, 0.7), sign * max(-0.02, rng.gauss(0.05, 0.04)))
        for name, sign in zip(names, (-1, -1, 1, 1))
    }
    return table(shaken(rng, spots, 0.01), start=spots)


def a_line(rng: random.Random) -> FinalState:
    colors = sorted(rng.sample(RAINBOW, rng.randint(2, 7)), key=RAINBOW.index)
    if rng.random() < 0.2:
        rng.shuffle(colors)
    pitch, x, y = rng.uniform(0.038, 0.105), rng.gauss(0.5, 0.06), rng.gauss(0, 0.06)
    spots: dict[str, Spot] = {
        f'{color}_cube': (x, y + pitch * ((len(colors) - 1) / 2 - index))
        for index, color in enumerate(colors)
    }
    return table({**shaken(rng, spots, 0.015), **clutter(rng, rng.randint(0, 1))})


def pairs(rng: random.Random) -> FinalState:
    places: dict[str, Spot] = {
        f'location_{letter}': (rng.uniform(0.3, 0.7), sign * rng.uniform(0.0, 0.4))
        for letter, sign in zip('ABCDEF', (1, 1, 1, -1, -1, -1))
    }
    things = ['red_cube', 'grey_cylinder', 'blue_cube', 'white_cylinder']
    chosen = zip(things, ('location_A', 'location_B', 'location_D', 'location_E'))
    spots = {name: places[place] for name, place in chosen}
    return table({**places, **shaken(rng, spots, 0.012)})


def a_triangle(rng: random.Random) -> FinalState:
    names = ['red_cube', 'pink_cube', 'salmon_cube']
    spots: dict[str, Spot] = {
        name: (rng.gauss(0.5, 0.07), rng.gauss(-0.15, 0.07)) for name in names
    }
    return table({**spots, **clutter(rng, rng.randint(0, 2))})


def an_l(rng: random.Random) -> FinalState:
    cells = rng.choice([(0, 1, 2, -1j), (0, 1, 2, -1j, -2j), (0, 1, 2, 3, -1j, -2j)])
    spots = pattern(cells, rng.uniform(0.038, 0.105), turn_deg=rng.gauss(0, 6))
    return table({**shaken(rng, spots, 0.012), **clutter(rng, rng.randint(0, 2))})


def a_plus(rng: random.Random) -> FinalState:
    spots = pattern((0, 1, -1, 1j, -1j), rng.uniform(0.038, 0.105), turn_deg=rng.gauss(0, 8))
    return table({**shaken(rng, spots, 0.015), **clutter(rng, rng.randint(0, 2))})


def a_tower(rng: random.Random) -> FinalState:
    """Three cubes on each other, or two with the third beside, in an order that may be wrong."""
    names = rng.sample(NAMES, 3)
    if rng.random() < 0.7:
        names.sort(key=NAMES.index)
    spots: dict[str, Spot] = {}
    for level, name in enumerate(names):
        z = EDGE_M / 2 + level * EDGE_M + rng.gauss(0, 0.004) * (level > 0)
        spots[name] = (0.5 + rng.gauss(0, 0.006), rng.gauss(0, 0.006), z)
    if rng.random() < 0.1:
        spots[names[2]] = (0.4, 0.1)
    return weighing(small_table(spots))


def at_corners(rng: random.Random) -> FinalState:
    spots: dict[str, Spot] = {}
    for name, (sx, sy) in zip(NAMES, rng.sample([(1, 1), (1, -1), (-1, 1), (-1, -1)], 3)):
        x, y = 0.5 + sx * (0.18 - rng.uniform(0, 0.07)), sy * (0.3 - rng.uniform(0, 0.07))
        spots[name] = (x, y)
    return small_table(spots)


def in_the_hand(rng: random.Random) -> FinalState:
    spots: dict[str, Spot] = {'red_cube': (0.4, 0.1), 'green_cube': (0.6, -0.1)}
    held = rng.choice(NAMES)
    z = EDGE_M / 2 + rng.uniform(0.0, 0.1)
    return weighing(
        small_table({'blue_cube': (0.5, 0.0), **spots, held: (0.5, 0.2, z)}), held=held
    )


MAKERS: dict[str, tuple[Goal, Callable[[random.Random], FinalState]]] = {
    'one_side': (CUBES_RIGHT, sides),
    'segregated': (SEGREGATED, sides),
    'color_line': (LINE, a_line),
    'pairs_a_side': (PAIRS, pairs),
    'triangle': (TRIANGLE, a_triangle),
    'letter_l': (LETTER, an_l),
    'plus_sign': (PLUS, a_plus),
    'tower': (BY_WEIGHT, a_tower),
    'corners': (CORNERS, at_corners),
    'hold': (HEAVIEST, in_the_hand),
}


def banded(goal: Goal, sign: int) -> Goal:
    """Return a goal with all tolerances wider (1) or tighter (-1) by the band."""
    wider = 1 + sign * BAND
    changes: dict[str, object] = {}
    for name, value in goal:
        if name in WIDER:
            changes[name] = value * wider
        elif name in ('margin_m', 'apart_edges', 'raised_m'):
            changes[name] = value / wider
        elif name in ('pitch_edges', 'side_edges', 'gap_m'):
            changes[name] = (value[0] / wider, value[1] * wider)
        elif name == 'turn_deg':
            changes[name] = value + sign * BAND_DEG
        elif name == 'angle_deg':
            changes[name] = value - sign * BAND_DEG
    return goal.model_copy(update=changes)


def is_borderline(goal: Goal, situation: FinalState) -> bool:
    tight, wide = (not judge(banded(goal, sign), situation).faults[0] for sign in (-1, 1))
    return tight != wide


@pytest.mark.parametrize(('goal', 'make'), MAKERS.values(), ids=MAKERS.keys())
def test_formulations_agree_but_on_the_borderline(
    goal: Goal, make: Callable[[random.Random], FinalState]
) -> None:
    rng = random.Random(7)
    verdicts: Counter[Verdict] = Counter()
    beyond = 0
    for situation in drawn(make, rng, TABLES):
        verdict = judged(goal, situation).verdict
        verdicts[verdict] += 1
        if verdict is Verdict.DISPUTED and not is_borderline(goal, situation):
            beyond += 1

    print(goal.kind, dict(verdicts), 'disputed beyond the band:', beyond)
    # The tables are hard ones only where many pass and many fail.
    assert min(verdicts[Verdict.PASSED], verdicts[Verdict.FAILED]) > TABLES / 20
    assert verdicts[Verdict.DISPUTED] <= MOST_DISPUTED * TABLES
    assert beyond <= MOST_DISPUTED_BEYOND
