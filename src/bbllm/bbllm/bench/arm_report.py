"""The figures of a run of the arm's bench, as a record, a table and JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from bbllm.bench.arm_timing import PhysicsSpeed, Timing, percentile
from bbllm.bench.arm_trials import Trial
from bbllm.bench.limit_audit import NOTHING, Audit

TARGET_SUCCESS = {'pick_place': 0.99, 'tower': 0.95, 'plus': 0.95}
TITLES = {
    'pick_place': 'pick and place',
    'tower': 'tower of five',
    'plus': 'plus sign',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came out of all trials of one kind."""

    kind: str
    trials: int
    succeeded: int
    error_mm: tuple[float, float, float]
    """Placement error of what succeeded: median, 95th percentile, largest [mm]."""
    yaw_p95_deg: float
    """Yaw error of what succeeded; nan where it was not asked for [deg]."""
    cycle_s: float
    """Robot time of one pick and place, mean [s]."""
    motion_s: float
    """Of which the arm moves [s]."""
    bound_s: float
    """Least time in which the same way-points can be passed within the same limits, mean; nan
    where it was not computed [s]."""
    failures: tuple[str, ...]
    """One line per trial that failed."""

    @property
    def success(self) -> float:
        """Share of trials that succeeded."""
        return self.succeeded / self.trials if self.trials else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmReport:
    """Everything that one run measured."""

    machine: dict[str, str]
    seed: int
    scale: float
    """Share of the joint limits that the arm used."""
    processes: int
    figures: tuple[Figures, ...]
    audit: Audit
    """Limit violations over all trajectories that were sent."""
    trajectories: int
    real_time_factor: float
    """Simulated seconds per wall second in one process, planning and control included."""
    reachability: Timing
    pick_plan: Timing
    physics: PhysicsSpeed
    wall_s: float
    """Of the whole run [s]."""

    def as_json(self) -> dict[str, object]:
        """Return plain values for a JSON file, None for what was not measured."""
        values = {**asdict(self), 'violations': self.audit.violations}
        return {key: _plain(value) for key, value in values.items()}


def figures_of(kind: str, trials: Sequence[Trial]) -> Figures:
    """Summarise the trials of one kind."""
    good = [trial for trial in trials if trial.ok]
    errors = [error * 1e3 for trial in good for error in trial.errors_m]
    cycles = [trial.robot_s / trial.cycles for trial in good]
    bounds = [trial.bound_s / trial.cycles for trial in good if not math.isnan(trial.bound_s)]
    return Figures(
        kind=kind,
        trials=len(trials),
        succeeded=len(good),
        error_mm=(percentile(errors, 50), percentile(errors, 95), max(errors, default=math.nan)),
        yaw_p95_deg=percentile([trial.yaw_deg for trial in good if kind == 'pick_place'], 95),
        cycle_s=_mean(cycles),
        motion_s=_mean([trial.motion_s / trial.cycles for trial in good]),
        bound_s=_mean(bounds),
        failures=tuple(f'seed {trial.seed}: {trial.reason}' for trial in trials if not trial.ok),
    )


def audit_of(trials: Sequence[Trial]) -> Audit:
    """Add up the limit violations of all trials."""
    return sum((trial.audit for trial in trials), NOTHING)


def print_report(report: ArmReport, console: Console) -> None:
    """Print the tables."""
    console.print(_trial_table(report))
    console.print(_other_table(report))
    for figures in report.figures:
        for line in figures.failures:
            console.print(f'{figures.kind} {line}', style='red', markup=False)
    console.print(', '.join(f'{key} {value}' for key, value in report.machine.items()))


def _trial_table(report: ArmReport) -> Table:
    table = Table(
        title=f'Arm, {report.scale:.0%} of the joint limits, seed {report.seed}',
        caption='Error on settled poses: median / 95 % / largest. Yaw: 95 %, in degrees. Cycle: '
        'robot time of one pick and place, of which moving; bound: no motion through the same '
        'way-points within the same limits is faster, in seconds. Random things lie 0.30 to '
        '0.70 m away; the plus sign has a pitch of 6 cm.',
    )
    columns = ('task', 'success', 'target', 'error, mm', 'yaw', 'cycle', 'moving', 'bound')
    for name in columns:
        table.add_column(name, justify='left' if name == 'task' else 'right')
    for item in report.figures:
        met = item.success >= TARGET_SUCCESS[item.kind]
        table.add_row(
            TITLES[item.kind],
            f'[{"green" if met else "red"}]{item.succeeded}/{item.trials}[/]',
            f'{TARGET_SUCCESS[item.kind]:.0%}',
            ' / '.join(f'{value:.2f}' for value in item.error_mm),
            _number(item.yaw_p95_deg, 2),
            _number(item.cycle_s, 2),
            _number(item.motion_s, 2),
            _number(item.bound_s, 2),
        )
    return table


def _other_table(report: ArmReport) -> Table:
    table = Table(title='Limits and planning')
    table.add_column('measure')
    table.add_column('value', justify='right')
    table.add_column('target', justify='right')
    audit = report.audit
    table.add_row(
        f'limit violations in {audit.samples} samples of {report.trajectories} trajectories',
        str(audit.violations),
        '0',
    )
    table.add_row('nearest to a limit', f'{audit.worst:.1%}', '100%')
    table.add_row(
        'simulated time, one process, control and planning in the loop',
        f'{report.real_time_factor:.1f} x real time',
        '20 x',
    )
    table.add_row(
        'the same without planning, objects asleep: arm moving / at rest',
        f'{report.physics.moving:.0f} / {report.physics.resting:.0f} x',
        '50 x',
    )
    for title, timing, target in (
        ('reachability query, median / p95', report.reachability, '1 ms'),
        ('plan of a pick, median / p95', report.pick_plan, '10 ms'),
    ):
        table.add_row(title, f'{timing.median_ms:.2f} / {timing.p95_ms:.2f} ms', target)
    return table


def _plain(value: object) -> object:
    """Return a value that JSON has: it knows no nan."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else math.nan


def _number(value: float, digits: int) -> str:
    return '' if math.isnan(value) else f'{value:.{digits}f}'
