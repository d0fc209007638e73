"""A planner with `offline` as Brain and Body, and what becomes of a table under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bbllm.bench.oracle.model import offline
from bbllm.core.protocols import Situation, in_episode
from bbllm.core.types import Task
from bbllm.planners.body.language_model import BodyLLM
from bbllm.planners.brain_body.planner import BrainBody

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]

PLUS_SIGN = 'create a plus sign in the working space using the cubes'


def run(instruction: str, world: Any, context: Any, k: int = 3) -> None:
    """Plan a task and act, with at most *k* repairs."""
    task = Task('t', instruction)
    model = in_episode(offline(), Situation(task=task, planner='brain_body'))
    BrainBody(model, BodyLLM(model), k=k).run(task, world, context)


def run_cleanly(instruction: str, world: Any, context: Any) -> None:
    """Do the same; no step may stay failed, and the Body may pass over none."""
    run(instruction, world, context)
    assert not context.failed
    assert not [line for line in context.lines if line.startswith('pass')]


def cubes_form_a_plus_sign(world: Any) -> bool:
    """Look at positions alone: one cube with four neighbours and nothing else near."""
    cubes = {
        item.name: item.pose.position_m
        for item in world.observe().objects
        if item.name.endswith('cube')
    }
    for x, y, z in cubes.values():
        for pitch in (0.06, 0.065, 0.08):
            arms = [(x + pitch, y), (x - pitch, y), (x, y + pitch), (x, y - pitch)]
            taken = [
                abs(a - u) < 0.005 and abs(b - v) < 0.005 and abs(z - w) < 0.005
                for a, b in arms
                for u, v, w in cubes.values()
            ]
            near = [(u, v) for u, v, _ in cubes.values() if abs(u - x) + abs(v - y) < 2.2 * pitch]
            if sum(taken) == 4 and len(near) == 5:
                return True
    return False
