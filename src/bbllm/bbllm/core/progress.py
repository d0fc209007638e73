"""The state of an episode while its events come in, and after its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import Any

from bbllm.core.events import (
    ApprovalAnswered,
    Ending,
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    Limits,
    PlanGrown,
    PlanMade,
    PlanRehearsed,
    QuestionAsked,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
)
from bbllm.core.journal import episode_of
from bbllm.core.text import count_of, escape_texts
from bbllm.core.types import Outcome, SkillCall


class StepState(Enum):
    """Where a step of the plan stands."""

    PENDING = 'pending'
    RUNNING = 'running'
    DONE = 'done'
    PASSED = 'passed'
    """The Body found nothing in it that the robot could do."""
    FAILED = 'failed'
    """It stays failed; the plan goes on without it."""
    REPLACED = 'replaced'
    """A repair put other steps in its place."""
    STOPPED = 'stopped'
    """The episode was cancelled, or broke off, while it ran."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step as it is shown; a change puts another in its place."""

    index: int
    text: str
    state: StepState = StepState.PENDING
    call: str = ''
    """The call that the Body made of it."""
    note: str = ''
    """Why it failed or was replaced."""
    robot_s: float = 0.0
    """Simulated time that it took [s]."""


NOTHING = Event(0.0, EpisodeStarted(episode_id='', task='', planner='', brain='', body=''))
"""Stands for the start of an episode before it is known."""


