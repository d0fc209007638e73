"""Writes the pictures of an episode beside its journal."""

from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.paths import write_whole
from bbllm.core.plugins import load_part


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
        pictures = load_part('bbllm.pictures', 'episode')(episode, check)
    except ConfigError as error:
        return Pictures((), (f'There is no picture: {error}.',))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Of a damaged journal: the values are of the right type, and make no sense together.
        text = f'There is no picture: the scenes on record cannot be drawn ({error}).'
        return Pictures((), (text,))
    drawn = {journal.with_suffix(suffix): data for suffix, data in pictures.items()}
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
