"""`bbllm bench driver --fci`: our driver over libfranka on servers of the robot's protocol."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from bbllm.arm.envelope import load_envelope
from bbllm_bench.benchmarks.driver.clients import BBLLM, FRANKY
from bbllm_bench.benchmarks.driver.faults import FAULTS, FaultReport, fault_jobs, provoked
from bbllm_bench.benchmarks.driver.servers import FRANKA_SIM, FRANKA_SIM_IP, OBJECT_M, TABLE
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
from bbllm_fci.library import need_franka_sim
from bbllm_franka.libraries import need_libraries
from bbllm_franka.simulated_server import franka_sim, interpreter

ServerChoice = Literal['all', 'franka-sim', 'table']
ClientChoice = Literal['bbllm', 'franky', 'both']
CLIENTS = {'bbllm': (BBLLM,), 'franky': (FRANKY,), 'both': (BBLLM, FRANKY)}
SERVERS = {'all': (FRANKA_SIM, TABLE), 'franka-sim': (FRANKA_SIM,), 'table': (TABLE,)}


def bench_fci(
    server: ServerChoice,
    client: ClientChoice,
    trials: int,
    seed: int,
    out: Path,
    *,
    json: bool,
    safety: str,
    patience_s: float | None = None,
) -> None:
    """
    Play picks and places and faults, and write the report; the former only by our driver.

    *safety* names the envelope of the picks and places; for *patience_s* see `franka_sim`.

    Exits with 1 where a pick or place failed or met a reflex, or a fault of our driver ended
    otherwise than expected.
    """
    servers, clients = SERVERS[server], CLIENTS[client]
    load_envelope(safety)  # so that a name that is none ends it before a server starts
    need_libraries()
    if FRANKA_SIM in servers:
        interpreter()
    if TABLE in servers:
        need_franka_sim()
    start_s = time.perf_counter()
    played: list[FciTrial] = []
    if trials and BBLLM in clients and FRANKA_SIM in servers:
        with franka_sim(FRANKA_SIM_IP, object_width_m=OBJECT_M, first=True, patience_s=patience_s):
            jobs = [(FRANKA_SIM_IP, seed + i, safety) for i in range(trials)]
            played = run_trials(fci_trial, jobs, 1, every=10)
    faults = [job for job in fault_jobs(clients, seed) if FAULTS[job[0]].server in servers]
    report: dict[str, Any] = {
        'machine': describe_machine(),
        'seed': seed,
        'safety': safety,
        'patience_s': patience_s,
        'trials': played,
        'faults': run_trials(provoked, faults, 1, 1),
        'load': os.getloadavg(),
        'wall_s': time.perf_counter() - start_s,
    }
    write_report(out, report, grids_of(report), notes_of(report), json=json)
    exit_unless(
        all(not (trial.reason or trial.reflexes) for trial in played)
        and all(not fault.unexpected for fault in report['faults'])
    )


def grids_of(report: dict[str, Any]) -> list[Grid]:
    """Return the tables of a report: picks and places, where any were played, and faults."""
    grids = [_trials_grid(report)] if report['trials'] else []
    faults: Sequence[FaultReport] = report['faults']
    rows = [
        {
            'fault': one.fault,
            'server': one.server,
            'client': one.client,
            'how the motion ended': one.ended,
            'reflex': ', '.join(one.reflexes),
            'arm at rest': 'yes' if one.at_rest else 'NO',
            'the next motion': one.again,
            'not as expected': one.unexpected,
        }
        for one in faults
    ]
    return [*grids, grid_of('Faults', rows)]


def _trials_grid(report: dict[str, Any]) -> Grid:
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
    title = f'libfranka against {FRANKA_SIM}, seed {report["seed"]}, envelope {report["safety"]}'
    if patience_s := report['patience_s']:
        title += f', whose clock waits {patience_s:g} s for each command'
    return grid_of(title, [{'measure': name, 'value': value} for name, value in measures.items()])


def notes_of(report: dict[str, Any]) -> list[str]:
    failed = [f'seed {trial.seed}: {trial.reason}' for trial in report['trials'] if trial.reason]
    load = ', '.join(f'{mean:.0f}' for mean in report['load'])
    machine = machine_text(report['machine'])
    return [*failed, f'{machine}; {report["wall_s"]:.0f} s; load at the end {load} (1, 5, 15 min)']