@dataclass
class Progress:
    """The plan with each step's state, and what happened; changed by `take` only."""

    events: list[Event] = field(default_factory=lambda: [NOTHING])
    """All so far, each text in one line of visible characters."""
    rows: list[StepRow] = field(default_factory=list)
    """Steps in force, and between them those that a repair replaced, in the order of time."""
    robot_s: float = 0.0
    """Simulated time of all calls that ended [s]."""
    activity: str = 'looking at the scene'
    """What goes on now, in a few words."""
    question: QuestionAsked | None = None
    """The question of the planner that waits for a person."""
    place: int | None = None
    """Of `current` among the rows."""

    @property
    def episode(self) -> Episode:
        """All so far in figures."""
        return episode_of(self.events)

    @property
    def started_s(self) -> float:
        """When the episode began, wall clock; 0 where that is not known [s]."""
        return self.events[0].stamp_s

    @property
    def done_steps(self) -> frozenset[int]:
        """Indices of the steps in force that are done."""
        return frozenset(row.index for row in self.rows if row.state is StepState.DONE)

    @property
    def wall_s(self) -> float:
        """Wall time from the first to the newest event [s]."""
        return self.events[-1].stamp_s - self.started_s

    def take(self, event: Event) -> None:
        """Take one event in, and of its texts what can be shown; most kinds change no step."""
        event = replace(event, data=escape_texts(event.data))
        self.events.append(event)
        match event.data:
            case EpisodeStarted():
                self.events = [event]
            case SceneRecorded(moment):
                if moment == 'before':
                    self.activity = 'the Brain plans'
            case PlanGrown(steps, start):
                self.rows += [StepRow(i, text) for i, text in enumerate(steps) if i >= start]
            case PlanMade(steps, start):
                self._plan(steps, start)
            case StepBegun(index, text):
                self._step(index, text)
            case SkillCall() as call:
                self.activity = f'the arm does {call}'
                self._change(self.place, call=str(call))
            case StepPassed(index):
                self._mark(index, StepState.PASSED)
            case Outcome() as outcome:
                self._outcome(outcome)
            case RepairBegun(index, cause=cause):
                # A person's message replaces a step that was not begun; it stays visible too.
                self._mark(index, StepState.RUNNING, cause)
                self.activity = 'the Brain plans on'
            case PlanRehearsed() as rehearsed:
                self.activity = f'rehearsed: {rehearsed.lines[0]}'
            case StepFailed(index, cause=cause):
                self._mark(index, StepState.FAILED, cause)
            case QuestionAsked(text):
                self.question = event.data
                self.activity = f'asks: {text}'
            case FeedbackReceived():
                self.question = None
            case ApprovalAnswered(text=text):
                self.activity = text
            case EpisodeEnded(ending):
                self.question = None
                if ending in (Ending.FINISHED, Ending.PARTLY_DONE):
                    self._settle()
                else:
                    self._change(self.place, state=StepState.STOPPED)
                self.activity = ''

    @property
    def current(self) -> StepRow | None:
        """The step that is worked on, None before the first one and between steps."""
        return None if self.place is None else self.rows[self.place]

    def _change(self, place: int | None, **changes: Any) -> None:
        """Put a changed row in the place of one; nothing where there is none."""
        if place is None:
            return
        row = self.rows[place] = replace(self.rows[place], **changes)
        if row.state is StepState.RUNNING:
            self.place = place if self.place is None else min(place, self.place)
        elif place == self.place:
            self._find_current(place + 1)

    def _find_current(self, start: int = 0) -> None:
        rows = islice(self.rows, start, None)
        states = (place for place, row in enumerate(rows, start) if row.state is StepState.RUNNING)
        self.place = next(states, None)

    def _mark(self, index: int, state: StepState, note: str | None = None) -> int | None:
        """Set the state of the step in force of that number, and return its place."""
        for place in reversed(range(len(self.rows))):
            row = self.rows[place]
            if row.index == index and row.state is not StepState.REPLACED:
                self._change(place, state=state, note=row.note if note is None else note)
                return place
        return None

    def _plan(self, steps: Sequence[str], start: int) -> None:
        if self.current is not None and self.current.index < start:
            self._settle()
        for place, row in enumerate(self.rows):
            if row.index >= start and row.state in (StepState.RUNNING, StepState.FAILED):
                self._change(place, state=StepState.REPLACED)
        # What was tried stays in sight; steps that were never tried just go.
        kept = [x for x in self.rows if x.index < start or x.state is StepState.REPLACED]
        self.rows = [*kept, *(StepRow(i, text) for i, text in enumerate(steps) if i >= start)]
        self._find_current()
        self.activity = 'plan in hand'

    def _step(self, index: int, text: str) -> None:
        self._settle()
        place = self._mark(index, StepState.RUNNING)
        if place is None:
            self.rows.append(StepRow(index, text))
            place = len(self.rows) - 1
        self._change(place, state=StepState.RUNNING, text=text)
        self.activity = 'the Body is asked for a call'

    def _settle(self) -> None:
        # A planner reports what goes wrong, except one that goes on from what it observes: there
        # a step ends without a word, and its call or its note shows what became of it.
        if row := self.current:
            is_done = row.call and not row.note
            self._change(self.place, state=StepState.DONE if is_done else StepState.FAILED)

    def _outcome(self, outcome: Outcome) -> None:
        self.robot_s += outcome.duration_s
        if row := self.current:
            self._change(self.place, robot_s=row.robot_s + outcome.duration_s)
            if outcome.succeeded:
                self._change(self.place, state=StepState.DONE)
            else:
                self._change(self.place, note=outcome.message)


def progress_of(episode: Episode) -> Progress:
    progress = Progress()
    for event in episode.events:
        progress.take(event)
    return progress


def counts_text(episode: Episode, robot_s: float, wall_s: float) -> str:
    """Return the counts in one line; the times may be newer than the last event [s]."""
    calls = episode.model_calls
    tokens = sum(call.prompt_tokens + call.completion_tokens for call in calls)
    passed = count_of(episode.passed_steps, 'step')
    start = episode.events[0].data if episode.events else None
    limits, loops = Limits(), None
    if isinstance(start, EpisodeStarted):
        limits, loops = start.limits, start.settings.get('feedback_loops')
    most = f' of {loops}' if episode.feedback_loops and loops else ''
    parts = [
        count_of(episode.steps, 'call'),
        f'{passed} passed' if episode.passed_steps else '',
        f'{count_of(episode.feedback_loops, "repair")}{most}',
        f'{count_of(episode.remarks, "remark")} of {limits.remarks}' if episode.remarks else '',
        count_of(len(calls), 'model call'),
        # Offline models and some servers count none: then they are left out.
        f'{tokens:,} tokens' if tokens else '',
        f'{robot_s:.1f} s simulated',
        f'{wall_s:.1f} s on the clock',
    ]
    return ' · '.join(filter(None, parts))
