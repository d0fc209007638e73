"""
One trial of the scales each: two cubes that look alike are lifted, and one is said to be heavier.

Every trial builds a table of its own from its seed, so that trials may run in any order and in
any process. What is compared is what a planner would read in a scene after each lift.
"""

import math
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from bbllm.core.types import SkillCall
from bbllm.scene.scene_file import FORCE_NOISE_N, ForceNoise, ObjectSpec, SceneFile
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from benchmarks.arm.trials import random_spots

NAMES = ('red_cube', 'blue_cube')
RADIUS_M = (0.35, 0.65)
AZIMUTH_RAD = math.radians(60)
APART_M = 0.12
"""Least distance between the two cubes [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """One cube lifted, and weighed in the hand."""

    mass_kg: float
    """What it is in truth [kg]."""
    down_n: float
    """What was felt: how much it pulls down, with the bias of the sensor [N]."""
    robot_s: float
    """Simulated time from the call to the weight [s]."""
    wall_s: float
    """Wall time in which that was simulated, planning included [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MassTrial:
    """What one trial found."""

    heavy_kg: float
    seed: int
    lifts: tuple[Lift, ...] = ()
    """In the order in which they were lifted; fewer than two where something failed."""
    reason: str = ''
    """Why it came to nothing; empty where both cubes were weighed."""

    @property
    def right(self) -> bool:
        first, second = self.lifts
        return (first.down_n > second.down_n) == (first.mass_kg > second.mass_kg)


def run_trial(
    light_kg: float, heavy_kg: float, seed: int, noise_n: float = FORCE_NOISE_N
) -> MassTrial:
    """
    Run one trial with two masses from its seed, which decides all that is random.

    *noise_n* is the standard deviation of a reading of the force, and of its bias [N].
    """
    rng = np.random.default_rng(seed)
    cubes = _cubes(rng, light_kg, heavy_kg)
    order = [cubes[int(i)].name for i in rng.permutation(len(cubes))]
    noise = int(rng.integers(1, 2**31))
    sensor = ForceNoise(sd=noise_n, bias=noise_n)
    scene = SceneFile(name='weighing', objects=cubes, force_noise_n=sensor)
    with closing(TabletopWorld(scene, seed=noise, weighs=True)) as world:
        lifts, reason = _weigh(world, order)
    return MassTrial(heavy_kg=heavy_kg, seed=seed, lifts=lifts, reason=reason)


def _weigh(world: TabletopWorld, names: Sequence[str]) -> tuple[tuple[Lift, ...], str]:
    """Lift cubes one after the other; returns what was felt, and why no more, if so."""
    lifts: list[Lift] = []
    homes = {name: world.observe().object(name).pose.position_m for name in names}
    for name in names:
        if lifts:  # the one before is still in the hand
            x, y, z = homes[names[len(lifts) - 1]]
            outcome = world.execute(SkillCall('place', (f'{x:.4f} {y:.4f} {z:.4f}',)))
            if not outcome.succeeded:
                return tuple(lifts), f'{outcome.call}: {outcome.message}'
        begun_s, started_s = world.time_s, time.perf_counter()
        outcome = world.execute(SkillCall('pick', (name,)))
        hand = world.observe().hand
        if not outcome.succeeded:
            return tuple(lifts), f'{outcome.call}: {outcome.message}'
        if hand is None or hand.force_n is None:
            return tuple(lifts), f'after {outcome.call} no force was told.'
        lifts.append(
            Lift(
                mass_kg=float(world.robot.simulation.model.body(name).mass[0]),
                down_n=-hand.force_n[2],
                robot_s=world.time_s - begun_s,
                wall_s=time.perf_counter() - started_s,
            )
        )
    return tuple(lifts), ''


def _cubes(
    rng: np.random.Generator, light_kg: float, heavy_kg: float
) -> tuple[ObjectSpec, ObjectSpec]:
    spots = random_spots(rng, 2, RADIUS_M, AZIMUTH_RAD, apart_m=APART_M)
    masses = rng.permutation([light_kg, heavy_kg])
    red, blue = (
        ObjectSpec(
            name=name,
            kind='cube',
            xy=(round(x, 4), round(y, 4)),
            yaw_deg=round(float(rng.uniform(-45, 45)), 1),
            mass=float(mass_kg),
        )
        for name, (x, y), mass_kg in zip(NAMES, spots, masses, strict=True)
    )
    return red, blue
