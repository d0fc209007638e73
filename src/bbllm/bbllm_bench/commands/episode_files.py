"""`bbllm show`: prints or writes an episode, or writes a list of episodes."""

import sys
from pathlib import Path

from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.rich_view import print_progress
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode, EpisodeEnded
from bbllm.core.journal import list_journals, read_damaged, summarize
from bbllm.core.paths import write_whole
from bbllm.core.progress import progress_of
from bbllm_viewer.commands.prompt_view import chosen, exchange_data, print_exchanges
from bbllm_viewer.replay.exchanges import read_exchanges


def write_page(journal: Path, page: Path) -> None:
    """Write an episode as one HTML page; raises ConfigError where that cannot be done."""
    from bbllm_bench.report.episode_page import render_journal

    if page.suffix not in ('.html', '.htm'):
        raise ConfigError(f'--html writes a page, and {page} does not end in .html.')
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, render_journal(journal).encode(errors='replace'))
    except OSError as error:
        raise ConfigError(
            f'The page {page} cannot be written ({error.strerror or error}); name another file.'
        ) from error


def write_video(
    episode: Episode,
    journal: Path,
    path: Path,
    speed: float | None,
    output: Output,
    last: int = 1,
) -> None:
    """
    Write the video of an episode, and of those before it as the last of so many, *last*.

    Raises ConfigError, see `bbllm_viewer.video.film.write_film`.
    """
    from bbllm_viewer.video.film import SPEED, write_film

    with output.bar() as bar:

        def show(done: int, total: int) -> None:
            bar(completed=done, description=f'{done} of {total} frames drawn', total=total)

        before = [each for each in list_journals(journal.parent) if each.stem < journal.stem]
        earlier = [(read_damaged(each)[0], each) for each in before[len(before) - last + 1 :]]
        film = write_film(
            episode, journal, path.expanduser(), speed or SPEED, show, earlier=earlier
        )
    output.print_path('video', film.path.resolve())
    for hint in film.hints:
        output.print(f'  {hint}', style='yellow')
    output.result(
        {
            'video': str(film.path.resolve()),
            'journal': str(journal),
            'duration_s': round(film.duration_s, 2),
            'hints': list(film.hints),
        }
    )


def print_episode(record: Episode, output: Output) -> None:
    """Print plan, repairs and counts: as a table on a terminal, else line by line."""
    if output.live:
        print_progress(output.console, progress_of(record))
        output.print()
        return
    view = LineView(sys.stdout)
    for event in record.events:
        view(event)
    if not isinstance(record.events[-1].data, EpisodeEnded):
        output.print(f'{"":9}  broken    {record.message}')


def print_prompts(record: Episode, path: Path, call: int | None, output: Output) -> None:
    """Print what models were asked, or one call alone."""
    exchanges = read_exchanges(record, path)
    if not output.json:
        print_exchanges(record, exchanges, output, call)
    calls = [exchange_data(each) for each in chosen(exchanges, call)]
    output.result({**summarize(record), 'journal': str(path), 'calls': calls})
