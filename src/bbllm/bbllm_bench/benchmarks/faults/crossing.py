"""The run of `bbllm bench faults --planner`: draws trials, plays them, prints and writes."""

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.records import to_json
from bbllm.core.registry import load_planner, plain_name
from bbllm.planners.assembly import check_domain
from bbllm.sim.faults import Fault
from bbllm_bench.benchmarks.faults.crossed import (
    INVARIANTS,
    KEYS,
    CrossedResult,
    CrossedTrial,
    draw,
    rows_of,
)
from bbllm_bench.benchmarks.faults.model_faults import ModelFault
from bbllm_bench.benchmarks.faults.playing import TASK, play
from bbllm_bench.benchmarks.reply_forms import PLANNERS
from bbllm_bench.benchmarks.shared import TrialBar, rate_text, results_of, write_json
from bbllm_bench.compare.choice import ALL, read_planners
from bbllm_bench.log.intervals import wilson
from bbllm_bench.log.versions import describe_machine, find_versions
from bbllm_bench.report.grid import grid_of, print_grid
from bbllm_bench.runner.play_here import TABLETOP

EVERY = 50
"""Where no bar is seen, one trial in so many has a line."""


def planners_named(text: str) -> tuple[str, ...]:
    """
    Return the planners of a list, `all` being those that play on the table.

    Raises:
        ConfigError: One plays elsewhere, or the stand-in does not answer it.
        UnknownNameError: There is no such planner.
    """
    named = read_planners(text)
    if named == (ALL,):
        return PLANNERS
    for name in named:
        check_domain(name, load_planner(name), TABLETOP)
        if plain_name(name) not in PLANNERS:
            raise ConfigError(
                f'The stand-in of this benchmark does not answer the planner {name}. Name some of '
                f'these: {", ".join(PLANNERS)}.'
            )
    return named


def drawn(
    *,
    planners: Sequence[str],
    robot: Sequence[Fault | None],
    model: Sequence[ModelFault],
    trials: int,
    seed: int,
    numbers: Collection[int] = (),
) -> list[CrossedTrial]:
    """Return the trials to play: all that are drawn, or those with some numbers, however many."""
    found = draw(max([trials - 1, *numbers]) + 1, seed, planners, robot, model)
    return [trial for trial in found if not numbers or trial.number in numbers]


def measure(
    trials: Sequence[CrossedTrial], seed: int, jobs: int, out: Path, *, json: bool = False
) -> bool:
    """
    Play trials, print the report and write it; return whether all kept every invariant.

    After Ctrl-C the report is of the trials so far.
    """
    output, begun_s = Output(json), time.monotonic()
    results: list[CrossedResult] = []
    try:
        with TrialBar(len(trials), every=EVERY) as bar:
            for result in results_of(play, [(trial,) for trial in trials], jobs):
                results.append(result)
                line = f'{len(results)}/{len(trials)} {_line(result)}'
                bar.advance(line, failed=not result.good)
    finally:
        report = _report(results, len(trials), seed, time.monotonic() - begun_s)
        write_json(out, {**report, 'results': [to_json(result) for result in results]})
        print_crossed(report, results, output)
        output.print_line(f'written to {out}')
    output.result(report)
    return all(result.good for result in results)


def _report(
    results: Sequence[CrossedResult], trials: int, seed: int, wall_s: float
) -> dict[str, Any]:
    return {
        'machine': describe_machine(),
        'versions': find_versions(),
        'task': TASK,
        'seed': seed,
        'trials': trials,
        'played': len(results),
        'good': sum(result.good for result in results),
        'good_interval': wilson(sum(result.good for result in results), len(results)),
        'wall_s': round(wall_s, 1),
        'invariants': {
            name: {'means': means, 'broken': _broken(results, name)}
            for name, means in INVARIANTS.items()
        },
        **{f'by_{key}': rows_of(results, key) for key in KEYS},
    }


def _broken(results: Sequence[CrossedResult], invariant: str) -> int:
    return sum(any(v.invariant == invariant for v in r.violations) for r in results)


def print_crossed(
    report: Mapping[str, Any], results: Sequence[CrossedResult], output: Output
) -> None:
    for key, title in KEYS.items():
        rows = [
            {
                title: row['name'],
                'trials': str(row['n']),
                'struck': str(row['struck']) if key != 'planner' else '',
                'finished': rate_text(row['finished'], row['n']),
                'finished or clear': rate_text(row['good'], row['n']),
                'endings': ', '.join(f'{name} {n}' for name, n in row['endings'].items()),
            }
            for row in report[f'by_{key}']
        ]
        print_grid(grid_of(f'{TASK}, by {title}', rows), output.console)
    rows = [
        {'invariant': name, 'broken in': str(item['broken']), 'means': item['means']}
        for name, item in report['invariants'].items()
    ]
    print_grid(grid_of('invariants', rows), output.console)
    for result in results:
        for violation in result.violations:
            output.print(f'{_line(result)}\n  {violation.invariant}: {violation.evidence}')
    if report['good'] < report['played']:
        output.print('The same command with --only NUMBER plays such a trial again.')
    output.print(
        f'{report["good"]} of {report["played"]} trials ended in a finished task or a clear '
        f'ending, every invariant kept; {sum(r.questions for r in results)} questions to a '
        f'person, {sum(r.waited_s for r in results):.0f} s of waiting, '
        f'{sum(r.goals for r in results)} goals of arm and hand, '
        f'{sum(r.requests for r in results)} requests, {report["wall_s"]:.0f} s'
    )


def _line(result: CrossedResult) -> str:
    trial = result.trial
    ending = 'no end' if result.ending is None else result.ending.name
    broken = ', '.join(dict.fromkeys(v.invariant for v in result.violations))
    return (
        f'trial {trial.number}, {trial.planner}, robot {trial.names["robot"]}, model '
        f'{trial.names["model"]}: {ending}, {f"broken: {broken}" if broken else "all kept"}'
    )
