"""
Rows of the arm: motion, cycle and simulation of random picks and places; planning times.

The way-points of the bound come from the grips alone, so that two commits can be compared that
cut their motions into different trajectories: the arm begins where the first one begins, stands
still where the hand closes and where it opens, and ends where the last one ends. Beside each grip
the tool passes the hover pose, `HOVER_M` straight above it on the same branch, because anything
lower could meet what stands around. A motion that rounds that corner may come below the bound by
what the corner is worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import ArmDriver, Array, JointTrajectory
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.motion.cartesian_path import rising_path
from bbllm.arm.motion.motion_planner import GraspPlannerParams
from bbllm.arm.motion.trajectory import NoPathError
from bbllm.core.errors import WorldError
from bbllm.core.types import SkillCall
from bbllm.robots.registry import load_robot
from bbllm.skills.segments import HOVER_M
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.benchmarks.arm.command import pick_plans, reachability_queries
from bbllm_bench.benchmarks.arm.time_bound import time_optimal_bound
from bbllm_bench.benchmarks.arm.trials import (
    AZIMUTH_RAD,
    EDGE_M,
    RADIUS_M,
    SCALE,
    random_spots,
    random_table,
)
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.machine import beside_fixed_work, raw_factor
from bbllm_bench.safety.recording import RecordingDriver

TRIALS = 60
QUESTIONS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One pick and place."""

    motion_s: float
    """Duration of all trajectories [s]."""
    cycle_s: float
    """Duration of both calls by the robot's clock [s]."""
    bound_s: float
    share_bound_s: float
    """The bound within the share of the limits that the arm uses [s]."""
    factor: float
    """Simulated seconds per processor second, planning and control in the loop."""
    raw_factor: float


def measure_motion(
    trials: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Carry out random picks and places, the same ones for the same seed."""
    found = []
    for index in range(trials):
        found.append(_cycle(seed + index))
        advance(f'pick and place {index + 1} of {trials}')
    bounds = tuple(one.bound_s for one in found)
    motions = tuple(one.motion_s for one in found)
    return {
        'moving': Measured(values=motions, references=bounds, paired=True),
        'share': Measured(
            values=motions, references=tuple(one.share_bound_s for one in found), paired=True
        ),
        'cycle': Measured(
            values=tuple(one.cycle_s for one in found), references=bounds, paired=True
        ),
        'physics': Measured(
            values=tuple(one.factor for one in found),
            references=tuple(one.raw_factor for one in found),
            paired=True,
        ),
    }


def measure_planning(
    questions: int, seed: int, advance: Callable[[str], None]
) -> Mapping[str, Measured]:
    """Time plans of picks and reachability queries, beside fixed work."""
    rows = {}
    for key, make in (('plan', pick_plans), ('reach', reachability_queries)):
        asked, works = beside_fixed_work(make(questions, seed), questions)
        rows[key] = Measured(values=tuple(asked), references=tuple(works), paired=True)
        advance(key)
    return rows


def waypoints_of(
    moves: Sequence[JointTrajectory], stops: Sequence[int]
) -> tuple[list[Array], list[int]]:
    """
    Return the way-points of the bound, each of shape (7,) [rad], and which of them are stops.

    *stops* are how many trajectories had been sent each time the hand closed or let go.
    """
    points, stands = [moves[0].position_rad[0]], []
    for sent in stops:
        grip = moves[sent - 1].position_rad[-1]
        try:
            hover = [rising_path(load_robot(), grip, HOVER_M)[-1]]
        except NoPathError:
            hover = []  # the arm cannot rise that far, so it came another way
        points += [*hover, grip]
        stands.append(len(points) - 1)
        points += hover
    # What follows the last grip ends where the arm ends.
    return [*points[: stands[-1] + 1], moves[-1].position_rad[-1]], stands


def _cycle(seed: int) -> Cycle:
    """Pick one of eight objects of a random table and place it at a random pose."""
    rng = np.random.default_rng(seed)
    spots = random_spots(rng, 9, RADIUS_M, AZIMUTH_RAD)
    scene = random_table(rng, spots[:8])
    recorders: list[RecordingDriver] = []

    def recorded(driver: ArmDriver) -> ArmDriver:
        recorders.append(RecordingDriver(driver))
        return recorders[0]

    params = ExecutorParams(ways=GraspPlannerParams(scale=SCALE))
    world = TabletopWorld(scene, params=params, wrap_driver=recorded)
    name = scene.objects[int(rng.integers(8))].name
    x, y = spots[8]
    target = f'{x:.4f} {y:.4f} {EDGE_M / 2} {float(rng.uniform(-45, 45)):.1f}'
    cycle_s, begun_s, used_s = 0.0, world.time_s, time.process_time()
    for call in (SkillCall('pick', (name,)), SkillCall('place', (target,))):
        outcome = world.execute(call)
        if not outcome.succeeded:
            raise WorldError(f'{call} failed at the table of seed {seed}: {outcome.message}')
        cycle_s += outcome.duration_s
    factor = (world.time_s - begun_s) / (time.process_time() - used_s)
    moves = recorders[0].trajectories
    points, stands = waypoints_of(moves, recorders[0].stops)
    return Cycle(
        motion_s=sum(move.duration_s for move in moves),
        cycle_s=cycle_s,
        bound_s=time_optimal_bound(points, stands),
        share_bound_s=time_optimal_bound(points, stands, share=SCALE),
        factor=factor,
        raw_factor=raw_factor(scene),
    )
