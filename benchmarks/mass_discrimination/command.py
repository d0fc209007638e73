"""
`bbllm bench weigh`: how often the lighter of two cubes is taken for the heavier one.

The arm lifts two cubes that look alike, again and again, on random tables and with a noisy force
sensor. The report is printed, written as JSON and drawn.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from bbllm.bench.log.versions import describe_machine
from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.sim.scene_file import FORCE_NOISE_N
from benchmarks.mass_discrimination.report import (
    MassReport,
    figure_of,
    figures_of,
    print_report,
    times_of,
)
from benchmarks.mass_discrimination.trials import MassTrial, run_trial
from benchmarks.shared import TrialBar, make_folder, results_of, write_figure, write_json

app = typer.Typer(add_completion=False, rich_markup_mode='rich')
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

    After Ctrl-C, the report covers the trials made until then.

    Exit code: 0 when every pair of masses was weighed in a trial at least;
    1 when one was in none; 2 for input that cannot be used; 130 after Ctrl-C.

    [bold]Examples[/bold]

      bbllm bench weigh
      bbllm bench weigh --trials 10 --noise 0.5 --out noisy
    """
    make_folder(out)
    with interrupts() as counter, TrialBar(trials * len(HEAVIER_KG), every=10) as bar:
        report = run_mass_bench(
            trials,
            seed,
            noise_n=noise,
            processes=jobs or os.cpu_count() or 1,
            on_trial=lambda done, total: bar.advance(f'{done} of {total} trials'),
            should_stop=lambda: counter.count > 0,
        )
    output = Output(json)
    print_report(report, output.console)
    write_json(out / f'{NAME}.json', report.as_json())
    write_figure(figure_of(report), out, NAME)
    output.print_line(f'{report.wall_s:.0f} s; written to {out}')
    output.result({**report.as_json(), 'folder': str(out)})
    if counter.count or not report.all_weighed:
        raise typer.Exit(INTERRUPTED if counter.count else FAILED)


def run_mass_bench(
    trials: int = 50,
    seed: int = 0,
    *,
    noise_n: float = FORCE_NOISE_N,
    processes: int = 1,
    on_trial: Callable[[int, int], object] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> MassReport:
    """
    Run all trials, or those made until `should_stop` returns true.

    Args:
        trials: How often each pair of masses is weighed.
        seed: Seed of the first trial; the others count on from it.
        noise_n: Standard deviation of a reading of the force, and of the bias of a trial [N].
        processes: How many trials run at once.
        on_trial: Called after every trial with the number of trials done and the total.
        should_stop: Called after every trial.
    """
    start_s = time.perf_counter()
    jobs = [
        (LIGHT_KG, heavy_kg, seed + SEED_STRIDE * pair + index, noise_n)
        for index in range(trials)
        for pair, heavy_kg in enumerate(HEAVIER_KG)
    ]
    found: list[MassTrial] = []
    with closing(results_of(run_trial, jobs, processes)) as results:
        for trial in results:
            found.append(trial)
            on_trial(len(found), len(jobs))
            if should_stop():
                break
    found.sort(key=lambda trial: trial.seed)
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
