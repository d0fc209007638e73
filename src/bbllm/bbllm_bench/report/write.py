"""Writes the summary and `report.html` of a run: who made it, its figures, its episodes."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.scene.sources import NO_TROUBLE, TRUTH
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings, flat, show
from bbllm_bench.log.store import SUMMARY, RunFolder, SavedRun, Session, read_run
from bbllm_bench.metrics.metrics import METRICS, Figures
from bbllm_bench.oracle.notices import notices_about, roles_of, stand_ins
from bbllm_bench.report import words
from bbllm_bench.report.episode_page import render_journal
from bbllm_bench.report.gallery import VERDICTS, figures_of, information_of, make_gallery
from bbllm_bench.report.pages import render_page
from bbllm_bench.report.summary import RunSummary, read_summary, summarize_run, summary_text

REPORT = 'report.html'


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
    Write the report of the run in a folder, with a page for each episode; return its path.

    Each file is written as a whole or not at all.

    Raises:
        ConfigError: Something is missing or unreadable, or the folder cannot be written to.
    """
    path = folder / REPORT
    run = read_run(folder)
    summary = read_summary(folder / SUMMARY)
    _write_pages(run)
    write_atomically(path, render(run, summary))
    return path


def _write_pages(run: SavedRun) -> None:
    """
    Write the page of each episode of a run beside its journal.

    A journal that cannot be read gets none. Raises ConfigError where the disk takes no more.
    """
    for result in run.results:
        journal, page = run.journal(result.key), run.page(result.key)
        if journal is None:
            continue
        try:
            text = render_journal(journal, result)
        except ConfigError:
            page.unlink(missing_ok=True)
            continue
        write_atomically(page, text, durable=False)


def render(run: SavedRun, summary: RunSummary) -> str:
    settings = run.settings
    ks = sorted({*settings.ks, *(result.key.k for result in run.results)})
    trials = sorted({*range(settings.trials), *(result.key.trial for result in run.results)})
    labels = {task.name: task.label for task in settings.tasks}
    return render_page(
        'report.html.j2',
        head_of=head_of,
        notices_of=notices_of,
        settings_of=settings_of,
        by_name=by_name,
        errors_of=errors_of,
        endings_of=endings_of,
        verdicts=VERDICTS,
        METRICS=METRICS,
        information_of=information_of,
        figures_of=figures_of,
        run=run,
        settings=settings,
        summary=summary,
        top=summary.top,
        by_k=summary.by_k,
        tasks=[*labels],
        title=lambda name: words.titled(labels[name], name),
        ks=ks,
        trials=trials,
        rates=rates_of(summary.top),
        false_success=any(sums.needing or sums.false_success for sums in summary.by_k),
        gallery=make_gallery(run),
    )


def rates_of(figures: Figures) -> dict[str, str]:
    """Return the rates that a page is about, by key, with their labels."""
    if not figures.needing:
        return {key: METRICS[key].heading for key in ('sr', 'gcr', 'exec')}
    # Success is of two kinds where something had to be found out.
    return {'sr': 'State', **{key: METRICS[key].heading for key in ('informed', 'gcr', 'exec')}}


# --- who made the run: names, plain notices about stand-ins, all settings ------------------------


def head_of(run: SavedRun, served: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what made the run, by name; *served*: how models call themselves, by role."""
    made = run.settings
    commit = made.versions.get('commit', '')
    version = made.versions.get('bbllm', words.NONE)
    entries = {
        'Planner': made.planner,
        'Brain': _model(made.brain, served.get('brain', ())),
        'Body': _model(made.body, served.get('body', ())),
        'Mapping': made.mapping,
        'World': made.world,
        'Scenes': '' if made.sources == TRUTH else 'pictures',
        'Trouble': '' if made.trouble == NO_TROUBLE else made.trouble,
        'K': words.listed(made.ks),
        'Trials': str(made.trials),
        'Seed': str(made.seed),
        'Shards': made.parts,
        'Date': date_of(run.sessions),
        'bbllm': f'{version} ({commit[:12]})' if commit else version,
        'MuJoCo': made.versions.get('mujoco'),
        'Python': made.versions.get('python'),
    }
    return {name: value for name, value in entries.items() if value}


def notices_of(settings: RunSettings, summary: RunSummary) -> tuple[str, ...]:
    """Return the sentences that come first: stand-ins, and what is missing."""
    notices = notices_about(stand_ins(), settings, summary.models)
    if settings.replay and not roles_of('replay', settings, summary.models):
        notices.append(f'The replies were read back from the recording {settings.replay}.')
    planned, played = summary.planned, summary.played
    if played < planned:
        notices.append(
            f'The run is not through: {words.count(played)} of {words.plural(planned, "episode")} '
            'were played. The figures are of these.'
        )
    return (*summary.changed, *notices, *summary.earlier)


def date_of(sessions: Sequence[Session]) -> str:
    """Return when the run was made, in UTC; '' where no session is on record."""
    if not sessions:
        return ''
    starts = [session.started_s for session in sessions]
    start, ends = min(starts), [s.ended_s for s in sessions if s.ended_s is not None]
    end = max(ends or starts)
    first, last = (time.strftime('%Y-%m-%d', time.gmtime(moment)) for moment in (start, end))
    if first == last:
        return time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(start))
    return f'{first} to {last}'


def settings_of(settings: RunSettings) -> dict[str, str]:
    """Return all settings but the tasks, which the page lists, by their path."""
    data = settings.model_dump(mode='json', exclude={'tasks', 'shards'})
    return {
        **{name: show(value) for name, value in flat(data)},
        **{f'shards.{origin.shard}': origin.text for origin in settings.shards},
    }


def _model(name: str, served: Sequence[str]) -> str:
    """Return a model's name, with what its server calls itself where that differs."""
    others = [other for other in served if other not in name.split()]
    return f'{name} ({words.listed(others)})' if others else name


# --- what is counted from single episodes --------------------------------------------------------

Counts = tuple[str, tuple[int, ...]]
"""One line of a breakdown: a name, and a count for each column."""


def by_name(groups: Sequence[Mapping[str, int]]) -> tuple[Counts, ...]:
    """Return counts of several groups by name, the most frequent first."""
    total: Counter[str] = Counter()
    for group in groups:
        total.update(group)
    names = sorted(filter(total.get, total), key=lambda name: (-total[name], name))
    return tuple((name, tuple(group.get(name, 0) for group in groups)) for name in names)


def errors_of(groups: Sequence[Figures]) -> tuple[Counts, ...]:
    """Return how many episodes an error ended, by its type and K."""
    # A lost episode without an error is counted by its ending, and only there.
    return by_name([{**group.lost_errors, **group.errors} for group in groups])


def endings_of(results: Iterable[EpisodeResult]) -> tuple[Counts, ...]:
    groups: dict[str, Counter[str]] = {verdict: Counter() for verdict in VERDICTS}
    for result in results:
        groups.setdefault(result.verdict, Counter())[result.ending] += 1
    return by_name([groups[verdict] for verdict in VERDICTS])
