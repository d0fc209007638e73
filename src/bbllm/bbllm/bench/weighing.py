"""
Measures the scales: how often the lighter of two cubes is taken for the heavier one.

`bbllm bench weigh` lifts two cubes that look alike, again and again, on random tables and with a
sensor that is noisy; what it finds is printed, written as JSON and drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

from bbllm.bench.in_processes import results_of
from bbllm.bench.machine import describe_machine
from bbllm.bench.weighing_report import WeighingReport, figures_of, times_of
from bbllm.bench.weighing_trials import WeighingTrial, run_weighing
from bbllm.sim.force_noise import FORCE_NOISE_N

LIGHT_KG = 0.05
HEAVIER_KG = (0.055, 0.06, 0.07, 0.08, 0.10, 0.15)
SEED_STRIDE = 10_000
"""Keeps the pairs of masses from sharing random numbers."""


def run_weighing_bench(
    trials: int = 50,
    seed: int = 0,
    *,
    noise_n: float = FORCE_NOISE_N,
    processes: int = 1,
    tell: Callable[[int, int], object] = lambda done, total: None,
    stopped: Callable[[], bool] = lambda: False,
) -> WeighingReport:
    """
    Run all trials, or as many as there are until somebody stops it.

    Args:
        trials: How often each pair of masses is weighed.
        seed: Of the first trial; the others count on from it.
        noise_n: Standard deviation of a reading of the force, and of the bias of a trial [N].
        processes: How many trials run at once.
        tell: Told after every trial how many are done, and how many there are.
        stopped: Asked after every trial.
    """
    start_s = time.perf_counter()
    jobs = [
        (LIGHT_KG, heavy_kg, seed + SEED_STRIDE * pair + index, noise_n)
        for index in range(trials)
        for pair, heavy_kg in enumerate(HEAVIER_KG)
    ]
    found: list[WeighingTrial] = []
    with closing(results_of(run_weighing, jobs, processes)) as results:
        for trial in results:
            found.append(trial)
            tell(len(found), len(jobs))
            if stopped():
                break
    found.sort(key=lambda trial: trial.seed)
    lifts = [lift for trial in found for lift in trial.lifts]
    lift_s, lift_wall_s, scatter_n = times_of(lifts)
    return WeighingReport(
        machine=describe_machine(),
        seed=seed,
        light_kg=LIGHT_KG,
        noise_n=noise_n,
        planned=trials,
        figures=tuple(
            figures_of(LIGHT_KG, kg, [t for t in found if t.heavy_kg == kg], noise_n)
            for kg in HEAVIER_KG
        ),
        lifts=len(lifts),
        scatter_n=scatter_n,
        lift_s=lift_s,
        lift_wall_s=lift_wall_s,
        wall_s=time.perf_counter() - start_s,
    )
