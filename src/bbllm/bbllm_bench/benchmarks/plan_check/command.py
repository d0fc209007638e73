"""
`bbllm bench plan-check`: what the check of plans reports of calls whose outcomes are known.

For each call of an episode, the calls that succeeded before it and the call itself are checked as
a plan, from the first scene of the journal. A fault of a call that succeeded is a false one. EXEC
is the share of calls that succeeded: of all calls, and of those that the check lets pass. The
time is the processor's for the first ten calls that succeeded.
"""

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import SceneRecorded
from bbllm.core.journal import read_episode
from bbllm.core.types import Outcome, Scene, SkillCall, Status
from bbllm.skills.plan_check import check_plan
from bbllm_bench.benchmarks.shared import exit_unless, percentile, rate_text
from bbllm_bench.log.store import EPISODES
from bbllm_bench.report.grid import grid_of, print_grid

app = typer.Typer(add_completion=False)
LENGTH = 10
"""Calls of the plans whose check is timed."""
REPEATS = 7
"""How often each is timed; the fastest counts, as other programs only slow a check down."""


@app.command()
def plan_check(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar='RUN...', help='Folders of runs of `bbllm bench`, or above them.'),
    ],
    json: JsonOption = False,
) -> None:
    """
    Compare the check of plans with the outcomes of played episodes on tables; time it.

    For each planner: EXEC of all calls, and of those that the check lets pass.

    Exit code: 0 where no call that succeeded has a fault, else 1.

    [bold]Example[/bold]

      bbllm bench tabletop --brain offline --body offline --trials 3 --out run
      bbllm bench plan-check run
    """
    journals = [path for run in runs for path in sorted(run.glob(f'**/{EPISODES}/*.jsonl'))]
    if not journals:
        raise ConfigError(f'{runs[0]} has no journals in {EPISODES}/: name the --out of a bench.')
    output, times_ms = Output(json), list[float]()
    by_planner = defaultdict[str, Counter[str]](Counter)
    for path in journals:
        episode = read_episode(path)
        events = [event.data for event in episode.events]
        scene = next((data.scene for data in events if isinstance(data, SceneRecorded)), None)
        if scene is None or scene.is_symbolic:
            continue
        outcomes = [data for data in events if isinstance(data, Outcome)]
        for word, outcome in judged(outcomes, scene):
            by_planner[episode.planner][word] += 1
            if word == 'false':
                output.print(f'{path.stem}: {outcome.call} succeeded', style='red')
        calls = [outcome.call for outcome in outcomes if outcome.succeeded][:LENGTH]
        if len(calls) == LENGTH:
            times_ms.append(min(timed_ms(calls, scene) for _ in range(REPEATS)))
    counts = sum(by_planner.values(), Counter[str]())
    rows = [execution(name, counted) for name, counted in sorted(by_planner.items())]
    figures = {
        'succeeded': counts['right'] + counts['false'],
        'false_faults': counts['false'],
        'refused': counts['found'] + counts['other'] + counts['missed'],
        'found': counts['found'],
        'found_with_another_sentence': counts['other'],
        'plans_timed': len(times_ms),
        'median_ms': round(statistics.median(times_ms), 2) if times_ms else None,
        'p95_ms': round(percentile(times_ms, 95), 2) if times_ms else None,
    }
    for name, value in figures.items():
        output.print(f'{name.replace("_", " ")}: {value}')
    print_grid(grid_of('Calls up to the first that the arm tried in vain', rows), output.console)
    output.result({**figures, 'by_planner': rows})
    exit_unless(not counts['false'])


def execution(planner: str, counted: Counter[str]) -> dict[str, str]:
    """Return a planner's EXEC: of all judged calls, and of those that the check lets pass."""
    calls, found = counted.total(), counted['found'] + counted['other']
    succeeded = counted['right'] + counted['false']
    return {
        'planner': planner,
        'calls': str(calls),
        'EXEC': rate_text(succeeded, calls),
        'found by the check': str(found),
        'EXEC of the others': rate_text(counted['right'], calls - found - counted['false']),
    }


def judged(outcomes: list[Outcome], scene: Scene) -> Iterator[tuple[str, Outcome]]:
    """Yield what the check reports of each call, up to the first that was tried and failed."""
    done: list[SkillCall] = []
    for outcome in outcomes:
        if outcome.status is Status.FAILED:
            return  # where all is now, is not known
        faults = check_plan([*done, outcome.call], scene)
        fault = faults[-1] if faults and faults[-1].index == len(done) else None
        if outcome.succeeded:
            done.append(outcome.call)
            yield 'right' if fault is None else 'false', outcome
        elif fault is None:
            yield 'missed', outcome
        else:
            same = (fault.code, fault.sentence) == (outcome.code, outcome.message)
            yield 'found' if same else 'other', outcome


def timed_ms(calls: list[SkillCall], scene: Scene) -> float:
    begun_s = time.process_time()
    check_plan(calls, scene)
    return 1000 * (time.process_time() - begun_s)
