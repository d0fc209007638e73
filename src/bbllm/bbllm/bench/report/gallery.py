"""One card for each episode: how its table or house was left, and why that passed or not."""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.log.run_settings import TaskSettings
from bbllm.bench.log.store import EPISODES, SavedRun
from bbllm.bench.report import words
from bbllm.bench.report.drawings import (
    Drawing,
    Drawings,
    final_scene,
    is_far,
    read_scenes,
    table_view,
)
from bbllm.bench.report.tables import VERDICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the gallery shows of one episode, beside its result."""

    result: EpisodeResult
    journal: str
    """Relative address of its journal, '' where that is gone."""
    drawing: Drawing | None
    away: tuple[str, ...] = ()
    """Names of objects that came to rest outside of the picture."""


@dataclass(frozen=True, slots=True)
class CardGroup:
    """The cards of one task, drawn at one scale."""

    task: TaskSettings
    cards: tuple[Card, ...]
    tally: str
    """How many of each verdict, in words."""


@dataclass(frozen=True, slots=True)
class Gallery:
    """All cards."""

    groups: tuple[CardGroup, ...]
    drawings: Drawings
    in_houses: bool


def make_gallery(run: SavedRun) -> Gallery:
    """Return a card with a drawing for every episode of a run."""
    drawings, in_houses = Drawings(), run.settings.world == 'household'
    groups = []
    for task in run.settings.tasks:
        results = [result for result in run.results if result.key.task == task.name]
        cards = (_houses if in_houses else _tables)(run, results, drawings)
        counts = Counter(result.verdict for result in results)
        tally = words.listed([f'{counts[name]} {name}' for name in VERDICTS if counts[name]])
        if cards:
            groups.append(CardGroup(task, tuple(cards), tally))
    return Gallery(tuple(groups), drawings, in_houses)


def _houses(run: SavedRun, results: list[EpisodeResult], drawings: Drawings) -> list[Card]:
    cards = []
    for result in results:
        scenes = read_scenes(run.journal(result.key))
        drawing = drawings.draw_house(scenes.after, scenes.before) if scenes.after else None
        cards.append(Card(result=result, journal=_address(run, result), drawing=drawing))
    return cards


def _tables(run: SavedRun, results: list[EpisodeResult], drawings: Drawings) -> list[Card]:
    journals = [read_scenes(run.journal(result.key)) for result in results]
    finals = [
        final_scene(result.settled, scenes) if result.settled else None
        for result, scenes in zip(results, journals, strict=True)
    ]
    shown = [scenes.before for scenes, final in zip(journals, finals, strict=True) if final]
    view = table_view([scene for scene in (*finals, *shown) if scene])
    return [
        Card(
            result=result,
            journal=_address(run, result),
            drawing=drawings.draw_table(final, scenes.before, view) if final else None,
            away=tuple(item.name for item in final.objects if is_far(item)) if final else (),
        )
        for result, final, scenes in zip(results, finals, journals, strict=True)
    ]


def _address(run: SavedRun, result: EpisodeResult) -> str:
    return f'{EPISODES}/{quote(result.key.name)}.jsonl' if run.journal(result.key) else ''


def information_of(result: EpisodeResult) -> str:
    """Return whether what had to be found out was, and why; '' where nothing had to be."""
    if result.informed is None:
        return ''
    text = f'{"Informed" if result.informed else "Not informed"}: {result.information}'
    text = text.rstrip(': .') + '.'
    return f'{text} The planner ended as if it was done.' if result.false_success else text


def figures_of(result: EpisodeResult, *, timed: bool) -> str:
    """Return loops, steps, calls and times in one line."""
    parts = [
        f'{words.plural(result.loops, "loop")} (least {result.least_loops})',
        f'{result.executable} of {words.plural(result.attempted, "step")} carried out',
        words.plural(result.model_calls, 'model call'),
        words.plural(result.tokens, 'token'),
    ]
    if timed:
        parts.append(f'{words.duration(result.robot_s)} of robot time')
    if result.broken_rules:
        named = words.listed([f'{rule} × {n}' for rule, n in result.broken_rules.items()])
        parts.append(f'broke {named}, first in call {result.first_broken}')
    if result.passes:
        parts.append(f'{words.plural(result.passes, "step")} passed over')
    if result.unsafe:
        parts.append(words.plural(result.unsafe, 'unsafe command'))
    return ' · '.join(parts)
