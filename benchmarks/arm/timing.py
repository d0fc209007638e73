"""How long single questions to the arm's planner take, and how fast the physics runs."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import Tolerances
from bbllm.arm.limits import Q_READY
from bbllm.arm.motion.collision import CollisionChecker
from bbllm.arm.motion.motion_planner import GraspPlanner
from bbllm.arm.motion.reachability import reachable_top_down
from bbllm.arm.motion.trajectory import joint_move
from bbllm.core.types import SkillCall
from bbllm.sim.scene_file import SceneFile
from bbllm.skills.catalog import Rejection
from bbllm.skills.motions import MoveAbove, plan_motions
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from benchmarks.arm.trials import AZIMUTH_RAD, RADIUS_M, random_spots, random_table
from benchmarks.shared import percentile

SWING_RAD = np.array([0.8, 0.2, -0.3, 0.2, 0.3, 0.3, 0.5])
"""How far the arm swings from its ready posture while the physics is timed [rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Durations of one kind of question."""

    median_ms: float
    p95_ms: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicsSpeed:
    """Simulated seconds per second of one core, control in the loop, all objects asleep."""

    moving: float
    """While the arm follows trajectories."""
    resting: float
    """While it holds its place."""


def time_physics(scene: str = 'plus_sign', simulated_s: float = 10.0) -> PhysicsSpeed:
    """Let the arm swing over a table, planning left out, and then stand still."""
    with closing(TabletopWorld(scene)) as world:
        world.settled()
        away = np.asarray(Q_READY) + SWING_RAD
        there, back = joint_move(Q_READY, away, scale=0.5), joint_move(away, Q_READY, scale=0.5)
        rounds = max(1, round(simulated_s / (there.duration_s + back.duration_s)))

        def swing() -> None:
            for _ in range(rounds):
                world.driver.follow(there, Tolerances())
                world.driver.follow(back, Tolerances())

        return PhysicsSpeed(
            moving=_factor(world, swing),
            resting=_factor(world, lambda: world.robot.advance(simulated_s)),
        )


def _factor(world: TabletopWorld, run: Callable[[], None]) -> float:
    begun_s, used_s = world.time_s, time.process_time()
    run()
    return (world.time_s - begun_s) / (time.process_time() - used_s)


def time_reachability(count: int, seed: int) -> Timing:
    """Ask whether random points, within reach and beyond, can be come down on from above."""
    rng = np.random.default_rng(seed)
    checker = CollisionChecker()
    points = random_spots(rng, count, (0.2, 1.0), math.pi * 0.75, apart_m=0.0)
    yaws = rng.uniform(-math.pi, math.pi, count)
    pairs = list(zip(points, yaws, strict=True))

    def ask(index: int) -> None:
        (x, y), yaw = pairs[index]
        reachable_top_down((x, y, 0.03), (float(yaw),), hover_m=0.08, checker=checker)

    return _timed(ask, count)


def time_pick_plan(count: int, seed: int) -> Timing:
    """Plan picks on random tables: grips, postures, a free transit, down and up, all timed."""
    rng = np.random.default_rng(seed)
    questions: list[Callable[[], object]] = []
    planner = GraspPlanner()
    world: TabletopWorld | None = None
    for index in range(count):
        if world is None or index % 8 == 0:
            world = TabletopWorld(_table(rng))
        questions.append(_pick_question(world, index % 8, planner))
    return _timed(lambda index: questions[index](), count)


def _table(rng: np.random.Generator) -> SceneFile:
    return random_table(rng, random_spots(rng, 8, RADIUS_M, AZIMUTH_RAD))


def _pick_question(
    world: TabletopWorld, index: int, planner: GraspPlanner
) -> Callable[[], object]:
    scene = world.observe()
    hand = world.executor.hand()
    name = world.robot.simulation.scene.movables[index].name
    call = SkillCall('pick', (name,))

    def plan() -> object:
        motions = plan_motions(call, scene, hand)
        if isinstance(motions, Rejection):
            return motions
        planner.update(scene, hand)
        above = next(motion for motion in motions if isinstance(motion, MoveAbove))
        return planner.above(above, Q_READY)

    return plan


def _timed(question: Callable[[int], object], count: int) -> Timing:
    for index in range(min(count, 16)):  # the first ones pay for caches and imports
        question(index)
    durations_ms: list[float] = []
    for index in range(count):
        start_s = time.perf_counter()
        question(index)
        durations_ms.append((time.perf_counter() - start_s) * 1e3)
    return Timing(
        median_ms=statistics.median(durations_ms),
        p95_ms=percentile(durations_ms, 95),
        count=count,
    )
