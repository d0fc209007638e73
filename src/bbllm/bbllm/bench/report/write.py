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
    settings = run.settings
    ks = sorted({*settings.ks, *(result.key.k for result in run.results)})
    trials = sorted({*range(settings.trials), *(result.key.trial for result in run.results)})
    labels = {task.name: task.label for task in settings.tasks}
    pairs = [pair for pair in summary.paired if pair.pairs]
    shown = {key for pair in pairs for key in pair.shown()}
    template = _environment().get_template('report.html.j2')
    return template.render(
        run=run,
        settings=settings,
        summary=summary,
        top=summary.top,
        by_k=summary.by_k,
        tasks=[*labels],
        title=lambda name: words.titled(labels[name], name),
        ks=ks,
        trials=trials,
        rates=plots.rates_of(summary.top),
        false_success=any(sums.needing or sums.false_success for sums in summary.by_k),
        no_cost=_no_cost(settings, summary),
        one_map=len(trials) * len(ks) <= COLUMNS,
        pairs=pairs,
        compared=[METRICS[key] for key in PAIRED if key in shown],
        gallery=make_gallery(run),
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
        head=head,
        tables=tables,
        plots=plots,
        words=words,
        METRICS=METRICS,
        information_of=information_of,
        figures_of=figures_of,
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
