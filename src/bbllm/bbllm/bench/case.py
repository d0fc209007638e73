"""One task on one table: what a planner is told, and what it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from bbllm.bench.goals import Goal, Needs
from bbllm.sim.scenes import SceneFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one trial of one task starts from; equal for every planner, model and K."""

    suite: str
    task: str
    """Name of the task within its suite, for example `plus_sign`."""
    trial: int
    """Counts from 0."""
    seed: int
    """Seed of the run; it makes the scene together with task and trial."""
    instruction: str
    """All that a planner is told beside the scene."""
    scene: SceneFile
    goal: Goal
    difficulty: str
    """easy, medium or hard, as in Table 4 of the paper."""
    least_loops: int
    """Feedback loops that a planner spends that takes things and places in the order listed."""
    out_of_reach: tuple[str, ...]
    """Objects and locations that the hand cannot come down on, by geometry."""
    needs: Needs = 'none'
    """What has to be found out before acting, since no scene shows it."""
