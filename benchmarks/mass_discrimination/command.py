"""
`bbllm bench weigh`: how often the lighter of two cubes is taken for the heavier one.

The arm lifts two cubes that look alike, again and again, on random tables and with a noisy force
sensor. The report is printed, written as JSON and drawn.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from matplotlib.figure import Figure
from rich.console import Console

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.constants import GRAVITY_M_S2
from bbllm.scene.hand_force import PERIOD_S, WINDOW_S
from bbllm.scene.scene_file import FORCE_NOISE_N
from bbllm_bench.log.files import claim_folder
from bbllm_bench.log.intervals import Estimate, rate_of
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import grid_of, print_grid
from benchmarks.mass_discrimination.trials import Lift, MassTrial, run_trial
from benchmarks.shared import (
    BLUE,
    INK,
    exit_unless,
    machine_text,
    new_chart,
    percentile,
    run_trials,
    write_chart,
    write_json,
)

app = typer.Typer(add_completion=False)
NAME = 'weigh'
LIGHT_KG = 0.05
HEAVIER_KG = (0.055, 0.06, 0.07, 0.08, 0.10, 0.15)
SEED_STRIDE = 10_000
"""Offset of the seeds of each pair of masses, so that no two pairs share random numbers."""


@app.command()
def weigh(
    trials: Annotated[int, typer.Option(min=1, max=10_000, help='Of each pair of masses.')] = 50,
    seed: Annotated[int, typer.Option(min=0, help='Of the first trial.')] = 0,
    noise: Annotated[
        float,
        typer.Option(
            '--noise',
            metavar='N',
            min=0.0,
            max=5.0,
            help='Standard deviation of a reading of the force, and of the bias that a trial '
            'keeps [N].',
        ),
    ] = 0.2,
    jobs: Annotated[
        int | None,
        typer.Option('--jobs', '-j', min=1, help='Trials at once; one for each core by default.'),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar='DIR', help='Folder of the JSON and the pictures.')
    ] = Path('bench-weigh'),
    json: JsonOption = False,
) -> None:
    """
    Measure how well the arm tells which of two cubes is heavier, and how long that takes.

    Exit code: 0 when every pair of masses was weighed in a trial at least;
    1 when one was in none; 2 for input that cannot be used; 130 after Ctrl-C.

    Examples:
      bbllm bench weigh
      bbllm bench weigh --trials 10 --noise 0.5 --out noisy
    """
    claim_folder(out, f'{NAME}.json', 'this benchmark')
    report = run_mass_bench(trials, seed, noise_n=noise, processes=jobs or os.cpu_count() or 1)
    output = Output(json)
    print_report(report, output.console)
    write_json(out / f'{NAME}.json', report.as_json())
    write_chart(figure_of(report), out, NAME)
    output.print_line(f'{report.wall_s:.0f} s; written to {out}')
    output.result({**report.as_json(), 'folder': str(out)})
    exit_unless(all(item.error.n for item in report.figures))


def run_mass_bench(
    trials: int = 50,
    seed: int = 0,
    *,
    noise_n: float = FORCE_NOISE_N,
    processes: int = 1,
) -> MassReport:
    """
    Run all trials.

    *noise_n* is the standard deviation of a reading of the force, and of the bias of a trial [N].
    """
    start_s = time.perf_counter()
    jobs = [
        (LIGHT_KG, heavy_kg, seed + SEED_STRIDE * pair + index, noise_n)
        for index in range(trials)
        for pair, heavy_kg in enumerate(HEAVIER_KG)
    ]
    found = run_trials(run_trial, jobs, processes, every=10)
    lifts = [lift for trial in found for lift in trial.lifts]
    lift_s, lift_wall_s, scatter_n = times_of(lifts)
    return MassReport(
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


READINGS = round(WINDOW_S / PERIOD_S) + 1
"""How many readings of the sensor a weight is the mean of."""
CHANCE = 0.5
"""Error rate of an answer by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MassFigures:
    """What came out of all trials with one pair of masses."""

    heavy_kg: float
    ratio: float
    """Heavier over lighter."""
    error: Estimate
    """How often the lighter cube was said to be the heavier one."""
    expected: float
    """The same by the scatter of the readings alone."""
    failures: tuple[str, ...]
    """One line per trial in which a cube could not be weighed; they count in no rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MassReport:
    """Everything that one run measured."""

    machine: dict[str, str]
    seed: int
    light_kg: float
    noise_n: float
    """Standard deviation of a reading, and of the bias of an episode [N]."""
    planned: int
    """How many trials of each pair of masses were asked for."""
    figures: tuple[MassFigures, ...]
    lifts: int
    scatter_n: float
    """Standard deviation of what was felt from what it is, bias included [N]."""
    lift_s: tuple[float, float, float]
    """Simulated time of a lift until the weight is known: median, 95 %, longest [s]."""
    lift_wall_s: float
    """Wall time of the same, median [s]."""
    wall_s: float
    """Of the whole run [s]."""

    def as_json(self) -> dict[str, object]:
        """Return plain values for a JSON file; None for what nothing was measured of."""
        values = asdict(self)
        for name in ('scatter_n', 'lift_s', 'lift_wall_s'):
            values[name] = values[name] if self.lifts else None
        return values


def figures_of(
    light_kg: float,
    heavy_kg: float,
    trials: Sequence[MassTrial],
    noise_n: float = FORCE_NOISE_N,
) -> MassFigures:
    weighed = [trial for trial in trials if not trial.reason]
    wrong = sum(not trial.right for trial in weighed)
    return MassFigures(
        heavy_kg=heavy_kg,
        ratio=heavy_kg / light_kg,
        error=rate_of(wrong, len(weighed)),
        expected=expected_error(light_kg, heavy_kg, noise_n),
        failures=tuple(f'seed {t.seed}: {t.reason}' for t in trials if t.reason),
    )


def expected_error(light_kg: float, heavy_kg: float, noise_n: float = FORCE_NOISE_N) -> float:
    """
    Return how often two means of readings come out in the wrong order, by their scatter alone.

    The bias of the episode is in both, and the arm is taken to rest.
    """
    apart_n = GRAVITY_M_S2 * (heavy_kg - light_kg)
    scatter_n = noise_n * math.sqrt(2 / READINGS)
    if not scatter_n:
        return 0.0 if apart_n else 0.5
    return 1 - statistics.NormalDist().cdf(apart_n / scatter_n)


def times_of(lifts: Sequence[Lift]) -> tuple[tuple[float, float, float], float, float]:
    """Return median, 95 % and longest simulated time, median wall time, and scatter [s, N]."""
    times = [lift.robot_s for lift in lifts]
    off = [lift.down_n - GRAVITY_M_S2 * lift.mass_kg for lift in lifts]
    return (
        (percentile(times, 50), percentile(times, 95), max(times, default=math.nan)),
        percentile([lift.wall_s for lift in lifts], 50),
        math.sqrt(statistics.fmean(value**2 for value in off)) if off else math.nan,
    )


def print_report(report: MassReport, console: Console) -> None:
    rows = []
    for item in report.figures:
        error = item.error
        rate = 0.0 if error.value is None else error.value
        rows.append(
            {
                'heavier, kg': f'{item.heavy_kg:g}',
                'ratio': f'{item.ratio:.2f}',
                'wrong': f'{round(rate * error.n)}/{error.n}',
                'error rate': '' if error.value is None else f'{rate:.2f}',
                '95 %': '' if error.value is None else f'{error.low:.2f} to {error.high:.2f}',
                'by noise alone': f'{item.expected:.3f}',
            }
        )
    title = f'Which is heavier, beside {report.light_kg:g} kg? Seed {report.seed}'
    note = (
        f'Each cube is lifted once. A reading has {report.noise_n:g} N sd and a bias of the same '
        f'per episode;\na weight is the mean of {READINGS} readings at rest. Interval: Wilson. '
        'By noise alone:\nexpected from the scatter of the readings.'
    )
    print_grid(grid_of(title, rows, notes={'ratio': note}), console)
    if report.lifts:
        console.print(_lift_line(report))
    for item in report.figures:
        for line in item.failures:
            console.print(f'{item.heavy_kg:g} kg {line}', style='red', markup=False)
    console.print(machine_text(report.machine))


def _lift_line(report: MassReport) -> str:
    median_s, late_s, most_s = report.lift_s
    return (
        f'Lift and weigh: {median_s:.2f} / {late_s:.2f} / {most_s:.2f} s of robot time '
        f'(median / 95 % / longest of {report.lifts}), {report.lift_wall_s:.2f} s of wall time '
        f'(median). What was felt is {report.scatter_n:.2f} N (rms) from the true weight, bias '
        'included.'
    )


def figure_of(report: MassReport) -> Figure:
    light_kg = report.light_kg
    trials = max((item.error.n for item in report.figures), default=0)
    ratios = [1.0, *(item.ratio for item in report.figures)]
    with new_chart(
        f'Error rate of "which is heavier", beside {light_kg:g} kg',
        f'{trials} trials each, 95 % interval;  dashed: by the noise of the readings alone',
    ) as (figure, axes):
        steps = np.geomspace(1.0, max(ratios), 200)
        noise = [expected_error(light_kg, step * light_kg, report.noise_n) for step in steps]
        axes.plot(steps, noise, '--', color=INK)
        for item in report.figures:
            error = item.error
            if error.value is not None and error.low is not None and error.high is not None:
                bounds = [[error.value - error.low], [error.high - error.value]]
                axes.errorbar(
                    [item.ratio], [error.value], yerr=bounds, fmt='o', color=BLUE, clip_on=False
                )
        axes.set_xscale('log')
        axes.minorticks_off()
        labels = [f'{ratio:g}\n{ratio * light_kg:g}' for ratio in ratios]
        axes.set_xticks(ratios, labels, fontsize=8)
        axes.set_ylim(0, CHANCE)
        axes.set_xlabel('mass of the heavier cube: over that of the lighter one, and in kg')
    return figure
