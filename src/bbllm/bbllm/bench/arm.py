"""
Measures the arm: success, accuracy, speed beside the bound, limits, and planning times.

`python -m bbllm.bench.arm --quick` takes a minute; without `--quick` it runs 200 random picks
and places, 30 towers of five and 30 plus signs. The result is printed and written as JSON.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bbllm.bench.arm_report import ArmReport, audit_of, figures_of, print_report
from bbllm.bench.arm_timing import time_physics, time_pick_plan, time_reachability
from bbllm.bench.arm_trials import Trial, run_trial
from bbllm.bench.console import PlainConsole
from bbllm.bench.in_processes import results_of
from bbllm.bench.machine import describe_machine

MAX_PROCESSES = 2
SEED_STRIDE = {'pick_place': 0, 'tower': 100_000, 'plus': 200_000}
"""Keeps the kinds from sharing random numbers."""

ALONE = 5
"""How many trials run with nothing beside them, to see how fast the simulation goes."""


def run_arm_bench(
    n: int = 200,
    seed: int = 0,
    *,
    shapes: int = 30,
    scale: float = 0.8,
    processes: int = MAX_PROCESSES,
    questions: int = 200,
    progress: Progress | None = None,
) -> ArmReport:
    """
    Run all trials and timings.

    Args:
        n: Random picks and places.
        seed: Of the first trial; the others count on from it.
        shapes: Towers, and as many plus signs.
        scale: Share of the joint limits that the arm uses, in (0, 1].
        processes: How many trials run at once, 1 or 2.
        questions: How many reachability queries, and how many plans of a pick, are timed.
        progress: Shows how far it is.
    """
    start_s = time.perf_counter()
    # What is timed comes first, while nothing else runs.
    reachability = time_reachability(questions, seed)
    pick_plan = time_pick_plan(questions, seed)
    physics = time_physics()
    alone = [run_trial('pick_place', seed + index, scale) for index in range(ALONE)]
    counts = {'pick_place': n, 'tower': shapes, 'plus': shapes}
    jobs = [
        (kind, SEED_STRIDE[kind] + seed + index, scale)
        for kind, count in counts.items()
        for index in range(count)
    ]
    task = progress.add_task('trials', total=len(jobs)) if progress else None
    trials: list[Trial] = []
    for trial in results_of(run_trial, jobs, min(processes, MAX_PROCESSES)):
        trials.append(trial)
        if progress is not None and task is not None:
            progress.update(task, advance=1, description=f'{trial.kind:<10}')
    trials.sort(key=lambda trial: trial.seed)
    return ArmReport(
        machine=describe_machine(),
        seed=seed,
        scale=scale,
        processes=min(processes, MAX_PROCESSES),
        figures=tuple(
            figures_of(kind, [trial for trial in trials if trial.kind == kind])
            for kind, count in counts.items()
            if count
        ),
        audit=audit_of(trials),
        trajectories=sum(trial.trajectories for trial in trials),
        real_time_factor=sum(trial.simulated_s for trial in alone)
        / sum(trial.wall_s for trial in alone),
        reachability=reachability,
        pick_plan=pick_plan,
        physics=physics,
        wall_s=time.perf_counter() - start_s,
    )


def main(
    n: Annotated[int, typer.Option(min=0, help='Random picks and places.')] = 200,
    shapes: Annotated[int, typer.Option(min=0, help='Towers, and as many plus signs.')] = 30,
    seed: Annotated[int, typer.Option(min=0, help='Of the first trial.')] = 0,
    scale: Annotated[
        float, typer.Option(min=0.05, max=1.0, help='Share of the joint limits to use.')
    ] = 0.8,
    processes: Annotated[
        int, typer.Option(min=1, max=MAX_PROCESSES, help='Trials at once.')
    ] = MAX_PROCESSES,
    quick: Annotated[bool, typer.Option('--quick', help='A tenth of everything.')] = False,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-arm.json'),
) -> None:
    """Measure the arm in simulation: success, accuracy, speed, limits, planning times."""
    if quick:
        n, shapes = n // 10, shapes // 10
    console = PlainConsole()
    with Progress(console=console, transient=True) as progress:
        report = run_arm_bench(
            n, seed, shapes=shapes, scale=scale, processes=processes, progress=progress
        )
    print_report(report, console)
    out.write_text(json.dumps(report.as_json(), indent=2) + '\n', 'utf-8')
    console.print(f'{report.wall_s:.0f} s; written to {out}')


if __name__ == '__main__':
    typer.run(main)
