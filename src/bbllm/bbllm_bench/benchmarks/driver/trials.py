"""Picks and places by real libfranka on a server that judges each command as a robot does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from bbllm.arm.envelope import load_envelope
from bbllm.core.errors import WorldError
from bbllm.core.types import Outcome, SkillCall
from bbllm_bench.benchmarks.arm.trials import SCALE, ArmBench, pick_place_calls, random_pick_place
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import IGNORE
from bbllm_franka.table import FrankaTable

BASE = SkillCall('return_to_base')
SAMPLE_S = 0.002
"""Period at which the joints are compared with their set points [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FciTrial:
    """One pick and place."""

    seed: int
    reason: str = ''
    """Why it failed; '' where it did not."""
    reflexes: tuple[str, ...] = ()
    """Errors with which the robot ended motions; the executor recovers and goes on."""
    tracking_rad: float = 0.0
    """Largest distance of a joint from its set point [rad]."""
    cycle_s: float = 0.0
    """Time of pick and place [s]."""
    simulated_s: float = 0.0
    """The same in the simulation of this process [s]."""
    success_rate: float = 1.0
    """Lowest share of commands that came in time."""


class WatchedDriver(FrankaDriver):
    """A driver that keeps what the robot stopped for."""

    def __init__(self, address: str) -> None:
        self.reflexes: list[str] = []
        super().__init__(address, realtime=IGNORE)

    def clear_errors(self) -> None:
        condition = self.condition()
        self.reflexes += condition.current_errors or condition.last_errors
        super().clear_errors()


class Tracking:
    """Compares joints and set points in a thread, while it is entered."""

    def __init__(self, driver: FrankaDriver) -> None:
        self.largest_rad = 0.0
        self._driver, self._ended = driver, threading.Event()
        self._thread = threading.Thread(target=self._watch, name='tracking', daemon=True)

    def __enter__(self) -> Tracking:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            try:
                off_rad = self._driver.tracking_error_rad
            except WorldError:  # the trial reports that
                return
            self.largest_rad = max(self.largest_rad, off_rad)


def fci_trial(address: str, seed: int, safety: str, scale: float = SCALE) -> FciTrial:
    """
    Pick one of eight objects of a random table and place it, at *address* and in simulation.

    *safety* names the envelope of both; a real arm has the slow one if nobody chooses.

    The server has no objects: what is between the fingers is always 4 cm wide, and success is that
    of the calls. Raises WorldError where the server cannot be used.
    """
    scene, name, spot, yaw_deg = random_pick_place(seed)
    calls = pick_place_calls(name, spot, yaw_deg)
    envelope = load_envelope(safety)
    bench = ArmBench(scene, scale, measured=False, safety=envelope)
    with closing(bench.world):
        bench.run(calls)
    driver = WatchedDriver(address)
    with closing(FrankaTable(driver, scene, envelope)) as world:
        world.execute(BASE)
        with Tracking(driver) as tracking:
            cycle_s, failed = _played(world, calls)
    return FciTrial(
        seed=seed,
        reason=f'{failed.call}: {failed.message}' if failed else '',
        reflexes=tuple(driver.reflexes),
        tracking_rad=tracking.largest_rad,
        cycle_s=cycle_s,
        simulated_s=bench.robot_s,
        success_rate=driver.lowest_rate,
    )


def _played(world: FrankaTable, calls: Sequence[SkillCall]) -> tuple[float, Outcome | None]:
    total_s = 0.0
    for call in calls:
        outcome = world.execute(call)
        total_s += outcome.duration_s
        if not outcome.succeeded:
            return total_s, outcome
    return total_s, None
