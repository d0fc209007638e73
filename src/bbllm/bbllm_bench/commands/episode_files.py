"""`bbllm show`: writes the page or video of an episode, or a list of episodes."""

from collections.abc import Sequence
from pathlib import Path

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.paths import write_whole


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
    episode: Episode, journal: Path, path: Path, speed: float | None, output: Output
) -> None:
    """Write an episode's video; raises ConfigError, see `bbllm_viewer.video.film.write_film`."""
    from bbllm_viewer.video.film import SPEED, write_film

    with output.bar(logged=True) as bar:

        def show(done: int, total: int) -> None:
            bar(completed=done, description=f'{done} of {total} frames drawn', total=total)

        film = write_film(episode, journal, path.expanduser(), speed or SPEED, show)
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


def write_index(folder: Path, journals: Sequence[Path], output: Output) -> Path:
    """Write the list of episodes and their pages, with a bar; see `episode_index.write_index`."""
    from bbllm_bench.report import episode_index

    with output.bar(len(journals), logged=True) as bar:

        def show(done: int, total: int) -> None:
            bar(completed=done, description=f'{done} of {total} episodes', total=total)

        return episode_index.write_index(folder.expanduser(), journals, show)
