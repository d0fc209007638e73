"""Episodes of `expert` with each planner that it knows, on tables of cubes on paper."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.bench.oracle.model import expert
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode
from bbllm.core.protocols import ChatModel, Planner
from bbllm.core.tasks import make_task
from bbllm.planners.llm_pop.fine_tuned import FTCoT, FTVanilla
from bbllm.planners.llm_pop.planner import LLMPop, LLMPopNoEvaluator

sys.path.insert(0, str(Path(__file__).parents[2] / 'doubles'))

from felt_blocks import Cube, FeltBlocks

SEEDS = range(10)
CORNERS = tuple((0.5 + i * 0.18, j * 0.3) for i in (1, -1) for j in (1, -1))
Make = Callable[[ChatModel], Planner]


def evaluated(model: ChatModel) -> Planner:
    return LLMPop(model, None, k=3)  # type: ignore[arg-type]  # it asks no Body


def not_evaluated(model: ChatModel) -> Planner:
    return LLMPopNoEvaluator(model, None, k=3)  # type: ignore[arg-type]


def chain_of_thought(model: ChatModel) -> Planner:
    return FTCoT(model, None, k=3)  # type: ignore[arg-type]


def vanilla(model: ChatModel) -> Planner:
    return FTVanilla(model, None, k=3)  # type: ignore[arg-type]


NAMES: dict[Make, str] = {
    evaluated: 'llm_pop',
    not_evaluated: 'llm_pop_no_evaluator',
    chain_of_thought: 'ft_cot',
    vanilla: 'ft_vanilla',
}
MAKERS = tuple(NAMES)


def play(make: Make, brief: GoalBrief, world: FeltBlocks) -> Episode:
    name = NAMES[make]
    run = EpisodeRun(make_task('the task', 'test'), planner=name, brain='expert', body='none')
    return run.execute(make(run.model(expert(brief.model_dump()), 'brain')), world)


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


def fixed_one(world: FeltBlocks) -> str:
    return next(name for name, cube in world.cubes.items() if cube.fixed)
