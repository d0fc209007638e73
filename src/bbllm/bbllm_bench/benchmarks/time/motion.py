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

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.cartesian_path import rising_path
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.motion_planner import GraspPlanner
from bbllm.arm.motion.reachability import reachable_top_down
from bbllm.arm.motion.trajectory import NoPathError
from bbllm.core.errors import WorldError
from bbllm.core.types import SkillCall
from bbllm.robots.registry import load_robot
from bbllm.skills.motions import plan_motion
from bbllm.skills.segments import HOVER_M, Motion
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.benchmarks.arm.time_bound import time_optimal_bound
from bbllm_bench.benchmarks.arm.trials import (
    AZIMUTH_RAD,
    RADIUS_M,
    SCALE,
    ArmBench,
    pick_place_calls,
    random_pick_place,
    random_spots,
    random_table,
)
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.machine import beside_fixed_work, raw_factor

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


def measure_motion(trials: int, seed: int) -> Mapping[str, Measured]:
    """Carry out random picks and places, the same ones for the same seed."""
    found = [_cycle(seed + index) for index in range(trials)]
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


def measure_planning(questions: int, seed: int) -> Mapping[str, Measured]:
    """Time plans of picks and reachability queries, beside fixed work."""
    rows = {}
    for key, make in (('plan', pick_plans), ('reach', reachability_queries)):
        asked, works = beside_fixed_work(make(questions, seed), questions)
        rows[key] = Measured(values=tuple(asked), references=tuple(works), paired=True)
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
    scene, name, spot, yaw_deg = random_pick_place(seed)
    bench = ArmBench(scene, SCALE, measured=False)
    begun_s, used_s = bench.world.time_s, time.process_time()
    failure = bench.run(pick_place_calls(name, spot, yaw_deg))
    if failure is not None:
        raise WorldError(f'{failure.call} failed at the table of seed {seed}: {failure.message}')
    factor = (bench.world.time_s - begun_s) / (time.process_time() - used_s)
    moves = bench.recorders[0].trajectories
    points, stands = waypoints_of(moves, bench.recorders[0].stops)
    return Cycle(
        motion_s=sum(move.duration_s for move in moves),
        cycle_s=bench.robot_s,
        bound_s=time_optimal_bound(points, stands),
        share_bound_s=time_optimal_bound(points, stands, share=SCALE),
        factor=factor,
        raw_factor=raw_factor(scene),
    )


def reachability_queries(count: int, seed: int) -> Callable[[int], object]:
    """
    Return so many questions by number.

    Each is whether a random point, within reach or beyond, can be come down on from above.
    """
    rng = np.random.default_rng(seed)
    checker = CollisionChecker(load_robot())
    points = random_spots(rng, count, (0.2, 1.0), math.pi * 0.75, apart_m=0.0)
    yaws = rng.uniform(-math.pi, math.pi, count).tolist()

    def ask(index: int) -> None:
        reachable_top_down(
            checker.robot, (*points[index], 0.03), (yaws[index],), hover_m=0.08, checker=checker
        )

    return ask


def pick_plans(count: int, seed: int) -> Callable[[int], object]:
    """
    Return so many questions by number.

    Each is the plan of a pick on a random table: grips, postures, a free transit, down and up,
    all timed.
    """
    rng = np.random.default_rng(seed)
    planner = GraspPlanner(load_robot())
    tables = []
    for _ in range(0, count, 8):
        world = TabletopWorld(random_table(rng, random_spots(rng, 8, RADIUS_M, AZIMUTH_RAD)))
        names = [item.name for item in world.robot.simulation.scene.movables]
        tables.append((names, world.observe(), world.executor.hand()))

    def plan(index: int) -> None:
        names, scene, hand = tables[index // 8]
        motion = plan_motion(SkillCall('pick', (names[index % 8],)), scene, hand)
        if isinstance(motion, Motion) and motion.above is not None:
            planner.update(scene, hand)
            planner.above(motion.above, planner.robot.home_rad)

    return plan
