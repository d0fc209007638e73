"""What is known of an episode while its events come in; live view, pictures and show read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from bbllm.core.events import Event, EventKind
from bbllm.core.printable import escape_data


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


@dataclass
class StepRow:
    """One step as it is shown."""

    index: int
    text: str
    state: StepState = StepState.PENDING
    call: str = ''
    """The call that the Body made of it."""
    note: str = ''
    """Why it failed or was replaced."""
    robot_s: float = 0.0
    """Simulated time that it took [s]."""


@dataclass
class Progress:
    """The plan with each step's state, and the counts; changed by `take` only."""

    task: str = ''
    episode_id: str = ''
    planner: str = ''
    brain: str = ''
    body: str = ''
    rows: list[StepRow] = field(default_factory=list)
    """Steps in force, and between them those that a repair replaced, in the order of time."""
    repairs: int = 0
    calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    model_s: float = 0.0
    """Wall time spent waiting for models [s]."""
    robot_s: float = 0.0
    """Simulated time of all calls that ended [s]."""
    activity: str = 'looking at the scene'
    """What goes on now, in a few words."""
    approvals: list[str] = field(default_factory=list)
    """What people said when something had to be allowed, a line each."""
    ending: str = ''
    message: str = ''
    started_s: float = 0.0
    last_s: float = 0.0
    scenes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Scenes as JSON values, by moment."""

    @property
    def wall_s(self) -> float:
        """Wall time from the first to the newest event [s]."""
        return self.last_s - self.started_s

    def take(self, event: Event) -> None:
        """Take one event in, and of its texts what can be shown."""
        event = shown(event)
        self.last_s = event.stamp_s
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event.data)
        if event.kind is EventKind.STARTED:
            self.started_s = event.stamp_s

    @property
    def passes(self) -> int:
        """How many steps of the plan in force were passed."""
        return sum(row.state is StepState.PASSED for row in self.rows)

    @property
    def current(self) -> StepRow | None:
        """The step that is worked on, None before the first one and between steps."""
        for row in self.rows:
            if row.state is StepState.RUNNING:
                return row
        return None

    def _live(self, index: int) -> StepRow | None:
        """Return the step in force of that number."""
        for row in reversed(self.rows):
            if row.index == index and row.state is not StepState.REPLACED:
                return row
        return None

    def _started(self, data: Mapping[str, Any]) -> None:
        self.task, self.episode_id = data['task'], data['episode_id']
        self.planner, self.brain, self.body = data['planner'], data['brain'], data['body']

    def _scene(self, data: Mapping[str, Any]) -> None:
        self.scenes[data['moment']] = data['scene']
        if data['moment'] == 'before':
            self.activity = 'the Brain plans'

    def _plan(self, data: Mapping[str, Any]) -> None:
        start = data['start']
        if self.current is not None and self.current.index < start:
            self._settle()
        kept: list[StepRow] = []
        for row in self.rows:
            if row.state is StepState.REPLACED or row.index < start:
                kept.append(row)
            elif row.state in (StepState.RUNNING, StepState.FAILED):
                # What was tried stays in sight; steps that nobody tried just go.
                row.state = StepState.REPLACED
                kept.append(row)
        new = [StepRow(i, text) for i, text in enumerate(data['steps']) if i >= start]
        self.rows = kept + new
        self.activity = 'plan in hand'

    def _step(self, data: Mapping[str, Any]) -> None:
        self._settle()
        row = self._live(data['index'])
        if row is None:
            row = StepRow(data['index'], data['text'])
            self.rows.append(row)
        row.state, row.text = StepState.RUNNING, data['text']
        self.activity = 'the Body looks for a call'

    def _settle(self) -> None:
        """
        See what became of a step that was left without a word.

        A planner tells what goes wrong; but to one that goes on from what it observes, a call
        that failed, or that there was none, is something learned, and no more words are lost.
        """
        row = self.current
        if row is not None:
            row.state = StepState.DONE if row.call and not row.note else StepState.FAILED

    def _call(self, data: Mapping[str, Any]) -> None:
        call = f'{data["skill"]}({", ".join(data["args"])})'
        self.activity = f'the arm does {call}'
        row = self.current
        if row is not None:
            row.call = call

    def _pass(self, data: Mapping[str, Any]) -> None:
        row = self._live(data['index'])
        if row is not None:
            row.state = StepState.PASSED

    def _outcome(self, data: Mapping[str, Any]) -> None:
        self.calls += 1
        self.robot_s += data.get('duration_s', 0.0)
        row = self.current
        if row is None:
            return
        row.robot_s += data.get('duration_s', 0.0)
        if data['status'] == 'SUCCEEDED':
            row.state = StepState.DONE
        else:
            row.note = data.get('message', '')

    def _repair(self, data: Mapping[str, Any]) -> None:
        self.repairs += 1
        row = self._live(data['index'])
        if row is not None:
            row.note = data['cause']
            # What a person said replaces a step that was not begun; it stays in sight too.
            row.state = StepState.RUNNING
        self.activity = 'the Brain plans on'

    def _approval(self, data: Mapping[str, Any]) -> None:
        self.activity = data['text']
        self.approvals.append(data['text'])

    def _failed(self, data: Mapping[str, Any]) -> None:
        row = self._live(data['index'])
        if row is not None:
            row.state, row.note = StepState.FAILED, data['cause']

    def _model_call(self, data: Mapping[str, Any]) -> None:
        self.model_calls += 1
        self.tokens += data.get('prompt_tokens', 0) + data.get('completion_tokens', 0)
        self.model_s += data.get('duration_s', 0.0)

    def _ended(self, data: Mapping[str, Any]) -> None:
        if data['ending'] in ('FINISHED', 'PARTLY_DONE'):
            self._settle()
        else:
            row = self.current
            if row is not None:
                row.state = StepState.STOPPED
        self.ending, self.message = data['ending'], data['message']
        self.activity = ''


_HANDLERS = {
    EventKind.STARTED: Progress._started,
    EventKind.SCENE: Progress._scene,
    EventKind.PLAN: Progress._plan,
    EventKind.STEP: Progress._step,
    EventKind.CALL: Progress._call,
    EventKind.PASS: Progress._pass,
    EventKind.OUTCOME: Progress._outcome,
    EventKind.REPAIR: Progress._repair,
    EventKind.FAILED: Progress._failed,
    EventKind.APPROVAL: Progress._approval,
    EventKind.MODEL_CALL: Progress._model_call,
    EventKind.ENDED: Progress._ended,
}


def shown(event: Event) -> Event:
    """Return an event with each text in one line in which all characters are visible."""
    return replace(event, data={key: escape_data(value) for key, value in event.data.items()})


def count(number: int, noun: str) -> str:
    """Return `1 repair`, `2 repairs`."""
    return f'{number} {noun}' + ('' if number == 1 else 's')


def counts_text(progress: Progress, robot_s: float, wall_s: float | None = None) -> str:
    """Return the counts in one line; *wall_s* where it is newer than the last event [s]."""
    wall_s = progress.wall_s if wall_s is None else wall_s
    # Offline models and some servers count none: then there is nothing to say of them.
    tokens = [f'{progress.tokens:,} tokens'] if progress.tokens else []
    passed = [f'{count(progress.passes, "step")} passed'] if progress.passes else []
    return ' · '.join(
        [
            count(progress.calls, 'call'),
            *passed,
            count(progress.repairs, 'repair'),
            count(progress.model_calls, 'model call'),
            *tokens,
            f'{robot_s:.1f} s simulated',
            f'{wall_s:.1f} s on the clock',
        ]
    )
