"""The page of one episode: how it ended, pictures, plans, steps, and what models were asked."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending, Episode, EpisodeStarted, ModelCall
from bbllm.core.journal import read_damaged, summarize
from bbllm.core.paths import camera_pictures
from bbllm.core.protocols import data_url
from bbllm.core.records import to_json
from bbllm.core.types import Scene
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import flat, show
from bbllm_bench.oracle.notices import notices_about, stand_ins
from bbllm_bench.report import words
from bbllm_bench.report.episode_replay import embedded_replay
from bbllm_bench.report.gallery import Drawing, Drawings, table_view
from bbllm_bench.report.pages import render_page
from bbllm_bench.report.timeline import PlanEntry, parts_of
from bbllm_viewer.replay.exchanges import read_exchanges
from bbllm_viewer.viz.sheet import drawable_scenes, scenes_of

TONES = {Ending.FINISHED: 'passed', Ending.PARTLY_DONE: 'lost', Ending.CANCELLED: 'lost'}
"""Colours of endings, by the verdict that has the same; all others are those of `failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCosts:
    """What one role of model took in an episode."""

    role: str
    models: tuple[str, ...]
    """Names that servers gave, those of its calls."""
    calls: int
    prompt_tokens: int
    is_estimate: bool
    """Whether a server did not count tokens of prompts, so that they are estimated."""
    cached_tokens: int
    image_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    model_s: float
    retries: int


_SUMS = ('cached_tokens', 'image_tokens', 'completion_tokens', 'reasoning_tokens', 'retries')


@dataclass(frozen=True, slots=True)
class EpisodePicture:
    """One drawing with its caption."""

    caption: str
    drawing: Drawing
    is_wide: bool = False
    """Whether it is folded, and scrolls on a narrow screen."""


def render_journal(journal: Path, result: EpisodeResult | None = None) -> str:
    """
    Return the page of an episode, with the verdict of the bench where it has one.

    Raises:
        ConfigError: No line of the journal can be read.
    """
    episode, faults = read_damaged(journal)
    exchanges = read_exchanges(episode, journal)
    drawings = Drawings()
    pictures, problem = _pictures_of(episode, drawings)
    is_house = any(picture.is_wide for picture in pictures)
    start = next(e.data for e in episode.events if isinstance(e.data, EpisodeStarted))
    return render_page(
        'episode.html.j2',
        episode=episode,
        start=start,
        result=result,
        summary=summarize(episode),
        tone=TONES.get(episode.ending, 'failed') if episode.ending is not None else 'lost',
        notices=(*_stand_ins_of(episode), *faults),
        facts=_facts_of(episode, start, timed=bool(pictures) and not is_house),
        settings=flat({'limits': to_json(start.limits), **start.settings}),
        show=show,
        roles=tuple(_roles_of(episode.model_calls)),
        # A run has hundreds of pages, and a motion of none.
        replay=None if result else embedded_replay(episode, journal),
        pictures=pictures,
        seen=tuple(_seen_by_cameras(journal)),
        picture_problem=problem,
        is_house=is_house,
        drawings=drawings,
        parts=(parts := parts_of(episode, exchanges)),
        plans=[item for part in parts for item in part.entries if isinstance(item, PlanEntry)],
        journal=journal.name,
        journal_address=quote(journal.name),
    )


def _seen_by_cameras(journal: Path) -> Iterator[tuple[str, str]]:
    """Yield a caption and the address of each picture of a camera beside a journal."""
    paths = journal.parent.glob(camera_pictures(journal).name)
    for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
        camera, _, moment = path.stem.partition('-camera-')[2].rpartition('-')
        with suppress(OSError, ValueError):
            yield f'{camera}, {moment}', data_url(path.read_bytes())


def _stand_ins_of(episode: Episode) -> list[str]:
    served = {row.role: row.models for row in _roles_of(episode.model_calls)}
    return notices_about(stand_ins(), episode, served)


def _facts_of(episode: Episode, start: EpisodeStarted, *, timed: bool) -> dict[str, str]:
    """Return what is said of an episode in a few words, by name."""
    calls = episode.model_calls
    tokens = words.count(sum(call.size_tokens + call.completion_tokens for call in calls))
    is_estimate = any(row.is_estimate for row in _roles_of(calls))
    facts = {
        'Planner': episode.planner,
        'Brain': episode.brain,
        'Body': episode.body,
        'Calls executed': words.count(episode.steps),
        'Feedback loops': words.count(episode.feedback_loops),
        'Model calls': words.count(len(calls)),
        'Tokens': f'about {tokens}' if is_estimate else tokens,
        # The clock of a house counts steps, which are the calls; a picture shows which it is.
        'Robot time': words.duration(episode.robot_s) if timed else '',
        'On the clock': words.duration(episode.wall_s),
        'Date': time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(episode.events[0].stamp_s)),
        'Episode': episode.id,
        'bbllm': start.version,
    }
    return {name: value for name, value in facts.items() if value}


def _roles_of(calls: Sequence[ModelCall]) -> Iterator[RoleCosts]:
    """Yield the sums over the calls of each role."""
    for role in dict.fromkeys(call.role for call in calls):
        own = [call for call in calls if call.role == role]
        sums = {key: sum(getattr(call, key) for call in own) for key in _SUMS}
        yield RoleCosts(
            role=role,
            models=tuple(dict.fromkeys(call.model for call in own)),
            calls=len(own),
            prompt_tokens=sum(call.size_tokens for call in own),
            is_estimate=any(call.sent_tokens and not call.prompt_tokens for call in own),
            model_s=sum(call.duration_s for call in own),
            **sums,
        )


def _pictures_of(episode: Episode, drawings: Drawings) -> tuple[tuple[EpisodePicture, ...], str]:
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
