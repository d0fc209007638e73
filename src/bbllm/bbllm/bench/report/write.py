"""Writes the summary and `report.html` of a run."""

from dataclasses import dataclass
from pathlib import Path

import jinja2

from bbllm.bench.log.files import write_atomically
from bbllm.bench.log.run_settings import RunSettings
from bbllm.bench.log.store import SUMMARY, RunFolder, SavedRun, read_run
from bbllm.bench.metrics.metrics import METRICS, PAIRED
from bbllm.bench.report import head, plots, tables, words
from bbllm.bench.report.gallery import figures_of, information_of, make_gallery
from bbllm.bench.report.summary import RunSummary, read_summary, summarize_run, summary_text
from bbllm.core.errors import BbllmError

REPORT = 'report.html'
COLUMNS = 24
"""As many columns of a heat map fit beside each other; with more, each K gets a map."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The files that a session of a run leaves."""

    summary: RunSummary
    report: Path | None
    """The report; None where it was not asked for, or could not be written."""
    problem: str = ''
    """Why not everything could be written."""


def finish(folder: RunFolder, *, report: bool = True) -> Finished:
    """
    Sum up what is on record, with a report unless it is unwanted: that reads every journal.

    A disk that takes no more does not hide the figures.
    """
    settings = folder.settings
    assert settings is not None  # a run begins with writing them
    results = [folder.results[key] for key in sorted(folder.results)]
    summary = summarize_run(settings, results, folder.sessions)
    try:
        write_atomically(folder.path / SUMMARY, summary_text(summary))
        return Finished(summary, write_report(folder.path) if report else None)
    except BbllmError as error:
        return Finished(summary, None, str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        return Finished(summary, None, f'{SUMMARY} or the report cannot be written ({reason}).')


def write_report(folder: Path) -> Path:
    """
    Write the report of the run in a folder, as a whole or not at all; return its path.

    Raises:
        ConfigError: Something is missing or unreadable, or the folder cannot be written to.
    """
    path = folder / REPORT
    write_atomically(path, render(read_run(folder), read_summary(folder / SUMMARY)))
    return path


def render(run: SavedRun, summary: RunSummary) -> str:
    """Return the page."""
    settings, groups = run.settings, summary.by_k
    names = [task.name for task in settings.tasks]
    ks = sorted({*settings.ks, *(result.key.k for result in run.results)})
    trials = sorted({*range(settings.trials), *(result.key.trial for result in run.results)})
    labels = {task.name: task.label for task in settings.tasks}
    pairs = [pair for pair in summary.paired if pair.pairs]
    shown = {key for pair in pairs for key in pair.shown()}
    template = _environment().get_template('report.html.j2')
    return template.render(
        suite=settings.suite,
        tasks=names,
        title=lambda name: words.titled(labels[name], name),
        ks=ks,
        trials=trials,
        head=head.head_of(run, summary.models),
        notices=head.notices_of(settings, summary),
        top=summary.top,
        rates=plots.rates_of(summary.top),
        false_success=any(sums.needing or sums.false_success for sums in groups),
        ruled=summary.is_ruled,
        rules=tables.by_name([sums.broken_rules for sums in groups]),
        by_k=groups,
        per_minute=summary.episodes_per_minute,
        currency=summary.currency or '',
        no_cost=_no_cost(settings, summary),
        plot_over_k=plots.over_k(summary),
        plot_by_task=plots.by_task(summary),
        episode_maps=[(k, tables.episode_map(run.results, names, trials, k)) for k in ks],
        one_map=len(trials) * len(ks) <= COLUMNS,
        codes=tables.by_name([sums.codes for sums in groups]),
        errors=tables.errors(groups),
        endings=tables.endings(run.results),
        verdicts=tables.VERDICTS,
        pairs=pairs,
        compared=[METRICS[key] for key in PAIRED if key in shown],
        gallery=make_gallery(run),
        settings=head.flat(settings.model_dump(mode='json')),
        command=head.command_of(settings),
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
        words=words, METRICS=METRICS, information_of=information_of, figures_of=figures_of
    )
    return environment


def _no_cost(settings: RunSettings, summary: RunSummary) -> str:
    """Return why there is no sum of money; '' where there is one."""
    if summary.top.cost is not None:
        return ''
    if not settings.prices:
        return 'no price table was given'
    if summary.unpriced_models:
        return f'the price table lacks {words.listed(summary.unpriced_models)}'
    return 'the cost of some episodes is not known'
