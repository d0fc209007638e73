"""What a video shows beside the arm: the plan as it stands, and what happens in one caption."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from bbllm.core.events import (
    ApprovalAnswered,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    FeedbackReceived,
    PlanGrown,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
)
from bbllm.core.journal import BREAKS_OFF
from bbllm.core.progress import Progress, StepRow, StepState, counts_text
from bbllm.core.text import count_of, cut
from bbllm.core.types import Outcome, SkillCall

MOST_CHARACTERS = 400
"""Of any text on a picture; longer ones would not fit."""
AROUND = 24
"""Steps before and after the one that is worked on, of which a picture shows what fits."""
GLANCE_S, PLAN_S, END_S = 0.9, 1.6, 3.0
"""How long words, a plan and the ending are shown before the video goes on [s]."""
LEAST_S, MOST_S, PER_CHARACTER_S = 1.6, 3.0, 0.025
"""The same of a sentence, by its length [s]."""


class Tone(Enum):
    """What a caption means, as a colour."""

    PLAIN = 'plain'
    WORK = 'work'
    FAILURE = 'failure'
    REPAIR = 'repair'
    SUCCESS = 'success'
    OPEN = 'open'
    """An ending that is neither success nor failure."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What happens, below the picture."""

    label: str
    """A word or two, in capital letters."""
    text: str
    tone: Tone = Tone.PLAIN
    hold_s: float = 0.0
    """How long the picture stands still for it, in the video [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All texts of a picture, each one line of visible characters."""

    task: str
    who: str
    """The planner and its models."""
    part: str
    """The sub-goal; '' where the task has none."""
    counts: str
    rows: tuple[StepRow, ...]
    """Steps around the one that is worked on."""
    focus: int
    """Which of `rows` has to be in sight."""
    above: int
    below: int
    """How many steps are before and after `rows`."""
    caption: Caption


