"""
`bbllm bench rehearsal`: the same episodes with rehearsals and without, and how well they predict.

The episodes are played without rehearsal, with it, and with simulations that are wrong on purpose
(worlds.tabletop.rehearsal.WRONG_TWINS). Each way has a folder below --out, an ordinary run. Then
calls drawn at random on the tables of the suite are predicted and carried out (foresight.py).

    rehearsal.json   the figures
    rehearsal.md     tables
    rehearsal.svg, rehearsal.png   predicted and observed success of single calls
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import typer
from matplotlib.axes import Axes

from bbllm.api.config import ModelChoice
from bbllm.cli.support.options import JsonOption, count
from bbllm.cli.support.requests import expand_groups, fill, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.constants import REHEARSAL_SAMPLES, TwinError
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir
from bbllm.core.records import to_json
from bbllm.worlds.tabletop.rehearsal import WRONG_TWINS
from bbllm_bench.benchmarks.rehearsal.figures import (
    ForesightFigures,
    VariantFigures,
    foresight_figures,
    foresight_grid,
    variant_figures,
    variants_grid,
)
from bbllm_bench.benchmarks.rehearsal.foresight import Foreseen, series
from bbllm_bench.benchmarks.shared import new_chart, run_trials, write_chart, write_json
from bbllm_bench.commands.options import (
    MAX_JOBS,
    MAX_TRIALS,
    RUN,
    ReplayChoice,
    parse_ks,
    parse_tasks,
)
from bbllm_bench.commands.progress import ProgressView
from bbllm_bench.compare.choice import Contender, recordings_of
from bbllm_bench.compare.run import claim, play_all
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.intervals import wilson
from bbllm_bench.log.store import RunFolder
from bbllm_bench.report.grid import Grid, markdown_of, print_grid
from bbllm_bench.runner.conversations import check_recording
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.runner.workers import LocalWorkers
from bbllm_bench.suites.suite import Suite, load_suite

app = typer.Typer(add_completion=False)
WITHOUT, WITH = 'without', 'with'
COLORS = {'none': '#2f6db3', 'mass': '#c2571a', 'friction': '#2f8f4e', 'pose': '#7a4fa3'}


@dataclass(frozen=True, kw_only=True)
class RehearsalBenchOptions:
    """What is played and predicted."""

    suite: str = option('Suite of tables.', default='tabletop_hard')
    planner: str = option('Planning method that rehearses plans.', default='brain_body')
    k: str = option('Feedback loops, such as 0 or 0,1.', '-k', default='0', metavar='LIST')
    trials: int = count('Tables of each task.', default=3, max=MAX_TRIALS)
    seed: int = count('Makes the tables.', default=0, min=0)
    tasks: str | None = option('Only these tasks: plus_sign,letter_l.', metavar='LIST')
    errors: str = option(
        'What is wrong in simulations on purpose, one after the other: mass, friction, pose; '
        '`none` for none of these.',
        default='mass,friction,pose',
        metavar='LIST',
    )
    samples: int = count('Simulations of a rehearsal.', default=REHEARSAL_SAMPLES, max=100)
    series_count: int = count(
        'Series of calls drawn at random that are predicted; 0 for none.',
        '--series',
        default=20,
        min=0,
    )
    out: Path | None = option(  # noqa: RUF009  # a name
        'Folder of the results.', metavar='DIR', panel=RUN
    )
    jobs: int | None = count('Episodes at once.', '-j', max=MAX_JOBS, panel=RUN)


def rehearsal(
    *,
    chosen: RehearsalBenchOptions,
    models: ModelChoice,
    recording: ReplayChoice,
    json: JsonOption = False,
) -> None:
    """
    Play episodes with rehearsals and without, and measure how well rehearsals predict.

    The same command goes on in --out after a stop. Exit code: 0 when all was played,
    1 when something was lost, 2 for input that cannot be used, 130 after Ctrl-C.

    Examples:
      bbllm bench rehearsal --brain expert --body expert
      bbllm bench rehearsal --suite tabletop --brain offline --body offline --series 40
      bbllm bench rehearsal --replay talk.jsonl --seed 1711 --errors none --series 0
    """
    output = Output(json)
    suite, jobs = chosen.suite, chosen.jobs
    folder = (chosen.out or state_dir() / 'bench' / f'rehearsal-{suite}').expanduser()
    request = fill(
        BenchRequest,
        models,
        recording,
        suite=suite,
        planner=chosen.planner,
        ks=parse_ks(chosen.k),
        trials=chosen.trials,
        seed=chosen.seed,
        tasks=() if chosen.tasks is None else parse_tasks(chosen.tasks),
    )
    contenders = _contenders(request, _errors(chosen.errors), chosen.samples, folder)
    for each in contenders:
        plan = each.prepared.plan
        check_recording(plan.record, plan.settings, folder / each.folder)
    claim(folder)
    output.print_path('results', folder)
    workers = partial(LocalWorkers, play, jobs or len(os.sched_getaffinity(0)))
    with interrupts() as counter, output.bar() as bar:
        names = [item.planner for item in contenders]
        view = ProgressView(output, bar, lambda: counter.count > 0, names)
        ran = play_all(contenders, folder, workers, view)
    for item in ran:
        for problem in filter(None, (item.end.reason, item.end.problem, item.problem)):
            output.print(f'{item.planner}: {problem}', style='bold red')
    if any(item.end.interrupted for item in ran):
        output.print(f'The same command with --out {folder} goes on from here.')
        raise typer.Exit(INTERRUPTED)
    rows = [_figures(item, folder) for item in contenders]
    calls = _foreseen(load_suite(suite), chosen, jobs or 1)
    _write(rows, calls, f'{suite}, {chosen.planner}', folder, output)
    if any(item.end.reason or item.end.progress.lost for item in ran):
        raise typer.Exit(FAILED)


def _errors(text: str) -> list[TwinError]:
    words = [word.strip() for word in text.split(',') if word.strip()]
    if unknown := sorted({*words} - {*WRONG_TWINS}):
        raise ConfigError(
            f'--errors {text!r} names {unknown[0]!r}; there are {", ".join(WRONG_TWINS)}.'
        )
    return [error for error in WRONG_TWINS if error in words and error != 'none']


def _contenders(
    request: BenchRequest, errors: Sequence[TwinError], samples: int, folder: Path
) -> list[Contender]:
    """Return the ways to play, which share the cases: to make one may take a minute."""
    ways = {WITHOUT: replace(request, rehearse=0), WITH: replace(request, rehearse=samples)}
    for error in errors:
        ways[f'{WITH}-{error}'] = replace(request, rehearse=samples, twin_error=error)
    prepared = {
        name: prepare(recordings_of(way, name), folder / name) for name, way in ways.items()
    }
    make = cache(prepared[WITHOUT].plan.make_case)
    return [
        Contender(name, replace(each, plan=replace(each.plan, make_case=make)))
        for name, each in prepared.items()
    ]


def _figures(item: Contender, folder: Path) -> VariantFigures:
    with RunFolder(folder / item.folder) as run:
        return variant_figures(item.planner, folder / item.folder, [*run.results.values()])


def _foreseen(suite: Suite, chosen: RehearsalBenchOptions, jobs: int) -> list[Foreseen]:
    names = [task.name for task in suite.tasks]
    wanted = [
        (suite.name, names[n % len(names)], chosen.seed, n // len(names), chosen.samples)
        for n in range(chosen.series_count)
    ]
    return [call for found in run_trials(series, wanted, jobs, every=10) for call in found]


def _write(
    rows: Sequence[VariantFigures],
    calls: Sequence[Foreseen],
    title: str,
    folder: Path,
    output: Output,
) -> None:
    foresight = [*foresight_figures(calls)]
    grids: list[Grid] = [variants_grid(title, rows)]
    if foresight:
        grids.append(foresight_grid(foresight))
        with new_chart('Predicted and observed success of calls', title) as (figure, axes):
            _draw(axes, foresight)
            write_chart(figure, folder, 'rehearsal')
    for grid in grids:
        print_grid(grid, output.console)
    lines = [line for grid in grids for line in (*markdown_of(grid), '')]
    write_atomically(folder / 'rehearsal.md', '\n'.join(lines))
    report = {
        'variants': to_json(rows),
        'foresight': to_json(foresight),
        'calls': to_json(calls),
    }
    write_json(folder / 'rehearsal.json', report)
    output.print_path('tables', folder / 'rehearsal.md')
    output.result(report)


def _draw(axes: Axes, rows: Sequence[ForesightFigures]) -> None:
    axes.plot((0, 1), (0, 1), color='#999999', linewidth=0.8, linestyle='--')
    for number, row in enumerate(rows):
        shares = [share + 0.012 * (number - 1.5) for share, _, _ in row.bins]
        rates = [succeeded / n for _, n, succeeded in row.bins]
        bounds = [wilson(succeeded, n) for _, n, succeeded in row.bins]
        below = [rate - low for rate, (low, _) in zip(rates, bounds, strict=True)]
        above = [high - rate for rate, (_, high) in zip(rates, bounds, strict=True)]
        label = 'right simulation' if row.twin_error == 'none' else f'wrong {row.twin_error}'
        axes.errorbar(
            shares,
            rates,
            yerr=(below, above),
            color=COLORS[row.twin_error],
            label=label,
            marker='o',
            markersize=4,
            linewidth=1,
            capsize=2,
        )
    axes.set_xlabel('share of simulations in which the call succeeds')
    axes.set_ylabel('share of these calls that succeeded')
    axes.legend(fontsize=7, loc='upper left')


app.command()(expand_groups(rehearsal))
