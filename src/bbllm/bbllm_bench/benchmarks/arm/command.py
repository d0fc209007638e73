"""
`bbllm bench arm`: success, accuracy, speed and limits of the simulated arm.

With `--quick` it takes a minute; without, it runs 200 random picks and places (`--trials`), 30
towers of five and 30 plus signs. The report is printed and written as JSON.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm_bench.benchmarks.arm.trials import SCALE, Trial, audit_stop, run_trial
from bbllm_bench.benchmarks.shared import (
    machine_text,
    number,
    percentile,
    run_trials,
    write_report,
)
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import Grid, grid_of
from bbllm_bench.safety.limit_audit import NOTHING, Audit

MAX_PROCESSES = 2
SEED_STRIDE = {'pick_place': 0, 'tower': 100_000, 'plus': 200_000}
"""Offset of the seeds of each kind, so that no two kinds share random numbers."""
STOPS = 20
"""Number of motions that are cancelled on their way."""
TARGET_SUCCESS = {'pick_place': 0.99, 'tower': 0.95, 'plus': 0.95}
CAPTION = (
    'Error: distance of settled poses from their targets, median / 95 % / largest. Yaw: 95 %, in '
    'degrees.\nCycle: robot time of one pick and place, in seconds; moving: the part in which the '
    'arm moves;\nbound: least time of any motion through the same way-points, within all of the '
    'limits / within\nthe share of them that the arm uses.\nRandom objects are 0.30 to 0.70 m '
    'away; the plus sign has a pitch of 6 cm.'
)
TITLES = {'pick_place': 'pick and place', 'tower': 'tower of five', 'plus': 'plus sign'}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """Figures of all trials of one kind."""

    kind: str
    trials: int
    succeeded: int
    error_mm: tuple[float, float, float]
    """Placement error of the successful trials: median, 95th percentile, largest [mm]."""
    yaw_p95_deg: float
    """Yaw error of the successful trials; nan where no yaw was requested [deg]."""
    cycle_s: float
    """Robot time of one pick and place, mean [s]."""
    motion_s: float
    """The part of it in which the arm moves [s]."""
    bound_s: float
    """Least time for the same way-points within the same limits, mean; nan if not computed [s]."""
    share_bound_s: float
    """The same within the share of the limits that the arm uses [s]."""
    failures: tuple[str, ...]
    """One line per failed trial."""


def arm(
    seed: Annotated[int, typer.Option(min=0, help='Of the first trial.')] = 0,
    quick: Annotated[bool, typer.Option('--quick', help='A tenth of everything.')] = False,
    trials: Annotated[
        int, typer.Option(min=0, help='Random picks and places; 0: 200, with --quick 20.')
    ] = 0,
    scale: Annotated[float, typer.Option(min=0.01, max=1.0, help='Share of the limits.')] = SCALE,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-arm.json'),
    json: JsonOption = False,
) -> None:
    """Measure the arm in simulation: success, accuracy, speed, limits."""
    n, shapes = (20, 3) if quick else (200, 30)
    report = run_arm_bench(trials or n, seed, shapes=shapes, scale=scale)
    write_report(out, report, grids_of(report), notes_of(report), json=json)


def run_arm_bench(
    n: int,
    seed: int,
    *,
    shapes: int,
    scale: float = SCALE,
    processes: int = MAX_PROCESSES,
) -> dict[str, Any]:
    """Run all trials; return the report."""
    start_s = time.perf_counter()
    counts = {'pick_place': n, 'tower': shapes, 'plus': shapes}
    jobs = [
        (kind, SEED_STRIDE[kind] + seed + index, scale)
        for kind, count in counts.items()
        for index in range(count)
    ]
    trials = run_trials(run_trial, jobs, processes, every=20)
    audited = sum((trial.audit for trial in trials), NOTHING)
    return {
        'machine': describe_machine(),
        'seed': seed,
        'scale': scale,
        'figures': [
            figures_of(kind, [trial for trial in trials if trial.kind == kind])
            for kind, count in counts.items()
            if count
        ],
        'audit': audited,
        'violations': audited.violations,
        'measured': sum((trial.measured for trial in trials), NOTHING),
        'stops': sum((audit_stop(seed + index, scale) for index in range(STOPS)), NOTHING),
        'trajectories': sum(trial.trajectories for trial in trials),
        'wall_s': time.perf_counter() - start_s,
    }


def figures_of(kind: str, trials: Sequence[Trial]) -> ArmFigures:
    good = [trial for trial in trials if trial.ok]
    errors = [error * 1e3 for trial in good for error in trial.errors_m]
    bounds = [trial.bound_s / trial.cycles for trial in good if not math.isnan(trial.bound_s)]
    return ArmFigures(
        kind=kind,
        trials=len(trials),
        succeeded=len(good),
        error_mm=(percentile(errors, 50), percentile(errors, 95), max(errors, default=math.nan)),
        yaw_p95_deg=percentile([trial.yaw_deg for trial in good if kind == 'pick_place'], 95),
        cycle_s=_mean([trial.robot_s / trial.cycles for trial in good]),
        motion_s=_mean([trial.motion_s / trial.cycles for trial in good]),
        bound_s=_mean(bounds),
        share_bound_s=_mean([trial.share_bound_s / trial.cycles for trial in good]),
        failures=tuple(f'seed {trial.seed}: {trial.reason}' for trial in trials if not trial.ok),
    )


def grids_of(report: Mapping[str, Any]) -> list[Grid]:
    title = f'Arm, {report["scale"]:.0%} of the joint limits, seed {report["seed"]}'
    rows = [_row(item) for item in report['figures']]
    return [
        grid_of(title, rows, notes={'task': CAPTION}),
        grid_of('Limits', _limits(report)),
    ]


def notes_of(report: Mapping[str, Any]) -> list[str]:
    failures = [f'{item.kind} {line}' for item in report['figures'] for line in item.failures]
    return [*failures, f'{machine_text(report["machine"])}; {report["wall_s"]:.0f} s']


def _row(item: ArmFigures) -> dict[str, str]:
    target = TARGET_SUCCESS[item.kind]
    color = 'green' if item.succeeded >= target * item.trials else 'red'
    return {
        'task': TITLES[item.kind],
        'success': f'[{color}]{item.succeeded}/{item.trials}[/]',
        'target': f'{target:.0%}',
        'error, mm': ' / '.join(f'{value:.2f}' for value in item.error_mm),
        'yaw': number(item.yaw_p95_deg, 2),
        'cycle': number(item.cycle_s, 2),
        'moving': number(item.motion_s, 2),
        'bound': f'{number(item.bound_s, 2)} / {number(item.share_bound_s, 2)}',
    }


def _limits(report: Mapping[str, Any]) -> list[dict[str, str]]:
    audit, stops, measured = report['audit'], report['stops'], report['measured']
    samples = f'{audit.samples} samples of {report["trajectories"]} trajectories'
    measures = (
        (f'limit violations in {samples}', f'{audit.violations}', '0'),
        ('nearest to a limit', f'{audit.worst:.1%}', '100%'),
        (
            f'the same in {stops.samples} set points of {STOPS} stops and '
            'the motions after them, by differences',
            *_audited(stops),
        ),
        (f'measured joints, {measured.samples} samples every 10 ms', *_audited(measured)),
    )
    return [dict(zip(('measure', 'value', 'target'), measure)) for measure in measures]


def _audited(audit: Audit) -> tuple[str, str]:
    return f'{audit.violations}, nearest {audit.worst:.1%}', '0'


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else math.nan
