"""
`bbllm bench plan-check`: what the check of plans says of calls whose outcomes are known.

For each call of an episode, the calls that succeeded before it and the call itself are checked as
a plan, from the first scene of the journal. A fault of a call that succeeded is a false one. The
time is the processor's for the first ten calls that succeeded.
"""

import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bbllm.bench.log.store import EPISODES
from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import SceneRecorded
from bbllm.core.journal import list_journals, read_episode
from bbllm.core.types import Outcome, Scene, SkillCall, Status
from bbllm.skills.plan_check import check_plan
from benchmarks.shared import exit_unless, percentile

app = typer.Typer(add_completion=False, rich_markup_mode='rich')
LENGTH = 10
"""Calls of the plans whose check is timed."""
REPEATS = 7
"""How often each is timed; the fastest counts, as other programs only slow a check down."""


@app.command()
def plan_check(
    runs: Annotated[
        list[Path], typer.Argument(metavar='RUN...', help='Folders of runs of `bbllm bench`.')
    ],
    json: JsonOption = False,
) -> None:
    """
    Compare the check of plans with the outcomes of played episodes on tables; time it.

    Exit code: 0 where no call that succeeded has a fault, else 1.

    [bold]Example[/bold]

      bbllm bench tabletop --brain offline --body offline --trials 3 --out run
      bbllm bench plan-check run
    """
    journals = [path for run in runs for path in list_journals(run / EPISODES)]
    if not journals:
        raise ConfigError(f'{runs[0]} has no journals in {EPISODES}/: name the --out of a bench.')
    output, counts, times_ms = Output(json), Counter[str](), list[float]()
    for path in journals:
        events = [event.data for event in read_episode(path).events]
        scene = next((data.scene for data in events if isinstance(data, SceneRecorded)), None)
        if scene is None or scene.domain != 'tabletop':
            continue
        outcomes = [data for data in events if isinstance(data, Outcome)]
        for word, outcome in judged(outcomes, scene):
            counts[word] += 1
            if word == 'false':
                output.print(f'{path.stem}: {outcome.call} succeeded', style='red')
        calls = [outcome.call for outcome in outcomes if outcome.succeeded][:LENGTH]
        if len(calls) == LENGTH:
            times_ms.append(min(timed_ms(calls, scene) for _ in range(REPEATS)))
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
    output.result(figures)
    exit_unless(not counts['false'])


def judged(outcomes: list[Outcome], scene: Scene) -> Iterator[tuple[str, Outcome]]:
    """Yield what the check says of each call, up to the first that was tried and failed."""
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
