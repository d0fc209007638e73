"""Rows of the command line: what `bbllm --help` costs, and how many episodes a bench plays."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.machine import fixed_work
from bbllm_bench.benchmarks.time.processes import python, run_command

HELPS = 10
RUNS = 3
TRIALS = 2
"""Tables of each task in a run of the bench."""
HELP_S, BENCH_S = 60.0, 600.0
"""Longest that these may take on a busy machine [s]."""
WORK_S = 2.0
"""How long the fixed work is repeated before and after each run of the bench [s]."""
BENCH = (
    *('bench', 'tabletop', '--planner', 'brain_body', '--brain', 'offline', '--body', 'offline'),
    *('-k', '0-3', '--jobs', '2', '--trials', str(TRIALS), '--json', '--out'),
)


def measure_help(helps: int, seed: int) -> Mapping[str, Measured]:
    """Measure the processor time of the help, and of an interpreter that does nothing, in turn."""
    values, references = [], []
    run_command(python('-m', 'bbllm', '--help'), HELP_S)  # the first one may have to compile
    for _ in range(helps):
        values.append(run_command(python('-m', 'bbllm', '--help'), HELP_S)[2])
        references.append(run_command(python('-c', 'pass'), HELP_S)[2])
    return {'help': Measured(values=tuple(values), references=tuple(references), paired=True)}


def measure_episodes(runs: int, seed: int) -> Mapping[str, Measured]:
    """Play the tasks of the table with two processes; the start of the command counts, too."""
    values, references = [], []
    for _ in range(runs):
        works = _works_a_minute()
        with tempfile.TemporaryDirectory() as folder:
            command = python('-m', 'bbllm', *BENCH, str(Path(folder) / 'run'))
            printed, wall_s, _ = run_command(command, BENCH_S)
        values.append(json.loads(printed)['played'] / wall_s * 60)
        references.append((works + _works_a_minute()) / 2000)
    row = Measured(values=tuple(values), references=tuple(references), paired=True)
    return {'episodes': row}


def _works_a_minute() -> float:
    """Return how often the fixed work is done in a minute here and now."""
    n, begun_s = 0, time.perf_counter()
    while (spent_s := time.perf_counter() - begun_s) < WORK_S:
        fixed_work()
        n += 1
    return n / spent_s * 60
