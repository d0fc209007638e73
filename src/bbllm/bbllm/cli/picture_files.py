"""Writes the pictures of an episode beside its journal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.cli.progress import Progress, count
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.paths import write_whole
from bbllm.core.records import from_json
from bbllm.core.types import Scene
from bbllm.pictures.house_sheet import draw_house_sheet
from bbllm.pictures.reach import reach_ring
from bbllm.pictures.sheet import Caption, draw_sheet
from bbllm.pictures.svg import to_svg

LARGE_PX = 2e6
"""Area of a page from which on it is not written at twice its size [px^2]."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Which pictures were written, and what people should know about those that were not."""

    paths: tuple[Path, ...]
    hints: tuple[str, ...] = ()


def progress_of(episode: Episode) -> Progress:
    """Return what is known at the end of an episode's record."""
    progress = Progress()
    for event in episode.events:
        progress.take(event)
    return progress


def scenes_of(episode: Episode) -> dict[str, Scene]:
    """Return the scenes on record: `before` and, where the episode came so far, `after`."""
    return {moment: from_json(Scene, data) for moment, data in progress_of(episode).scenes.items()}


def rendering_of(journal: Path) -> Path:
    """Return where the rendering of an episode lies."""
    return journal.with_name(f'{journal.stem}-render.png')


def drawn_before(journal: Path) -> tuple[Path, ...]:
    """Return the pictures that there are; none where the journal went on since."""
    names = (journal.with_suffix('.svg'), journal.with_suffix('.png'), rendering_of(journal))
    written_s = journal.stat().st_mtime
    fresh = names[0].exists() and names[0].stat().st_mtime >= written_s
    return tuple(path for path in names if path.exists()) if fresh else ()


def write_pictures(episode: Episode, journal: Path, check: str = '') -> Pictures:
    """
    Write the drawing as SVG and PNG; a rendering that lies there already is named too.

    Args:
        episode: Its record holds the scenes.
        journal: The pictures are written beside it and called after it.
        check: What a geometric check found, for the caption.

    Raises:
        ConfigError: A picture cannot be written; names the file and why.
    """
    progress = progress_of(episode)
    scenes = scenes_of(episode)
    before, after = scenes.get('before'), scenes.get('after')
    if before is None:
        return Pictures((), ('There is no picture: the record holds no scene.',))
    if before.domain == 'household':
        # Its clock counts steps, of which the calls are told.
        caption = caption_of(progress, check, timed=False)
        page = draw_house_sheet(caption, before, after)
    else:
        page = draw_sheet(caption_of(progress, check), before, after, reach_ring())
    svg, png = journal.with_suffix('.svg'), journal.with_suffix('.png')
    hints: list[str] = []
    _write(svg, to_svg(page).encode())
    paths = [svg]
    if _write_png(page, png, hints):
        paths.append(png)
    rendering = rendering_of(journal)
    if rendering.exists():
        paths.append(rendering)
    return Pictures(tuple(paths), tuple(hints))


def _write(path: Path, data: bytes) -> None:
    try:
        write_whole(path, data)
    except OSError as error:
        raise ConfigError(
            f'The picture {path} cannot be written ({error.strerror or error}); `bbllm show '
            f'{path.stem} --draw` draws it once that is mended.'
        ) from error


def caption_of(progress: Progress, check: str = '', *, timed: bool = True) -> Caption:
    """Return the words around the picture, with the robot's time where it has one."""
    details = ' · '.join(
        [
            progress.planner,
            f'Brain {progress.brain}',
            f'Body {progress.body}',
            count(progress.calls, 'call'),
            count(progress.repairs, 'repair'),
            *([f'{progress.robot_s:.0f} s of robot time'] if timed else []),
        ]
    )
    return Caption(
        task=progress.task,
        ending=progress.ending or 'INTERRUPTED',
        message=progress.message,
        details=details,
        episode_id=progress.episode_id,
        check=check,
    )


def _write_png(page: Any, path: Path, hints: list[str]) -> bool:
    try:
        from bbllm.pictures.png import to_png
    except ImportError:
        hints.append(
            'The drawing is there as SVG only; for PNG, install Pillow (python3-pil, '
            'or pip install pillow).'
        )
        return False
    # A house of a thousand things would take most of a minute at the usual size.
    _write(path, to_png(page, scale=2.0 if page.width * page.height < LARGE_PX else 1.0))
    return True
