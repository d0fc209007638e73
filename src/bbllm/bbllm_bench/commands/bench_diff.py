"""`bbllm bench diff`: two runs on the same cases, A minus B."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption, count
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.text import count_of
from bbllm_bench.log.choices import PlayChoice
from bbllm_bench.log.store import SavedRun, read_run
from bbllm_bench.metrics.metrics import METRICS, Metric
from bbllm_bench.metrics.pairs import (
    GREATEST_P,
    Comparison,
    PairedCase,
    PairedDifference,
    compare,
    ks_of,
)
from bbllm_bench.oracle.notices import handed_the_goal, notices_about, notices_of_changes
from bbllm_bench.report.grid import Grid, print_grid

MOST_CASES = 12
OF_CASES = ('suite', 'suite_sha256', 'seed', 'trials', 'tasks')
"""Settings that make cases what they are; where they agree, the cases do."""
OF_METHODS = (
    *PlayChoice.model_fields,
    *('brain', 'body', 'world', 'llm', 'prompts', 'changed_prompts'),
)
"""Settings that say how they were played."""

FolderArgument = Annotated[
    Path, typer.Argument(show_default=False, help='Folder of a run, as given to `--out`.')
]


def diff(
    a: FolderArgument,
    b: FolderArgument,
    k_a: int | None = count('Which K of A.', min=0, metavar='K'),
    k_b: int | None = count('Which K of B.', min=0, metavar='K'),
    json: JsonOption = False,
) -> None:
    """
    Compare two runs case by case: is the difference more than luck?

    Both must have been made with the same suite and seed. Without --k-a and
    --k-b, episodes with the largest K that both have are compared, or with
    the largest of each where the planners differ; one folder may be named
    twice to compare two K of it.

    Examples:
      bbllm bench diff runs/model runs/offline
      bbllm bench diff runs/model runs/model --k-a 3 --k-b 0
    """
    runs = first, second = read_run(a), read_run(b)
    if empty := [str(run.path) for run in runs if not run.results]:
        raise ConfigError(f'{empty[0]} has no results: no episode of that run ended yet.')
    k_a, k_b = _choose_ks(first, second, k_a, k_b)
    comparison = compare(first.results, second.results, k_a=k_a, k_b=k_b)
    if not comparison.pairs:
        raise ConfigError(_why_nothing_pairs(first, second, len(comparison.other_case)))
    output = Output(json)
    if json:
        output.result(_values(first, second, comparison))
    else:
        _print(first, second, comparison, output)


def _unlike(a: SavedRun, b: SavedRun, names: tuple[str, ...]) -> dict[str, tuple[object, object]]:
    values = {name: (getattr(a.settings, name), getattr(b.settings, name)) for name in names}
    return {name: both for name, both in values.items() if both[0] != both[1]}


def _choose_ks(a: SavedRun, b: SavedRun, k_a: int | None, k_b: int | None) -> tuple[int, int]:
    in_a, in_b = ks_of(a.results), ks_of(b.results)
    if k_a is None and k_b is None:
        # Planners that differ, each at its best: one without feedback loops has K = 0 alone.
        both = sorted(set(in_a) & set(in_b))
        if a.settings.planner != b.settings.planner:
            k_a, k_b = in_a[-1], in_b[-1]
        elif both:
            k_a = k_b = both[-1]
    one, other = k_b if k_a is None else k_a, k_a if k_b is None else k_b
    if one not in in_a or other not in in_b:
        raise ConfigError(
            f'A has episodes with K = {_listed(in_a)}, B with K = {_listed(in_b)}: name one of '
            'each (--k-a, --k-b).'
        )
    if a.path.resolve() == b.path.resolve() and one == other:
        raise ConfigError(
            f'A and B are the same episodes ({a.path}, K = {one}); name two folders, or two K '
            f'of K = {_listed(in_a)} (--k-a, --k-b).'
        )
    return one, other


def _why_nothing_pairs(a: SavedRun, b: SavedRun, other_case: int) -> str:
    reasons = [
        f'{name}: {_brief(one)} in A, {_brief(two)} in B'
        for name, (one, two) in _unlike(a, b, OF_CASES).items()
    ]
    if not reasons and other_case:
        episodes = count_of(other_case, 'episode')
        reasons = [f'{episodes} of the same name with another table; of another version of bbllm?']
    why = '; '.join(reasons) or 'no task and trial was played in both so far'
    return f'Nothing pairs, since the runs were made of other cases. {why}.'


def _values(a: SavedRun, b: SavedRun, comparison: Comparison) -> dict[str, object]:
    names = {*('suite', 'planner', 'brain', 'body', 'mapping', 'world', 'sources'), 'seed'}
    both = {
        name: {'folder': str(run.path), **run.settings.model_dump(include=names)}
        for name, run in (('a', a), ('b', b))
    }
    differ = sorted(_unlike(a, b, OF_METHODS))
    return {**both, 'differ_in': differ, **comparison.model_dump(mode='json')}


def _print(a: SavedRun, b: SavedRun, comparison: Comparison, output: Output) -> None:
    for name, run, k in (('A', a, comparison.k_a), ('B', b, comparison.k_b)):
        keys = ('planner', 'brain', 'body')
        who = ' '.join(f'{key}={getattr(run.settings, key)}' for key in keys)
        output.print(f'{name}: {run.path}  {who} K={k}')
    names = handed_the_goal()
    notices = [
        line
        for run in (a, b)
        for line in (*notices_about(names, run.settings, {}), *notices_of_changes(run.results))
    ]
    for line in dict.fromkeys(notices):
        output.print(line, style='yellow')
    methods = _unlike(a, b, OF_METHODS)
    if methods:
        output.print(f'They differ in {", ".join(methods)}.')
    elif comparison.k_a == comparison.k_b:
        output.print('All settings of theirs are the same.')
    output.print()
    print_grid(_grid(comparison), output.console)
    for line in _words(comparison):
        output.print(line)
    others = {*ks_of(a.results)} & {*ks_of(b.results)} - {comparison.k_a, comparison.k_b}
    if other := sorted(others):
        output.print(f'Both also have K = {_listed(other)} (--k-a, --k-b).', style='dim')


def _grid(comparison: Comparison) -> Grid:
    rows = []
    for key in comparison.shown():
        metric, item = METRICS[key], comparison.differences[key]
        found = item.difference
        by, low, high = (metric.write(x, sign=True) for x in (found.value, found.low, found.high))
        interval = '' if found.low is None else f'[{low}, {high}]'
        values = (metric.write(item.a), metric.write(item.b), by, interval, str(found.n))
        rows.append((metric.title, *values, _meaning(metric, item)))
    header = ('mean', 'A', 'B', 'A - B', '95 %', 'n', 'meaning')
    return Grid(title='', header=header, rows=tuple(rows))


def _meaning(metric: Metric, item: PairedDifference) -> str:
    if item.lost:
        return f'{item.lost} lost'
    if not item.winner:
        return 'equal'
    verb = 'is better' if metric.better == 'higher' else metric.less
    if item.certain:
        return f'{item.winner} {verb}'
    if item.difference.low is None:
        return f'{item.winner} {verb}, by as much in every pair'
    if item.excludes_0:  # but the test does not agree
        return 'not clear'
    return 'may be luck'


def _words(comparison: Comparison) -> Iterator[str]:
    yield _verdict(comparison)
    for name, cases in (('A', comparison.only_a_passed), ('B', comparison.only_b_passed)):
        if cases:
            yield f'Only {name} passed {len(cases)}: {_cases(cases)}.'
    if comparison.lost_pairs:
        yield (
            f'In {count_of(comparison.lost_pairs, "pair")} infrastructure failed '
            f'({comparison.lost_a} lost of A, {comparison.lost_b} of B): in the first row that '
            'counts as not passed; all others, and the sentences here, leave it out.'
        )
    if other := comparison.other_needs:
        yield (
            f'In {count_of(len(other), "pair")} the suite of one run alone asks to find something '
            f'out (`needs`); informed success leaves them out: {_cases(other)}.'
        )
    for cases, why in (
        (comparison.other_case, 'in both, but with another table, goal or instruction'),
        (comparison.only_a, 'only in A'),
        (comparison.only_b, 'only in B'),
    ):
        if cases:
            verb = 'is' if len(cases) == 1 else 'are'
            yield f'Not paired: {len(cases)} {verb} {why}: {_cases(cases)}.'


def _verdict(comparison: Comparison) -> str:
    """Return which run passes more often, by the pairs in which neither was lost."""
    success, verdict, p = comparison.judged, comparison.verdict, comparison.mcnemar_p
    if verdict == 'none':
        return (
            'No verdict: in every pair an episode was lost to infrastructure, so that no '
            'pair shows which one is better. Play the lost ones again (`bbllm bench ... '
            '--retry-lost`).'
        )
    pairs = count_of(success.difference.n, 'pair')
    if comparison.lost_pairs:
        pairs += ' in which neither was lost'
    test = f'McNemar p = {p:.2g}'
    if verdict == 'equal':
        return f'A and B passed equally often in {pairs} ({test}).'
    by = f'more often, by {abs(success.difference.value or 0.0):.2f}'
    if verdict in ('A', 'B'):
        return f'{verdict} passes {by}: the interval over {pairs} excludes 0 ({test}).'
    where, side = ('excludes', 'above') if success.excludes_0 else ('includes', 'within')
    why = f'but the interval over {pairs} {where} 0, and {test} is {side} {GREATEST_P}'
    if verdict == 'luck':
        why = f'but the interval over {pairs} includes 0 ({test}): it may be luck'
    return f'{success.winner} passed {by}, {why}.'


def _cases(cases: Sequence[PairedCase]) -> str:
    named = ', '.join(f'{task} {trial}' for task, trial in cases[:MOST_CASES])
    rest = len(cases) - MOST_CASES
    return f'{named} and {rest} more' if rest > 0 else named


def _listed(ks: Sequence[int]) -> str:
    return ', '.join(map(str, ks))


def _brief(value: object) -> str:
    """Return a setting in few words: of tasks their names, of a hash its beginning."""
    if isinstance(value, tuple):
        return ', '.join(item.name for item in value)
    return str(value)[:24]
