"""
Measures the scales: how often the lighter of two cubes is taken for the heavier one.

`bbllm bench weigh` lifts two cubes that look alike, again and again, on random tables and with a
sensor as noisy as it is by default; what it finds is printed, written as JSON and drawn.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bbllm.bench.in_processes import results_of
from bbllm.bench.machine import describe_machine
from bbllm.bench.weighing_report import (
    WeighingReport,
    draw_report,
    figures_of,
    print_report,
    times_of,
)
from bbllm.bench.weighing_trials import WeighingTrial, run_weighing
from bbllm.core.errors import ConfigError
from bbllm.pictures.png import to_png
from bbllm.pictures.svg import to_svg
from bbllm.sim.simulation import FORCE_NOISE_N

LIGHT_KG = 0.05
HEAVIER_KG = (0.055, 0.06, 0.07, 0.08, 0.10, 0.15)
SEED_STRIDE = 10_000
"""Keeps the pairs of masses from sharing random numbers."""
NAME = 'weigh'


def run_weighing_bench(
    trials: int = 50,
    seed: int = 0,
    *,
    processes: int = 1,
    progress: Progress | None = None,
) -> WeighingReport:
    """
    Run all trials.

    Args:
        trials: How often each pair of masses is weighed.
        seed: Of the first trial; the others count on from it.
        processes: How many trials run at once.
        progress: Shows how far it is.
    """
    start_s = time.perf_counter()
    jobs = [
        (LIGHT_KG, heavy_kg, seed + SEED_STRIDE * pair + index)
        for pair, heavy_kg in enumerate(HEAVIER_KG)
        for index in range(trials)
    ]
    task = progress.add_task('lifting', total=len(jobs)) if progress else None
    found: list[WeighingTrial] = []
    for trial in results_of(run_weighing, jobs, processes):
        found.append(trial)
        if progress is not None and task is not None:
            progress.update(task, advance=1)
    found.sort(key=lambda trial: trial.seed)
    lifts = [lift for trial in found for lift in trial.lifts]
    lift_s, lift_wall_s, scatter_n = times_of(lifts)
    return WeighingReport(
        machine=describe_machine(),
        seed=seed,
        light_kg=LIGHT_KG,
        noise_n=FORCE_NOISE_N,
        figures=tuple(
            figures_of(LIGHT_KG, kg, [trial for trial in found if trial.heavy_kg == kg])
            for kg in HEAVIER_KG
        ),
        lifts=len(lifts),
        scatter_n=scatter_n,
        lift_s=lift_s,
        lift_wall_s=lift_wall_s,
        wall_s=time.perf_counter() - start_s,
    )


def main(
    trials: Annotated[int, typer.Option(min=1, help='Of each pair of masses.')] = 50,
    seed: Annotated[int, typer.Option(min=0, help='Of the first trial.')] = 0,
    jobs: Annotated[
        int | None,
        typer.Option('--jobs', '-j', min=1, help='Trials at once; one for each core by default.'),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar='DIR', help='Folder of the JSON and the pictures.')
    ] = Path('bench-weigh'),
) -> None:
    """Measure how well the arm tells which of two cubes is heavier, and how long that takes."""
    try:  # before minutes of work, not after
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f'The folder {out} cannot be made ({error.strerror}); give --out one that can.'
        ) from error
    console = Console()
    with Progress(console=console, transient=True) as progress:
        report = run_weighing_bench(
            trials, seed, processes=jobs or os.cpu_count() or 1, progress=progress
        )
    print_report(report, console)
    page = draw_report(report)
    (out / f'{NAME}.json').write_text(json.dumps(report.as_json(), indent=2) + '\n', 'utf-8')
    (out / f'{NAME}.svg').write_text(to_svg(page), 'utf-8')
    (out / f'{NAME}.png').write_bytes(to_png(page))
    console.print(f'{report.wall_s:.0f} s; written to {out}')
