"""
How well a rehearsal predicts what a call does: calls drawn at random, predicted and carried out.

Before each call its success is predicted as the share of simulations in which it succeeds, by
simulations that are right and by those that are wrong on purpose. Then the call is carried out on
the table. A series of calls ends with the first that was tried and failed: what lies where then
is another matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bbllm.core.constants import TwinError
from bbllm.core.types import MOVABLE, Kind, Scene, SkillCall, Status
from bbllm.scene.scene_file import SceneFile
from bbllm.worlds.tabletop.rehearsal import WRONG_TWINS, RehearsalSettings, TwinRehearsal
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite

CALLS = 8
"""Calls of a series at most."""
NEAR_M = 0.06
"""Poses are drawn around other objects, up to this far away along x and y, where room is short
[m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """One call: what was predicted, and what happened."""

    call: str
    succeeded: bool
    code: str
    shares: dict[TwinError, float]
    """By what was wrong in the simulations: the share of them in which it succeeded."""


def series(suite: str, task: str, seed: int, trial: int, samples: int) -> list[Foreseen]:
    """Return the calls of one series on the table of a case; a function of its arguments."""
    case = make_case(load_suite(suite), task, seed=seed, trial=trial)
    assert isinstance(case.scene, SceneFile)
    dice = np.random.default_rng([seed, trial, *map(ord, task)])
    world, found = TabletopWorld(case.scene, seed=case.noise_seed), list[Foreseen]()
    try:
        for _ in range(CALLS):
            scene = world.observe()
            call = _drawn(scene, dice)
            shares = dict(_shares(scene, call, samples, dice))
            outcome = world.execute(call)
            found.append(
                Foreseen(
                    call=str(call),
                    succeeded=outcome.succeeded,
                    code=outcome.code.name,
                    shares=shares,
                )
            )
            if outcome.status is Status.FAILED:
                break
    finally:
        world.close()
    return found


def _shares(
    scene: Scene, call: SkillCall, samples: int, dice: np.random.Generator
) -> Iterator[tuple[TwinError, float]]:
    for name, deviation in WRONG_TWINS.items():
        settings = RehearsalSettings(samples=samples, deviation=deviation)
        rehearsal = TwinRehearsal(scene, settings, dice)
        try:
            rehearsal.execute(call)
            yield name, rehearsal.result.succeeded / samples
        finally:
            rehearsal.close()


def _drawn(scene: Scene, dice: np.random.Generator) -> SkillCall:
    """Draw a pick where the hand is empty, else a place on a name or beside another object."""
    loose = [item for item in scene.objects if item.kind in MOVABLE and item.name != scene.held]
    if scene.held is None:
        return SkillCall('pick', (loose[int(dice.integers(len(loose)))].name,))
    names = [item.name for item in scene.objects if item.kind in MOVABLE | {Kind.LOCATION}]
    names = [name for name in names if name != scene.held]
    if dice.random() < 0.5:
        return SkillCall('place', (names[int(dice.integers(len(names)))],))
    x, y, _ = loose[int(dice.integers(len(loose)))].pose.position_m
    off = dice.uniform(-NEAR_M, NEAR_M, 2)
    yaw_deg = dice.uniform(-90.0, 90.0)
    pose = f'{x + off[0]:.3f} {y + off[1]:.3f} 0.02 {yaw_deg:.0f}'
    return SkillCall('place', (pose,))
