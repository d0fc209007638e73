"""The table or the house of one episode, before and after."""

from collections.abc import Iterator
from dataclasses import dataclass

from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.types import Scene
from bbllm_bench.report.gallery import Drawing, Drawings, table_view
from bbllm_viewer.viz.sheet import drawable_scenes, scenes_of


@dataclass(frozen=True, slots=True)
class EpisodePicture:
    """One drawing with its caption."""

    caption: str
    drawing: Drawing
    is_wide: bool = False
    """Whether it is folded, and scrolls on a narrow screen."""


def pictures_of(episode: Episode, drawings: Drawings) -> tuple[tuple[EpisodePicture, ...], str]:
    """Return the pictures that can be drawn, and why there is none."""
    try:
        before, after = drawable_scenes(episode)
        predicted = scenes_of(episode).get('predicted')
        return tuple(_drawn(before, predicted, after, drawings)), ''
    except ConfigError as error:
        return (), f'There is no picture: {error}.'
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Of a damaged journal: the values are of the right type, and make no sense together.
        return (), f'There is no picture: the scenes on record cannot be drawn ({error}).'


def _drawn(
    before: Scene, predicted: Scene | None, after: Scene | None, drawings: Drawings
) -> Iterator[EpisodePicture]:
    if before.is_symbolic:
        if after is not None:
            yield EpisodePicture('What changed', drawings.draw_house(after, before))
        whole = drawings.draw_whole_house(after or before, before if after else None)
        yield EpisodePicture(
            'The whole house at the end' if after else 'The house', whole, is_wide=True
        )
        return
    view = table_view([scene for scene in (before, predicted, after) if scene])
    yield EpisodePicture('Before', drawings.draw_table(before, None, view))
    if predicted is not None:
        drawing = drawings.draw_table(predicted, before, view)
        yield EpisodePicture('As the last rehearsal predicts it', drawing)
    if after is not None:
        yield EpisodePicture('After', drawings.draw_table(after, before, view))