class Story:
    """Folds the events of an episode, one after the other, into what is shown."""

    def __init__(self) -> None:
        self.caption = Caption('', '')
        self._progress = Progress()
        self._part = ''
        self._calls = self._repairs = 0
        self._in_repair = False
        self._cause = ''
        """The sentence of the last failure, which was shown already."""
        self._timed = True
        """Not in a house, whose clock counts calls."""

    def take(self, event: Event) -> None:
        """Take the next event in."""
        self._progress.take(event)
        data = self._progress.events[-1].data
        match data:
            case Outcome():
                self._calls += 1
            case RepairBegun(is_loop=True):
                self._repairs += 1
            case SceneRecorded(scene=scene):
                self._timed = not scene.is_symbolic
            case SubGoalBegun(text, index, of):
                self._part = f'Part {index + 1} of {of}: {text}'
        caption = self._caption_of(data)
        if caption is not None:
            self.caption = caption

    def break_off(self) -> None:
        """Let the episode end without its end."""
        self.caption = Caption('INTERRUPTED', BREAKS_OFF, Tone.OPEN, END_S)

    @property
    def content(self) -> Content:
        """What is shown now."""
        start, rows = self._progress.events[0].data, self._progress.rows
        assert isinstance(start, EpisodeStarted)
        focus = _focus(rows)
        first, last = max(0, focus - AROUND), focus + AROUND + 1
        counts = [count_of(self._calls, 'call'), count_of(self._repairs, 'repair')]
        return Content(
            task=cut(start.task, MOST_CHARACTERS),
            who=cut(f'{start.planner} · Brain {start.brain} · Body {start.body}', MOST_CHARACTERS),
            part=cut(self._part, MOST_CHARACTERS),
            counts=' · '.join(counts),
            rows=tuple(self._shortened(row) for row in rows[first:last]),
            focus=focus - first,
            above=first,
            below=max(0, len(rows) - last),
            caption=self.caption,
        )

    def _caption_of(self, data: EventData) -> Caption | None:
        """Return the caption of an event; None where the one before it stays."""
        match data:
            case EpisodeStarted():
                return Caption('TASK', 'The scene is observed.')
            case SceneRecorded('before'):
                return Caption('TASK', 'The Brain plans.', hold_s=GLANCE_S)
            case PlanGrown():
                return None
            case PlanMade():
                return self._planned(data)
            case StepBegun(index, text):
                return _caption(f'STEP {index}', text, Tone.WORK)
            case SkillCall() as call:
                self._cause = ''
                row = self._progress.current
                return _caption(f'STEP {row.index}' if row else 'CALL', str(call), Tone.WORK)
            case StepPassed(index, text):
                sentence = f'The Body found no call for it: {text}'
                return _caption(f'STEP {index} PASSED', sentence, Tone.OPEN, GLANCE_S)
            case Outcome(call=call, message=message) if not data.succeeded:
                self._cause = message or f'{call} did not succeed.'
                row = self._progress.current
                label = f'STEP {row.index} FAILED' if row else 'FAILED'
                return _caption(label, self._cause, Tone.FAILURE, _reading_s(self._cause))
            case RepairBegun(cause=cause):
                self._in_repair = True
                name = f'REPAIR {self._repairs}'
                if not data.is_loop:
                    name = 'REHEARSAL' if data.rehearsed else 'REMARK'
                label, sentence = name, 'The Brain repairs its plan.'
                if self._cause and self._cause in cause:
                    return Caption(label, sentence, Tone.REPAIR, GLANCE_S)
                sentence = f'{sentence[:-1]}: {cause}'
                return _caption(label, sentence, Tone.REPAIR, _reading_s(cause))
            case StepFailed(index, cause=cause):
                label = f'STEP {index} STAYS FAILED'
                return _caption(label, cause, Tone.FAILURE, _reading_s(cause))
            case FeedbackReceived(text):
                return _caption(data.speaker.upper(), text, Tone.REPAIR, _reading_s(text))
            case ApprovalAnswered(granted=granted, text=text):
                tone = Tone.SUCCESS if granted else Tone.FAILURE
                return _caption('APPROVAL', text, tone, GLANCE_S)
            case EpisodeEnded():
                return self._ended(data)
        return None

    def _planned(self, data: PlanMade) -> Caption:
        steps = count_of(len(data.steps) - data.start, 'step')
        if self._in_repair:
            self._in_repair = False
            text = f'The repaired plan has {steps} from step {data.start} on.'
            return Caption(f'REPAIR {self._repairs}', text, Tone.REPAIR, PLAN_S)
        if data.revision:  # as of planners that plan each step when its turn comes
            return Caption('PLAN', f'The Brain adds {steps}.', Tone.WORK)
        return Caption('PLAN', f'The plan has {steps}.', Tone.WORK, PLAN_S)

    def _ended(self, data: EpisodeEnded) -> Caption:
        episode = self._progress.episode
        tones = {
            Ending.FINISHED: Tone.SUCCESS,
            Ending.PARTLY_DONE: Tone.OPEN,
            Ending.CANCELLED: Tone.OPEN,
        }
        goal = f'goal: {data.goal}' if data.goal else ''
        counts = counts_text(episode, episode.robot_s, episode.wall_s)
        text = ' · '.join(filter(None, (data.message, goal, counts)))
        label = data.ending.name.replace('_', ' ')
        return _caption(label, text, tones.get(data.ending, Tone.FAILURE), END_S)

    def _shortened(self, row: StepRow) -> StepRow:
        return replace(
            row,
            text=cut(row.text, MOST_CHARACTERS),
            note=cut(row.note, MOST_CHARACTERS),
            robot_s=row.robot_s if self._timed else 0.0,
        )


def holds_of(events: Iterable[Event]) -> list[float]:
    """Return for each event how long the video stands still for its caption [s]."""
    story, holds, shown = Story(), list[float](), Caption('', '')
    for event in events:
        story.take(event)
        holds.append(0.0 if story.caption is shown else story.caption.hold_s)
        shown = story.caption
    return holds


def _caption(label: str, text: str, tone: Tone, hold_s: float = 0.0) -> Caption:
    return Caption(label, cut(text, MOST_CHARACTERS), tone, hold_s)


def _reading_s(sentence: str) -> float:
    return min(MOST_S, max(LEAST_S, PER_CHARACTER_S * len(sentence)))


def _focus(rows: list[StepRow]) -> int:
    """Return the place of the step that is worked on, the next one, or the last."""
    for state in (StepState.RUNNING, StepState.PENDING):
        for i, row in enumerate(rows):
            if row.state is state:
                return i
    return max(0, len(rows) - 1)
