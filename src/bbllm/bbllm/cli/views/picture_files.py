"""Writes the pictures of an episode beside its journal; its page, video or a list anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.paths import write_whole
from bbllm_viewer.viz.png import to_png
from bbllm_viewer.viz.sheet import draw_episode
from bbllm_viewer.viz.svg import to_svg

LARGE_PX = 2e6
"""Area of a page from which on it is not written at twice its size [px^2]."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Which pictures were written, and why the others were not."""

    paths: tuple[Path, ...]
    hints: tuple[str, ...] = ()


def rendering_of(journal: Path) -> Path:
    return journal.with_name(f'{journal.stem}-render.png')


def drawn_before(journal: Path) -> tuple[Path, ...]:
    """Return the pictures that there are; none where the journal went on since."""
    svg, *others = (*map(journal.with_suffix, ('.svg', '.png')), rendering_of(journal))
    fresh = svg.exists() and svg.stat().st_mtime >= journal.stat().st_mtime
    return (svg, *(path for path in others if path.exists())) if fresh else ()


def write_pictures(episode: Episode, journal: Path, check: str = '') -> Pictures:
    """Write the drawing as SVG and PNG beside the journal; a rendering that is there is named."""
    try:
        page = draw_episode(episode, check)
        # A house of a thousand objects would take most of a minute at the usual size.
        scale = 2.0 if page.width * page.height < LARGE_PX else 1.0
        drawn = {
            journal.with_suffix('.svg'): to_svg(page).encode(errors='replace'),
            journal.with_suffix('.png'): to_png(page, scale),
        }
    except ConfigError as error:
        return Pictures((), (f'There is no picture: {error}.',))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Of a damaged journal: the values are of the right type, and make no sense together.
        text = f'There is no picture: the scenes on record cannot be drawn ({error}).'
        return Pictures((), (text,))
    for path, data in drawn.items():
        try:
            write_whole(path, data)
        except OSError as error:
            text = (
                f'The picture {path} cannot be written ({error.strerror or error}); `bbllm show '
                f'{path.stem} --draw` draws it once that is mended.'
            )
            return Pictures((), (text,))
    rendering = rendering_of(journal)
    return Pictures((*drawn, *((rendering,) if rendering.exists() else ())))


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
