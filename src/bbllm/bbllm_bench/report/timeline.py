"""The parts of an episode in the order of time: planning, steps, repairs, each with its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from bbllm.core.events import (
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanGrown,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
    WarningRaised,
    describe,
)
from bbllm.core.observation import Observed
from bbllm.core.protocols import data_url
from bbllm.core.types import Outcome
from bbllm_viewer.replay.exchanges import KeptPicture, ModelExchange


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture of a message."""

    address: str = ''
    """A URL that contains it; '' where the page has it already."""
    same_as: int = 0
    """Number of the earlier call that the page has it at; 0 where it has not."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of a prompt, without what the page shows already."""

    role: str
    text: str = ''
    same_as: int = 0
    """Number of an earlier call whose prompt has the text; 0 where none has."""
    pictures: tuple[PictureView, ...] = ()


@dataclass(frozen=True, slots=True)
class ExchangeEntry:
    """One call of a model, with its prompt and its reply."""

    kind: ClassVar = 'exchange'
    exchange: ModelExchange
    messages: tuple[MessageView, ...]


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A version of the plan."""

    kind: ClassVar = 'plan'
    number: int
    """From 1."""
    made: PlanMade


@dataclass(frozen=True, slots=True)
class LineEntry:
    """Any other event in words."""

    kind: ClassVar = 'line'
    word: str
    texts: tuple[str, ...]
    is_bad: bool = False


Entry: TypeAlias = ExchangeEntry | PlanEntry | LineEntry


@dataclass(slots=True)
class Part:
    """What belongs together: the work on a plan, a step, a repair or a part of the task."""

    title: str
    text: str
    at_s: float
    """Since the start, by the clock [s]."""
    is_step: bool = False
    state: str = ''
    """How a step went, in the words of its last outcome; '' where nothing says so."""
    is_bad: bool = False
    entries: list[Entry] = field(default_factory=list)


def parts_of(episode: Episode, exchanges: Sequence[ModelExchange]) -> tuple[Part, ...]:
    """Return what happened, part by part; those in which nothing happened are left out."""
    timeline = _Timeline(episode.events[0].stamp_s)
    asked = {entry.exchange.place: entry for entry in _views(exchanges)}
    for place, event in enumerate(episode.events):
        timeline.take(event, asked.get(place))
    return tuple(part for part in timeline.parts if part.entries or part.is_step)


class _Timeline:
    def __init__(self, start_s: float):
        self._start_s = start_s
        self._plans = 0
        self.parts = [Part('Planning', '', 0.0)]

    def take(self, event: Event, asked: ExchangeEntry | None) -> None:
        """Take the next event in; *asked* is the exchange that it stands for."""
        part = self.parts[-1]
        match event.data:
            case EpisodeStarted() | SceneRecorded() | Observed() | ModelReplied():
                pass  # in the head of the page, a picture, a reply; what was sensed is not shown
            case StepBegun(index, text):
                self._begin(event, f'Step {index}', text, is_step=True)
            case SubGoalBegun(text, index, of):
                self._begin(event, f'Part {index + 1} of {of}', text)
            case RepairBegun(index, cause=cause, loop=loop) as repair:
                if part.is_step and not part.state and repair.is_loop:
                    part.state, part.is_bad = 'failed', True
                name = 'Repair'
                if not repair.is_loop:
                    name = 'Repair after rehearsal' if repair.rehearsed else 'Plan after remark'
                self._begin(event, f'{name} {loop}', f'of step {index}')
                self.parts[-1].entries.append(LineEntry('feedback', (cause,), is_bad=True))
            case PlanGrown() as grown:
                self._grow(grown)
            case PlanMade() as made:
                self._plans += 1
                part = self._begin(event, 'Planning') if part.is_step else part
                part.entries.append(PlanEntry(self._plans, made))
            case ModelCall(role=role):
                # What a planner asks once its step has ended is about what comes next.
                if part.is_step and part.state and role != 'body':
                    part = self._begin(event, 'Planning')
                part.entries += [asked] if asked else []
            case EpisodeEnded():
                self._begin(event, 'End')
                self._add_line(event.data)
            case data:
                self._add_line(data)

    def _grow(self, grown: PlanGrown) -> None:
        """Put the steps of a plan that was still being written where the plan stands."""
        for entries in (part.entries for part in reversed(self.parts)):
            for at in reversed(range(len(entries))):
                if isinstance(entry := entries[at], PlanEntry):
                    made = replace(entry.made, steps=grown.steps, rest=grown.rest)
                    entries[at] = replace(entry, made=made)
                    return

    def _begin(self, event: Event, title: str, text: str = '', *, is_step: bool = False) -> Part:
        at_s = event.stamp_s - self._start_s
        self.parts.append(Part(title, text, at_s, is_step))
        return self.parts[-1]

    def _add_line(self, data: EventData) -> None:
        part = self.parts[-1]
        state, is_bad = '', isinstance(data, (LineDiscarded, WarningRaised))
        match data:
            case Outcome(call=call):
                state, is_bad = data.status.name.lower(), not data.succeeded
                if part.entries and part.entries[-1] == _line_of(call):
                    part.entries.pop()  # the outcome names the call
            case StepPassed():
                state, is_bad = 'passed over', True
            case StepFailed():
                state, is_bad = 'given up', True
        if state:
            part.state, part.is_bad = state, is_bad
        part.entries.append(_line_of(data, is_bad=is_bad))


def _line_of(data: EventData, *, is_bad: bool = False) -> LineEntry:
    lines = describe(data)
    return LineEntry(lines[0][0], tuple(text for _, text in lines), is_bad)


def _views(exchanges: Sequence[ModelExchange]) -> Iterator[ExchangeEntry]:
    shown: dict[str, int] = {}
    pictured: dict[str, int] = {}
    for item in exchanges:
        views = []
        for message in item.messages:
            text, known = message.content, shown.get(message.content, 0)
            pictures = tuple(_picture_view(each, pictured) for each in message.pictures)
            views.append(MessageView(message.role, '' if known else text, known, pictures))
            for each in message.pictures:
                pictured.setdefault(each.hash, item.number)
            shown.setdefault(text, item.number)
        yield ExchangeEntry(item, tuple(views))


def _picture_view(picture: KeptPicture, pictured: Mapping[str, int]) -> PictureView:
    if number := pictured.get(picture.hash):
        return PictureView(same_as=number)
    return PictureView(data_url(picture.data))
