"""`bbllm bench SUITE`: plays all episodes of a suite, scores them, writes results and report."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bbllm.api.config import PlannerChoice
from bbllm.cli.support.requests import given, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm_bench.commands.options import BenchOptions, parse_ks
from bbllm_bench.commands.progress import ProgressView
from bbllm_bench.log.choices import ReplayChoice
from bbllm_bench.report.summary import closing_line
from bbllm_bench.report.summary_table import print_summary

if TYPE_CHECKING:
    from bbllm_bench.report.write import Finished
    from bbllm_bench.runner.run_watch import RunEnd


def suite(
    *,
    context: typer.Context,
    method: PlannerChoice,
    k: str | None = option(
        'How often the Brain may plan anew, by default as the suite says (3 in most); several '
        'values are several runs of all trials: 0,1,2,3 or 0-3.',
        '-k',
        metavar='LIST',
    ),
    bench: BenchOptions,
    recording: ReplayChoice,
) -> None:
    """
    Score a planner and its models on the tasks of a suite.

    Every task is played on several tables or in several houses, made from the
    seed, and judged by how everything is at the end. A run that was ended, by Ctrl-C or by a
    crash, goes on when the same command is repeated with its --out.

    In tasks that ask to find something out first (suite partial), two stand-ins
    play without a key where the planner is llm_pop:
    --brain expert, which receives the goal and finds out the rest, and --brain
    uninformed, which guesses. They measure the plumbing, not planning.

    Exit code: 0 when all episodes were played, whatever the score; 1 when the
    run ended early or episodes were lost; 2 for input that cannot be used;
    130 after Ctrl-C.

    Examples:
      bbllm bench tabletop --brain offline --body offline --trials 5
      bbllm bench tabletop --brain MODEL -k 0-3 --out runs/model --record talk.jsonl
      bbllm bench tabletop -k 0-3 --replay talk.jsonl
      bbllm bench partial --planner llm_pop --brain expert --trials 10
      bbllm bench household --planner prog_prompt:check=graph --trials 6
      bbllm bench my_suite.yaml --tasks first,second --jobs 8
    """
    from bbllm_bench.log.store import RunFolder
    from bbllm_bench.report.write import finish
    from bbllm_bench.runner.conversations import check_recording
    from bbllm_bench.runner.run_setup import prepare
    from bbllm_bench.runner.runner import begin, run_bench

    name = context.info_name or ''  # what was typed
    run = bench.run_request(
        name,
        planner=method.planner,
        ks=() if k is None else parse_ks(k),
        **given(recording),
    )
    output = Output(bench.json)
    hire = bench.choose_workers()
    path = bench.folder('bench', name)
    prepared = prepare(run, path)
    check_recording(run.record, prepared.plan.settings, path)
    with RunFolder(path) as folder, interrupts() as counter:
        plan = begin(prepared.plan, folder)
        output.print_path('results', path)
        for notice in prepared.notices:
            output.print(notice, style='yellow')
        with closing(hire()) as workers, output.bar() as bar:
            view = ProgressView(output, bar, lambda: counter.count > 0)
            end = run_bench(plan, folder, workers, view)
        finished = finish(folder)
    _print_results(end, finished, path, output)
    if end.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(FAILED if end.reason or end.progress.lost else 0)


def _print_results(end: RunEnd, finished: Finished, path: Path, output: Output) -> None:
    summary = finished.summary
    output.print()
    if end.progress.done:
        print_summary(summary, output.console)
        output.print()
    early = f'The run ended early. {end.reason}' if end.reason else ''
    for problem in filter(None, (early, end.problem, finished.problem)):
        output.print(problem, style='bold red')
    if end.progress.done < end.progress.total:
        output.print(f'The same command with --out {path} goes on from here.')
    if finished.report is not None:
        output.print_path('report', finished.report)
    output.print_path('results', path)
    output.result(
        {
            **summary.model_dump(mode='json'),
            'complete': end.progress.done == end.progress.total,
            'reason': end.reason,
            'problem': end.problem,
            'folder': str(path),
            'report': str(finished.report) if finished.report is not None else None,
        }
    )
    ks = [group.k for group in summary.by_k]
    if len(ks) > 1:
        output.print(f'Of K = {", ".join(map(str, ks))}, the last line is that of K = {ks[-1]}.')
    output.print_line(closing_line(summary))
