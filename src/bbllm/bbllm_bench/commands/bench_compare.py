"""`bbllm bench compare SUITE`: several planners on the same cases, with equal budgets."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbllm.api.config import MAX_K
from bbllm.cli.support.options import count
from bbllm.cli.support.requests import given, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.records import to_json
from bbllm.core.text import count_of
from bbllm_bench.commands.options import BenchOptions
from bbllm_bench.commands.progress import ProgressView, time_text
from bbllm_bench.compare.text import budgets_text, closing_line, grids_of
from bbllm_bench.log.choices import ReplayChoice
from bbllm_bench.report.grid import Grid, print_grid

if TYPE_CHECKING:
    from bbllm_bench.compare.choice import Choice
    from bbllm_bench.compare.figures import PlannerComparison
    from bbllm_bench.compare.run import PlannerRun


def compare(
    *,
    suite: Annotated[
        str, typer.Argument(metavar='SUITE', help='Name of a suite, or path of a suite file.')
    ],
    planners: str = option(
        'Which planners to compare: all, or names with commas between them, each with options or '
        'without. The others are compared with the first: prog_prompt,all.',
        default='all',
        metavar='LIST',
    ),
    k: int = count(
        'How often a planner with feedback loops may plan anew.',
        '-k',
        default=3,
        min=0,
        max=MAX_K,
    ),
    bench: BenchOptions,
    recording: ReplayChoice,
) -> None:
    """
    Compare planners on the same cases of a suite, each with the same budget.

    All planners that play in the suite's world, and whose prompts the models
    can answer, are compared with the first: success, goal conditions, executable
    steps, calls and tokens, with intervals over cases, and paired
    differences. Each has a folder in
    --out, which `bbllm bench diff` and `report` read; the same command goes on
    in it after a stop, and may name more planners.

    --record takes a folder, with a file for each planner; --replay takes such a
    folder, or a file that answers all. With both, the models are asked only
    what --replay lacks.

    Exit code: as `bbllm bench SUITE`.

    Examples:
      bbllm bench compare household --brain expert --body expert --trials 2
      bbllm bench compare tabletop --brain offline --body offline
      bbllm bench compare household --planners prog_prompt,lang_prompt --brain MODEL
      bbllm bench compare tabletop_hard --planners brain_body,brain_body:feedback=none -k 1
    """
    from bbllm_bench.compare.choice import choose
    from bbllm_bench.compare.files import TABLES, compare_folder
    from bbllm_bench.runner.conversations import check_recording

    run = bench.run_request(suite, ks=(k,), **given(recording))
    output = Output(bench.json)
    folder = bench.folder('compare', suite)
    choice = choose(run, planners, folder)
    for item in choice.contenders:
        plan = item.prepared.plan
        check_recording(plan.record, plan.settings, folder / item.folder)
    ran = play_choice(choice, folder, bench, output)
    compared = compare_folder(
        folder,
        [item.planner for item in choice.contenders],
        left_out=choice.left_out,
        ended_early={item.planner: item.end.reason for item in ran if item.end.reason},
    )
    grids = grids_of(compared) if compared else ()
    print_results(compared, grids, choice, ran, folder, output)
    if compared is not None:
        output.print_path('tables', folder / TABLES)
    end_comparison(compared, choice, ran, folder, output)


def play_choice(
    choice: Choice, folder: Path, bench: BenchOptions, output: Output
) -> tuple[PlannerRun, ...]:
    """Play what is missing of a comparison, with a progress bar; see `play_all`."""
    from bbllm_bench.compare.files import claim
    from bbllm_bench.compare.run import play_all

    hire = bench.choose_workers()
    claim(folder)
    _introduce(choice, folder, bench, output)
    names = [item.planner for item in choice.contenders]
    begun_s = time.monotonic()
    with interrupts() as counter, output.bar() as bar:
        view = ProgressView(output, bar, lambda: counter.count > 0, names)
        ran = play_all(choice.contenders, folder, hire, view)
    wall_s = time.monotonic() - begun_s
    output.print()
    if played := sum(item.end.progress.played for item in ran):
        rate = 60 * played / wall_s
        output.print(f'{count_of(played, "episode")} in {time_text(wall_s)}: {rate:.0f} a minute.')
    return ran


def end_comparison(
    compared: PlannerComparison | None,
    choice: Choice,
    ran: Sequence[PlannerRun],
    folder: Path,
    output: Output,
) -> None:
    """Print the last lines, or the JSON, of a comparison, and exit with its code."""
    output.print_path('results', folder)
    output.result(
        {
            **(compared.model_dump(mode='json') if compared else {'planners': []}),
            'complete': _is_complete(choice, ran),
            'folder': str(folder),
        }
    )
    if compared is not None:
        output.print_line(closing_line(compared))
    if any(item.end.interrupted for item in ran):
        raise typer.Exit(INTERRUPTED)
    failed = any(item.end.reason or item.end.progress.lost for item in ran)
    raise typer.Exit(FAILED if failed else 0)


def _introduce(choice: Choice, folder: Path, bench: BenchOptions, output: Output) -> None:
    output.print_path('results', folder)
    for notice in choice.notices:
        output.print(notice, style='yellow')
    reasons: dict[str, list[str]] = defaultdict(list)
    for item in choice.left_out:
        first = item.reason.partition('. ')[0].removesuffix('.')
        reasons[first.removeprefix(f'The planner {item.planner} ')].append(item.planner)
    for reason, names in reasons.items():
        output.print(f'Left out: {", ".join(names)}: {reason}.', 'dim')
    own = any(task.limit_steps for task in choice.suite.tasks)
    budget = budgets_text(to_json(bench.chosen.limits), own=own)
    planners = count_of(len(choice.contenders), 'planner')
    output.print(f'{planners}; each episode may use {budget}.')


def _is_complete(choice: Choice, ran: Sequence[PlannerRun]) -> bool:
    ends = [item.end.progress for item in ran]
    return len(ran) == len(choice.contenders) and all(end.done == end.total for end in ends)


def print_results(
    compared: PlannerComparison | None,
    grids: Sequence[Grid],
    choice: Choice,
    ran: Sequence[PlannerRun],
    folder: Path,
    output: Output,
) -> None:
    """Print the tables of a comparison, its notices, and what went wrong."""
    output.print()
    if compared is None:
        output.print('No episode ended, so that there is nothing to compare yet.')
    else:
        for grid in grids:
            print_grid(grid, output.console)
            output.print()
        for notice in compared.notices:
            output.print(notice, style='yellow')
    for item in ran:
        for problem in filter(None, (item.end.reason, item.end.problem, item.problem)):
            output.print(f'{item.planner}: {problem}', style='bold red')
    if not _is_complete(choice, ran):
        output.print(f'The same command with --out {folder} goes on from here.')
