"""`expert` finds out weights and fixed blocks, and then builds."""

import math
import random

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode
from bbllm.core.registry import load_planner
from bbllm.core.tasks import make_task
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.oracle.model import expert
from bbllm_bench.suites.goals import Corners, Hold, Tower
from tests.doubles.felt_blocks import Cube, FeltBlocks

# --- Episodes of `expert` with each planner that it knows, on tables of cubes on paper

SEEDS = range(5)

CORNERS = tuple((0.5 + i * 0.18, j * 0.3) for i in (1, -1) for j in (1, -1))
STANDING = {'level_m': 0.01, 'tilt_deg': 18.0}
HEAVIEST = Hold(kind='hold', which='heaviest', raised_m=0.05, **STANDING)
ALL_CORNERS = Corners(kind='corners', which='all', corner_m=0.08, still_m=0.01, **STANDING)
MOVABLE_CORNERS = ALL_CORNERS.model_copy(update={'which': 'movable'})


def tower(order: str, height: int = 2) -> Tower:
    stated = {'kind': 'tower', 'order': order, 'height': height}
    return Tower.model_validate({**stated, 'near_m': 0.02, 'still_m': 0.01, **STANDING})


def play(planner: str, brief: GoalBrief, world: FeltBlocks) -> Episode:
    run = EpisodeRun(make_task('the task', 'test'), planner=planner, brain='expert', body='none')
    brain = run.model(expert(brief.model_dump()), 'brain')
    return run.execute(load_planner(planner).build(brain, brain, k=3), world)


def table(seed: int, *masses: float, fixed: int | None = None, **options: object) -> FeltBlocks:
    """Lay cubes of given masses apart from each other, in an order that the seed shuffles."""
    dice = random.Random(seed)
    places = [(0.42, -0.15), (0.58, -0.1), (0.45, 0.05), (0.57, 0.17)]
    dice.shuffle(places)
    names = ['red_cube', 'blue_cube', 'green_cube'][: len(masses)]
    dice.shuffle(names)
    cubes = {
        name: Cube(x, y, yaw=dice.uniform(-0.8, 0.8), mass_kg=mass, fixed=i == fixed)
        for i, (name, mass, (x, y)) in enumerate(zip(names, masses, places, strict=False))
    }
    listed = dict(sorted(cubes.items()))
    bias = dice.uniform(-1.0, 1.0)
    return FeltBlocks(listed, seed=seed, bias_n=bias, **options)  # type: ignore[arg-type]


def by_mass(world: FeltBlocks) -> list[str]:
    return sorted(world.cubes, key=lambda name: -world.cubes[name].mass_kg)


# --- `expert` and `uninformed` in whole episodes of the planners, on a table of paper


@pytest.fixture(params=['llm_pop', 'llm_pop_no_evaluator'])
def planner(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize('seed', SEEDS)
def test_weights_that_are_close_are_felt_again(planner: str, seed: int) -> None:
    world = table(seed, 0.05, 0.06)

    episode = play(planner, GoalBrief(goal=HEAVIEST, needs='weights'), world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert 'wait' in world.calls
    assert world.held == by_mass(world)[0]


def test_a_pile_the_wrong_way_round_is_taken_down_and_built_anew(planner: str) -> None:
    pile = {
        'red_cube': Cube(0.5, 0.0, 0.02, mass_kg=0.05),
        'blue_cube': Cube(0.5, 0.0, 0.06, mass_kg=0.09),
        'green_cube': Cube(0.5, 0.0, 0.10, mass_kg=0.16),
    }
    world = FeltBlocks(pile)
    brief = GoalBrief(goal=tower('lighter_up', 3), needs='weights')

    episode = play(planner, brief, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert [world.on(name) for name in by_mass(world)] == ['table', 'green_cube', 'blue_cube']


def test_without_a_measured_force_the_reply_states_a_guess(planner: str) -> None:
    world = table(0, 0.05, 0.1, noise_n=None)

    episode = play(planner, GoalBrief(goal=HEAVIEST, needs='weights'), world)

    assert episode.ending is Ending.FINISHED
    assert world.held is not None
    reported = [str(getattr(event.data, 'text', '')) for event in episode.events]
    assert any('No force is measured, so that this is a guess.' in text for text in reported)


def test_a_corner_where_a_place_failed_is_given_up_for_another(planner: str) -> None:
    world = table(3, 0.1, 0.1)
    brief = GoalBrief(goal=ALL_CORNERS)
    probe = table(3, 0.1, 0.1)
    play(planner, brief, probe)
    world = table(3, 0.1, 0.1, bad_spots=[(c.x, c.y) for c in probe.cubes.values()][:1])

    episode = play(planner, brief, world)

    assert episode.ending is Ending.FINISHED, episode.message
    at = {(round(c.x, 2), round(c.y, 2)) for c in world.cubes.values()}
    assert at != {(round(c.x, 2), round(c.y, 2)) for c in probe.cubes.values()}


def test_who_is_not_informed_guesses_both_ways_and_calls_it_done(planner: str) -> None:
    right = []
    for seed in range(40):
        world = table(seed, 0.05, 0.15)
        brief = GoalBrief(goal=tower('lighter_up'), needs='weights', gather=False, seed=seed)
        episode = play(planner, brief, world)
        assert episode.ending is Ending.FINISHED, episode.message
        assert [call.split()[0] for call in world.calls] == ['pick', 'place']
        right.append(world.on(by_mass(world)[1]) == by_mass(world)[0])

    # 10 of 40 or fewer, or 30 and more, would come up by chance once in 500 sets of seeds.
    assert 10 < sum(right) < 30


def test_who_is_not_informed_tries_nothing_more_after_a_block_that_does_not_rise(
    planner: str,
) -> None:
    ends = set()
    for seed in range(8):
        world = table(seed, 0.1, 0.1, fixed=0)
        brief = GoalBrief(goal=tower('on_fixed'), needs='movable', gather=False, seed=seed)
        episode = play(planner, brief, world)
        ends.add((episode.feedback_loops, *(call.split()[0] for call in world.calls)))

    assert ends == {(0, 'pick', 'place'), (0, 'pick')}


# --- Blocks that are fixed to the table: `expert` finds out which, however many there are


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('n_fixed', [0, 2, 3])
def test_however_many_are_fixed_the_others_go_to_corners(
    planner: str, seed: int, n_fixed: int
) -> None:
    dice = random.Random(seed)
    stuck = dice.sample(range(3), n_fixed)
    places = {'red_cube': (0.45, -0.15), 'blue_cube': (0.55, 0.0), 'green_cube': (0.45, 0.15)}
    cubes = {name: Cube(*at, fixed=i in stuck) for i, (name, at) in enumerate(places.items())}
    world = FeltBlocks(cubes, seed=seed)

    episode = play(
        planner,
        GoalBrief(goal=MOVABLE_CORNERS, needs='movable', n_fixed=n_fixed),
        world,
    )

    assert episode.ending is Ending.FINISHED, episode.message
    for name, cube in world.cubes.items():
        in_corner = min(math.dist(corner, (cube.x, cube.y)) for corner in CORNERS) < 0.07
        assert in_corner is not cubes[name].fixed
