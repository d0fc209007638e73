"""The state of an episode while its events come in, and after its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from bbllm.core.events import (
    ApprovalAnswered,
    BeliefsEstimated,
    ConditionChecked,
    Ending,
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
    WarningRaised,
    WordGrounded,
    assert_never,
)
from bbllm.core.observation import Observed
from bbllm.core.text import count_of, escape_texts
from bbllm.core.types import Outcome, Scene, SkillCall


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
    """Answers to requests for approval, a line each."""
    ending: str = ''
    message: str = ''
    started_s: float = 0.0
    last_s: float = 0.0
    scenes: dict[str, Scene] = field(default_factory=dict)
    """By moment: `before` and, where the episode came so far, `after`."""

    @property
    def wall_s(self) -> float:
        """Wall time from the first to the newest event [s]."""
        return self.last_s - self.started_s

    def take(self, event: Event) -> None:
        """Take one event in, and of its texts what can be shown."""
        self.last_s = event.stamp_s
        match escape_texts(event.data):
            case EpisodeStarted() as start:
                self.started_s = event.stamp_s
                self.task, self.episode_id = start.task, start.episode_id
                self.planner, self.brain, self.body = start.planner, start.brain, start.body
            case SceneRecorded(moment, scene):
                self.scenes[moment] = scene
                if moment == 'before':
                    self.activity = 'the Brain plans'
            case PlanMade(steps, start):
                self._plan(steps, start)
            case StepBegun(index, text):
                self._step(index, text)
            case SkillCall() as call:
                self.activity = f'the arm does {call}'
                if row := self.current:
                    row.call = str(call)
            case StepPassed(index):
                self._mark(index, StepState.PASSED)
            case Outcome() as outcome:
                self._outcome(outcome)
            case RepairBegun(index, cause=cause):
                self.repairs += 1
                # A person's message replaces a step that was not begun; it stays visible too.
                self._mark(index, StepState.RUNNING, cause)
                self.activity = 'the Brain plans on'
            case StepFailed(index, cause=cause):
                self._mark(index, StepState.FAILED, cause)
            case ApprovalAnswered(text=text):
                self.activity = text
                self.approvals.append(text)
            case ModelCall() as call:
                self.model_calls += 1
                self.tokens += call.prompt_tokens + call.completion_tokens
                self.model_s += call.duration_s
            case EpisodeEnded(ending, message):
                if ending in (Ending.FINISHED, Ending.PARTLY_DONE):
                    self._settle()
                elif row := self.current:
                    row.state = StepState.STOPPED
                self.ending, self.message, self.activity = ending.name, message, ''
            case (
                WordGrounded()
                | ConditionChecked()
                | SubGoalBegun()
                | BeliefsEstimated()
                | LineDiscarded()
                | Observed()
                | ModelReplied()
                | FeedbackReceived()
                | WarningRaised()
            ):
                pass
            case data:
                assert_never(data)

    @property
    def current(self) -> StepRow | None:
        """The step that is worked on, None before the first one and between steps."""
        return next((row for row in self.rows if row.state is StepState.RUNNING), None)

    def _mark(self, index: int, state: StepState, note: str | None = None) -> StepRow | None:
        """Set the state of the step in force of that number, and return it."""
        for row in reversed(self.rows):
            if row.index == index and row.state is not StepState.REPLACED:
                row.state = state
                row.note = row.note if note is None else note
                return row
        return None

    def _plan(self, steps: Sequence[str], start: int) -> None:
        if self.current is not None and self.current.index < start:
            self._settle()
        kept: list[StepRow] = []
        for row in self.rows:
            if row.state is StepState.REPLACED or row.index < start:
                kept.append(row)
            elif row.state in (StepState.RUNNING, StepState.FAILED):
                # What was tried stays in sight; steps that were never tried just go.
                row.state = StepState.REPLACED
                kept.append(row)
        new = [StepRow(i, text) for i, text in enumerate(steps) if i >= start]
        self.rows = kept + new
        self.activity = 'plan in hand'

    def _step(self, index: int, text: str) -> None:
        self._settle()
        if row := self._mark(index, StepState.RUNNING):
            row.text = text
        else:
            self.rows.append(StepRow(index, text, StepState.RUNNING))
        self.activity = 'the Body looks for a call'

    def _settle(self) -> None:
        # A planner reports what goes wrong, except one that goes on from what it observes: there
        # a step ends without a word, and its call or its note shows what became of it.
        if row := self.current:
            row.state = StepState.DONE if row.call and not row.note else StepState.FAILED

    def _outcome(self, outcome: Outcome) -> None:
        self.calls += 1
        self.robot_s += outcome.duration_s
        if row := self.current:
            row.robot_s += outcome.duration_s
            if outcome.succeeded:
                row.state = StepState.DONE
            else:
                row.note = outcome.message


def progress_of(episode: Episode) -> Progress:
    progress = Progress()
    for event in episode.events:
        progress.take(event)
    return progress


def counts_text(progress: Progress, robot_s: float, wall_s: float | None = None) -> str:
    """Return the counts in one line; *wall_s* where it is newer than the last event [s]."""
    wall_s = progress.wall_s if wall_s is None else wall_s
    n_passed = sum(row.state is StepState.PASSED for row in progress.rows)
    # Offline models and some servers count none: then they are left out.
    tokens = [f'{progress.tokens:,} tokens'] if progress.tokens else []
    passed = [f'{count_of(n_passed, "step")} passed'] if n_passed else []
    return ' · '.join(
        [
            count_of(progress.calls, 'call'),
            *passed,
            count_of(progress.repairs, 'repair'),
            count_of(progress.model_calls, 'model call'),
            *tokens,
            f'{robot_s:.1f} s simulated',
            f'{wall_s:.1f} s on the clock',
        ]
    )
