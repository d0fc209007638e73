"""One card for each episode: how its table or house was left, and why that passed or not."""

from __future__ import annotations

from collections.abc import Sequence
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
from bbllm.bench.report.tables import VERDICTS, anchor
from bbllm.core.types import Scene
from bbllm.viz.svg import Inks


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the gallery shows of one episode."""

    anchor: str
    task: str
    trial: int
    k: int
    verdict: str
    reason: str
    information: str
    """Whether what had to be found out was, and why; '' where nothing had to be."""
    gcr: str
    missing: tuple[str, ...]
    """Conditions of the goal that are not met."""
    conditions: int
    """How many there are."""
    figures: str
    """Loops, steps, calls, times: one line."""
    codes: tuple[tuple[str, int], ...]
    ending: str
    message: str
    """Why it ended, where the reason does not include it."""
    journal: str
    """Relative address of its journal, '' where that is gone."""
    drawing: Drawing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardGroup:
    """The cards of one task, drawn at one scale."""

    name: str
    instruction: str
    cards: tuple[Card, ...]
    tally: str
    """How many of each verdict, in words."""
    drawings: Drawings | HouseDrawings


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """All cards."""

    groups: tuple[CardGroup, ...]
    rules: str
    """CSS of all paints."""
    in_houses: bool = False
    """Whether the episodes were played in houses, and not on tables."""


def make_gallery(run: SavedRun) -> Gallery:
    """Return a card with a drawing for every episode of a run."""
    inks = Inks()
    groups = [
        _group(run, task, inks, f't{number}') for number, task in enumerate(run.settings.tasks)
    ]
    return Gallery(
        groups=tuple(group for group in groups if group.cards),
        rules=inks.rules,
        in_houses=_in_houses(run),
    )


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
    return CardGroup(
        name=task.name,
        instruction=task.instruction,
        cards=tuple(cards),
        tally=_tally(cards),
        drawings=drawings,
    )


def _in_houses(run: SavedRun) -> bool:
    return run.settings.world == 'household'


def _card(
    run: SavedRun,
    result: EpisodeResult,
    final: Scene | None,
    scenes: Scenes,
    drawings: Drawings | HouseDrawings,
) -> Card:
    key = result.key
    missing = tuple(text for text, holds in result.conditions.items() if not holds)
    message = result.message if result.message not in result.reason else ''
    return Card(
        anchor=anchor(key),
        task=key.task,
        trial=key.trial,
        k=key.k,
        verdict=result.verdict,
        reason=result.reason,
        information=_information(result),
        gcr=words.NONE if result.lost else words.two(result.gcr),
        missing=missing,
        conditions=len(result.conditions),
        figures=_figures(result, timed=not _in_houses(run)),
        codes=tuple(
            sorted(
                ((name, n) for name, n in result.codes.items() if n),
                key=lambda item: (-item[1], item[0]),
            )
        ),
        ending=result.ending,
        message=message,
        journal=f'{EPISODES}/{quote(key.name)}.jsonl' if run.journal(key) else '',
        drawing=None if final is None else drawings.draw(final, scenes.before),
    )


def _information(result: EpisodeResult) -> str:
    if result.informed is None:
        return ''
    told = f'{"Informed" if result.informed else "Not informed"}: {result.information}'
    parts = [told.rstrip(': .') + '.']
    if result.false_success:
        parts.append('The planner ended as if it was done.')
    return ' '.join(parts)


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


def _tally(cards: Sequence[Card]) -> str:
    counts = [(sum(card.verdict == verdict for card in cards), verdict) for verdict in VERDICTS]
    return words.listed([f'{n} {verdict}' for n, verdict in counts if n])
