"""Blocks that are fixed to the table: `expert` finds out which, however many there are."""

from __future__ import annotations

import math
import random

import pytest
from expert_play import CORNERS, MAKERS, SEEDS, Make, fixed_one, play, table
from felt_blocks import Cube, FeltBlocks

from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.core.events import Ending


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('n_cubes', [2, 3])
def test_the_fixed_block_is_found_and_built_upon(make: Make, seed: int, n_cubes: int) -> None:
    world = table(seed, *[0.1] * n_cubes, fixed=0)
    brief = GoalBrief(goal='tower', needs='movable', order='on_fixed', height=n_cubes)

    episode = play(make, brief, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.on(fixed_one(world)) == 'table'
    assert sum(world.on(name) != 'table' for name in world.cubes) == n_cubes - 1


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('n_fixed', [0, 1, 2, 3])
def test_however_many_are_fixed_the_others_go_to_corners(
    make: Make, seed: int, n_fixed: int
) -> None:
    dice = random.Random(seed)
    stuck = dice.sample(range(3), n_fixed)
    places = {'red_cube': (0.45, -0.15), 'blue_cube': (0.55, 0.0), 'green_cube': (0.45, 0.15)}
    cubes = {name: Cube(*at, fixed=i in stuck) for i, (name, at) in enumerate(places.items())}
    world = FeltBlocks(cubes, seed=seed)

    episode = play(
        make,
        GoalBrief(goal='corners', needs='movable', which='movable', n_fixed=n_fixed),
        world,
    )

    assert episode.ending is Ending.FINISHED, episode.message
    for name, cube in world.cubes.items():
        in_corner = min(math.dist(corner, (cube.x, cube.y)) for corner in CORNERS) < 0.07
        assert in_corner is not cubes[name].fixed
