"""
Fixed pieces of work: how fast this machine is, and how busy, while something is measured.

`python -m bbllm_bench.benchmarks.time.machine` prints how long the fixed work takes here on all
cores at once; `make test` does it before and after the tests, so that durations of two machines
compare.
"""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np

from bbllm.scene.scene_file import SceneFile
from bbllm.sim.simulation import Simulation

WARM = 16
"""How many questions are asked before the clock runs: the first ones pay for caches."""
_ROUNDS = 60
_SETTLE_S, _RAW_S = 1.0, 2.0
_COUNT = 400
MEASURED_MS = 0.45
"""Processor time of the fixed work on the machine of docs/results.md [ms]."""


def fixed_work() -> object:
    """Do what planners do most: small matrices, one after the other (0.2 to 0.4 ms)."""
    turn, vector = np.eye(4), np.linspace(0.1, 0.7, 7)
    for _ in range(_ROUNDS):
        turn = turn @ np.diag([1.0, -1.0, 1.0, 1.0]) @ turn.T
        vector = np.clip(np.sqrt(np.abs(vector)) * 0.5, 0.0, 1.0)
    return turn, vector


def beside_fixed_work(
    question: Callable[[int], object], count: int
) -> tuple[list[float], list[float]]:
    """
    Time questions by number, and the fixed work after each of them [ms].

    Processor time: what others do on the machine does not count, and on an idle machine it is
    what a person waits for, unless several threads share the work.
    """
    for index in range(min(count, WARM)):
        question(index)
        fixed_work()
    asked, works = [], []
    for index in range(count):
        asked.append(_processor_ms(partial(question, index)))
        works.append(_processor_ms(fixed_work))
    return asked, works


def _processor_ms(work: Callable[[], object]) -> float:
    used_s = time.process_time()
    work()
    return (time.process_time() - used_s) * 1e3


def raw_factor(scene: SceneFile) -> float:
    """
    Return simulated seconds per processor second of MuJoCo alone, in a scene at rest.

    `mj_step` is called once for all steps, of the simulator's own length, without control and
    readings. What rests sleeps where this MuJoCo can do that (3.4 and later).
    """
    simulation = Simulation(scene)
    model, data = simulation.model, simulation.data
    mujoco.mj_step(model, data, nstep=round(_SETTLE_S / model.opt.timestep))
    used_s = time.process_time()
    mujoco.mj_step(model, data, nstep=round(_RAW_S / model.opt.timestep))
    return _RAW_S / (time.process_time() - used_s)


def _median_ms(count: int) -> float:
    """Return the median processor time of the fixed work [ms]."""
    return statistics.median(_processor_ms(fixed_work) for _ in range(count))


def speed(count: int = _COUNT) -> str:
    """Measure the fixed work on all cores at once; return a sentence that compares it."""
    cores = os.cpu_count() or 1
    with multiprocessing.Pool(cores) as pool:
        took_ms = statistics.mean(pool.map(_median_ms, [count] * cores))
    return (
        f'The fixed work in NumPy takes {took_ms:.2f} ms on this machine, '
        f'{took_ms / MEASURED_MS:.2f} times as long as on that of docs/results.md.'
    )


if __name__ == '__main__':
    print(speed(), flush=True)
