"""Writes `report.html` of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from bbllm.bench.log.store import write_atomically
from bbllm.bench.report import figures, head, knowing, plots, tables, words
from bbllm.bench.report.folder import Run, read_run
from bbllm.bench.report.gallery import make_gallery
from bbllm.bench.report.summary_rules import is_ruled

REPORT = 'report.html'
COLUMNS = 24
"""As many columns of a heat map fit beside each other; with more, each K gets a map."""


def write_report(folder: Path) -> Path:
    """
    Write the report of a run; it is there as a whole or not at all.

    Args:
        folder: With settings.json, results.jsonl and summary.json.

    Returns:
        The path of the report.

    Raises:
        ConfigError: Something is missing or unreadable, or the folder cannot be written to.
    """
    path = folder / REPORT
    write_atomically(path, render(read_run(folder)))
    return path


def render(run: Run) -> str:
    """Return the page."""
    summary, settings = run.summary, run.settings
    tasks = _tasks(run)
    names = [name for name, _ in tasks]
    ks = sorted({*(settings.get('ks') or ()), *(result.key.k for result in run.results)})
    trials = _trials(run)
    groups = figures.by_k(summary)
    labels = {task['name']: task.get('label') or '' for task in settings.get('tasks') or ()}
    return (
        _environment()
        .get_template('report.html.j2')
        .render(
            suite=settings.get('suite') or words.NONE,
            tasks=tasks,
            title=lambda name: words.titled(labels.get(name, ''), name),
            ks=ks,
            trials=trials,
            head=head.head_of(run),
            notices=head.notices_of(run),
            top=(top := figures.sums_of(summary)),
            measures=figures.measures_of(top),
            false_success=bool(top.needing) or any(sums.false_success for sums in groups),
            ruled=is_ruled(summary),
            rules=tables.by_name([sums.broken_rules for sums in groups]),
            sides=knowing.both_sides(summary),
            by_k=groups,
            task_tables=[
                (entry['k'], figures.task_rows(entry))
                for entry in reversed(summary.get('by_k') or ())
            ],
            grouped=(summary.get('by_k') or [{}])[-1].get('groups') or (),
            per_minute=summary.get('episodes_per_minute'),
            currency=_currency(run),
            no_cost=_no_cost(run),
            plot_over_k=plots.ablation(summary),
            small_plots=plots.by_task(summary),
            rate_map=tables.rate_map(run.results, names, ks),
            episode_maps=[(k, tables.episode_map(run.results, names, trials, k)) for k in ks],
            one_map=len(trials) * len(ks) <= COLUMNS,
            codes=tables.codes(groups),
            errors=tables.errors(groups),
            endings=tables.endings(run.results),
            verdicts=tables.VERDICTS,
            pairs=figures.pair_rows(summary),
            compared=figures.compared(summary),
            gallery=make_gallery(run, tasks),
            settings=head.flat(settings),
            command=head.command_of(settings),
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm.bench.report', 'templates'),
        # Always on: texts of models and of people come through here.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=words.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=words,
        COMPARED=figures.COMPARED,
        column=list(figures.COMPARED).index,
    )
    return environment


def _tasks(run: Run) -> list[tuple[str, str]]:
    """Return name and instruction of all tasks; also of results that settings do not name."""
    known = {task['name']: task.get('instruction', '') for task in run.settings.get('tasks') or ()}
    for result in run.results:
        known.setdefault(result.key.task, '')
    return list(known.items())


def _trials(run: Run) -> list[int]:
    played: Iterable[int] = (result.key.trial for result in run.results)
    return sorted({*range(run.settings.get('trials') or 0), *played})


def _currency(run: Run) -> str:
    prices: Mapping[str, Any] = run.settings.get('prices') or {}
    return str(run.summary.get('currency') or prices.get('currency') or '')


def _no_cost(run: Run) -> str:
    """Say why there is no sum of money; '' where there is one."""
    if run.summary.get('cost') is not None:
        return ''
    if not run.settings.get('prices'):
        return 'no price table was given'
    unpriced = run.summary.get('unpriced_models') or ()
    if unpriced:
        return f'the price table lacks {words.listed(unpriced)}'
    return 'the cost of some episodes is not known'
