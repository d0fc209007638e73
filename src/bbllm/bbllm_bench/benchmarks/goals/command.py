"""`bbllm bench sample-goals`: draws the goals of the suite household_goals and proves each."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.goals.sampling import (
    CONSTRAINTS,
    SPLITS,
    SUITE,
    Drawing,
    Sampled,
    sample,
)
from bbllm_bench.benchmarks.shared import TrialBar
from bbllm_bench.metrics.task_groups import bin_of

app = typer.Typer(add_completion=False)


@app.command()
def sample_goals(
    out: Annotated[Path, typer.Option(help='The suite file to write.', show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help='Decides all that is random.')] = 0,
    each: Annotated[int, typer.Option(min=1, max=1000, help='Goals of each split.')] = 100,
    force: Annotated[bool, typer.Option('--force', help='Write over a file.')] = False,
    json: JsonOption = False,
) -> None:
    """
    Draw goals of predicates in three splits, each proven solvable with its least steps.

    The proof is a search (A*) and takes a moment each; goals that it does not
    come to an end with are drawn anew. Reported are the time of the search per goal,
    how often that was, and how many goals fell into which bin of least steps.

    [bold]Example[/bold]

      bbllm bench sample-goals --seed 1 --each 20 --out my_goals.yaml
      bbllm bench my_goals.yaml --planner fltrnn --trials 1
    """
    out = out.expanduser()
    if out.exists() and not force:
        raise ConfigError(f'{out} is there already; name another file, or say --force.')
    output = Output(json)
    with TrialBar(len(SPLITS) * each, every=25) as bar:
        drawing = sample(each, seed, lambda drawing: bar.advance(_progress_text(drawing)))
    try:
        out.write_text(suite_text(drawing.found, seed=seed, each=each), 'utf-8')
    except OSError as error:
        raise ConfigError(
            f'{out} cannot be written ({error.strerror}); name another file with --out.'
        ) from error
    figures = timing(drawing)
    _tell(figures, output)
    output.print_path('suite', out)
    output.result({**figures, 'suite': str(out)})


def _progress_text(drawing: Drawing) -> str:
    last, anew = drawing.found[-1], drawing.drawn_anew.total()
    return f'{len(drawing.found)} goals, {anew} drawn anew; {last.name} in {last.house}'


def _tell(figures: dict[str, Any], output: Output) -> None:
    for split, bins in figures['by_split_and_bin'].items():
        counts = ', '.join(f'{name}: {n}' for name, n in bins.items())
        output.print(f'{split}, by least steps: {counts}')
    output.print(
        f'{figures["goals"]} goals; search per goal: median {figures["search_median_s"]:.3f} s, '
        f'p95 {figures["search_p95_s"]:.3f} s, longest {figures["search_max_s"]:.3f} s; '
        f'{figures["search_total_s"]:.1f} s in all, with {figures["searches_without_proof"]} '
        'searches that proved nothing.'
    )
    for why, n in figures['drawn_anew'].items():
        output.print(f'drawn anew {n} times: {why}')


LIMIT_STEPS = 100
"""Calls of an episode; FLTRNN's evaluation ends after so many."""
HARD, MEDIUM = 25, 10
"""Tasks with more least steps than these are hard, or medium."""
HEAD = """\
# {n} goals in {splits} splits, drawn and proven by
# `bbllm bench sample-goals --seed {seed} --each {each}`; do not edit by hand, draw anew.
#
# split: in_distribution (words and houses that the splits share), new_houses (the same words in
# other houses), new_tasks (other words). Of the first two, every tenth is a long one where one
# was found.
# least_steps is the length of the shortest plan there is from this start, by the clean rules
# with the constraint that nothing is put on what can be carried: proven by A*, see
# docs/household.md. start_seed makes that start the same in all trials.
# `say: predicates` in place of `say: sentence` tells planners the predicates themselves.
"""


def suite_text(found: Sequence[Sampled], *, seed: int, each: int) -> str:
    splits = list(dict.fromkeys(item.split for item in found))
    lines = [
        HEAD.format(n=len(found), splits=len(splits), seed=seed, each=each).rstrip(),
        f'name: {SUITE}',
        f'description: {len(found)} sampled goals in {len(splits)} splits, each with its least '
        'number of steps.',
        'say: sentence',
        'tasks:',
    ]
    return '\n'.join([*lines, *map(_task, found)]) + '\n'


def timing(drawing: Drawing) -> dict[str, Any]:
    times = sorted(item.search_s for item in drawing.found)
    return {
        'goals': len(drawing.found),
        'search_median_s': round(median(times), 4) if times else None,
        'search_p95_s': round(times[int(0.95 * (len(times) - 1))], 4) if times else None,
        'search_max_s': round(times[-1], 4) if times else None,
        'search_total_s': round(sum(times) + sum(drawing.lost_s), 2),
        'searches_without_proof': len(drawing.lost_s),
        'drawn_anew': dict(drawing.drawn_anew.most_common()),
        'by_split_and_bin': _counts(drawing.found),
    }


def _counts(found: Sequence[Sampled]) -> Mapping[str, Mapping[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for item in sorted(found, key=lambda each: len(each.least.lines)):
        of_split = counts.setdefault(item.split, {})
        name = bin_of(len(item.least.lines))
        of_split[name] = of_split.get(name, 0) + 1
    return counts


def _task(item: Sampled) -> str:
    steps = len(item.least.lines)
    difficulty = 'hard' if steps > HARD else 'medium' if steps > MEDIUM else 'easy'
    conditions = [
        condition.model_dump(by_alias=True, exclude_defaults=True) for condition in item.goal.all
    ]
    constraints = [each.model_dump(exclude_none=True) for each in CONSTRAINTS]
    task = {
        'name': item.name,
        'instruction': item.sentence,
        'difficulty': difficulty,
        'least_loops': 0,
        'limit_steps': LIMIT_STEPS,
        'split': item.split,
        'least_steps': steps,
        'houses': [item.house],
        'start_seed': item.start_seed,
        'constraints': constraints,
        'goal': {'kind': 'household', 'all': conditions},
    }
    # JSON is YAML too; one line a task keeps a file of hundreds readable and quick to read.
    return f'  - {json.dumps(task)}'
