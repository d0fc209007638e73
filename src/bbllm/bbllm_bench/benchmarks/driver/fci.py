"""`bbllm bench driver --fci`: our driver over libfranka, judged by a server that others wrote."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bbllm_bench.benchmarks.driver.faults import SERVER, FaultReport, fault_reports
from bbllm_bench.benchmarks.driver.trials import FciTrial, fci_trial
from bbllm_bench.benchmarks.shared import (
    exit_unless,
    machine_text,
    number,
    run_trials,
    write_report,
)
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import Grid, grid_of
from bbllm_franka.simulated_server import franka_sim

OBJECT_M = 0.04


def bench_fci(trials: int, seed: int, out: Path, *, json: bool) -> None:
    """Play picks and places and faults against franka-sim, and write the report."""
    start_s = time.perf_counter()
    with franka_sim(SERVER, object_width_m=OBJECT_M):
        jobs = [(SERVER, seed + i) for i in range(trials)]
        played = run_trials(fci_trial, jobs, 1, every=10)
    provoked = run_trials(_provoked, [(i, seed) for i in range(len(fault_reports(seed)))], 1, 1)
    report = {
        'machine': describe_machine(),
        'server': 'franka-sim',
        'seed': seed,
        'trials': played,
        'faults': provoked,
        'wall_s': time.perf_counter() - start_s,
    }
    write_report(out, report, grids_of(report), notes_of(report), json=json)
    exit_unless(all(not (trial.reason or trial.reflexes) for trial in played))


def _provoked(index: int, seed: int) -> FaultReport:
    return fault_reports(seed)[index]()


def grids_of(report: dict[str, Any]) -> list[Grid]:
    trials: Sequence[FciTrial] = report['trials']
    good = [trial for trial in trials if not trial.reason]
    reflexes = [name for trial in trials for name in trial.reflexes]
    clean = sum(not (trial.reason or trial.reflexes) for trial in trials)
    ratios = [trial.cycle_s / trial.simulated_s for trial in good]
    measures = {
        'picks and places that succeeded': f'{len(good)} of {len(trials)}',
        'without a reflex': f'{clean} of {len(trials)}',
        'reflexes': ', '.join(f'{n} {reflexes.count(n)}' for n in dict.fromkeys(reflexes)) or '0',
        'largest tracking error, mrad': number(
            max((trial.tracking_rad for trial in trials), default=0.0) * 1e3, 1
        ),
        'cycle, s': number(statistics.fmean([t.cycle_s for t in good]), 2) if good else '',
        'cycle over that in simulation': number(statistics.fmean(ratios), 2) if good else '',
        'lowest share of commands in time': number(min(t.success_rate for t in trials), 2),
    }
    title = f'libfranka against franka-sim, seed {report["seed"]}'
    rows = [{'measure': name, 'value': value} for name, value in measures.items()]
    faults = [
        {
            'fault': one.fault,
            'the call ended': one.ended,
            'reflex': ', '.join(one.reflexes),
            'the next call': one.again,
        }
        for one in report['faults']
    ]
    return [grid_of(title, rows), grid_of('Faults', faults)]


def notes_of(report: dict[str, Any]) -> list[str]:
    failed = [f'seed {trial.seed}: {trial.reason}' for trial in report['trials'] if trial.reason]
    return [*failed, f'{machine_text(report["machine"])}; {report["wall_s"]:.0f} s']
