"""A page that lists episodes, and the page of each beside it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.journal import UNREADABLE, read_damaged, summarize
from bbllm_bench.log.files import write_atomically
from bbllm_bench.report.episode_page import TONES, render_journal
from bbllm_bench.report.pages import render_page

INDEX, PAGES = 'index.html', 'episodes'


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One episode of the list."""

    task: str
    ending: str
    tone: str
    """The class of the ending's colour."""
    page: str = ''
    """Address of its page; empty where the journal cannot be read."""
    episode: Episode | None = None
    date: str = ''
    goal: str = ''


def write_index(
    folder: Path,
    journals: Sequence[Path],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """
    Write the list of episodes and their pages into a folder, and return the list's file.

    A page that is newer than its journal is left as it is. *on_progress* is called with the
    number of journals that are done, and of all. Raises ConfigError where the folder cannot be
    written.
    """
    rows = []
    for done, journal in enumerate(journals, start=1):
        rows.append(_row(folder, journal))
        on_progress(done, len(journals))
    rows.reverse()  # the newest first
    planners = sorted({row.episode.planner for row in rows if row.episode is not None})
    endings = sorted({row.ending for row in rows})
    page = render_page('index.html.j2', rows=rows, planners=planners, endings=endings)
    write_atomically(folder / INDEX, page)
    return folder / INDEX


def _row(folder: Path, journal: Path) -> IndexRow:
    try:
        episode, _ = read_damaged(journal)
    except ConfigError as error:
        return IndexRow(task=str(error), ending=UNREADABLE, tone='failed')
    page = folder / PAGES / f'{journal.stem}.html'
    if not page.exists() or page.stat().st_mtime < journal.stat().st_mtime:
        write_atomically(page, render_journal(journal), durable=False)
    summary = summarize(episode)
    return IndexRow(
        task=str(summary['task']),
        ending=str(summary['ending']),
        tone='lost' if episode.ending is None else TONES.get(episode.ending, 'failed'),
        page=f'{PAGES}/{quote(page.name)}',
        episode=episode,
        date=time.strftime('%Y-%m-%d %H:%M', time.gmtime(episode.events[0].stamp_s)),
        goal=str(summary['goal']),
    )
