"""One card for each episode: how its table or house was left, and why that passed or not."""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.log.run_settings import TaskSettings
from bbllm.bench.log.store import EPISODES, SavedRun
from bbllm.bench.report import words
from bbllm.bench.report.charts import (
    Drawing,
    Drawings,
    HouseDrawings,
    Scenes,
    final_scene,
    read_scenes,
)
from bbllm.bench.report.tables import VERDICTS
from bbllm.core.types import Scene
from bbllm.viz.svg import Inks


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the gallery shows of one episode, beside its result."""

    result: EpisodeResult
    information: str
    """Whether what had to be found out was, and why; '' where nothing had to be."""
    missing: tuple[str, ...]
    """Conditions of the goal that are not met."""
    figures: str
    """Loops, steps, calls, times: one line."""
    codes: tuple[tuple[str, int], ...]
    message: str
    """Why it ended, where the reason does not include it."""
    journal: str
    """Relative address of its journal, '' where that is gone."""
    drawing: Drawing | None


@dataclass(frozen=True, slots=True)
class CardGroup:
    """The cards of one task, drawn at one scale."""

    task: TaskSettings
    cards: tuple[Card, ...]
    tally: str
    """How many of each verdict, in words."""
    drawings: Drawings | HouseDrawings


@dataclass(frozen=True, slots=True)
class Gallery:
    """All cards."""

    groups: tuple[CardGroup, ...]
    rules: str
    """CSS of all paints."""
    in_houses: bool


def make_gallery(run: SavedRun) -> Gallery:
    """Return a card with a drawing for every episode of a run."""
    inks = Inks()
    groups = [_group(run, task, inks, f't{i}') for i, task in enumerate(run.settings.tasks)]
    return Gallery(tuple(group for group in groups if group.cards), inks.rules, _in_houses(run))


def _group(run: SavedRun, task: TaskSettings, inks: Inks, prefix: str) -> CardGroup:
    results = [result for result in run.results if result.key.task == task.name]
    scenes = [read_scenes(run.journal(result.key)) for result in results]
    drawings: Drawings | HouseDrawings
    if _in_houses(run):
        finals = [known.after for known in scenes]
        drawings = HouseDrawings(inks, prefix)
    else:
        finals = [
            final_scene(result.settled, known) if result.settled else None
            for result, known in zip(results, scenes, strict=True)
        ]
        shown = [known.before for known, final in zip(scenes, finals, strict=True) if final]
        drawings = Drawings([scene for scene in (*finals, *shown) if scene], inks, prefix)
    cards = [_card(run, *each, drawings) for each in zip(results, finals, scenes, strict=True)]
    counts = Counter(result.verdict for result in results)
    tally = words.listed([f'{counts[name]} {name}' for name in VERDICTS if counts[name]])
    return CardGroup(task, tuple(cards), tally, drawings)


def _in_houses(run: SavedRun) -> bool:
    return run.settings.world == 'household'


def _card(
    run: SavedRun,
    result: EpisodeResult,
    final: Scene | None,
    scenes: Scenes,
    drawings: Drawings | HouseDrawings,
) -> Card:
    codes = [(name, n) for name, n in result.codes.items() if n]
    return Card(
        result=result,
        information=_information(result),
        missing=tuple(text for text, holds in result.conditions.items() if not holds),
        figures=_figures(result, timed=not _in_houses(run)),
        codes=tuple(sorted(codes, key=lambda item: (-item[1], item[0]))),
        message=result.message if result.message not in result.reason else '',
        journal=f'{EPISODES}/{quote(result.key.name)}.jsonl' if run.journal(result.key) else '',
        drawing=None if final is None else drawings.draw(final, scenes.before),
    )


def _information(result: EpisodeResult) -> str:
    if result.informed is None:
        return ''
    text = f'{"Informed" if result.informed else "Not informed"}: {result.information}'
    text = text.rstrip(': .') + '.'
    return f'{text} The planner ended as if it was done.' if result.false_success else text


def _figures(result: EpisodeResult, *, timed: bool) -> str:
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
