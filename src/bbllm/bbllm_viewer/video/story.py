"""What a video shows beside the arm: the plan as it stands, and what happens in one caption."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from bbllm.core.events import (
    EpisodeEnded,
    EpisodeStarted,
    Event,
    PlanGrown,
    QuestionAsked,
    SceneRecorded,
    describe,
)
from bbllm.core.journal import BREAKS_OFF
from bbllm.core.progress import Progress, StepRow, StepState, counts_text
from bbllm.core.text import cut

MOST_CHARACTERS = 400
"""Of any text on a picture; longer ones would not fit."""
GLANCE_S, END_S = 1.2, 3.0
"""How long words and the ending are shown before the video goes on [s]."""
LEAST_S, PER_CHARACTER_S = 1.6, 0.025
"""The same of a sentence, at least and by its length, up to `END_S` [s]."""


class Tone(Enum):
    """What a caption means, as a colour."""

    PLAIN = 'plain'
    WORK = 'work'
    FAILURE = 'failure'
    REPAIR = 'repair'
    SUCCESS = 'success'
    OPEN = 'open'
    """An ending that is neither success nor failure."""


TONES = {
    **dict.fromkeys(('task', 'plan', 'sub-goal'), Tone.PLAIN),
    **dict.fromkeys(('step', 'call'), Tone.WORK),
    **dict.fromkeys(('failed', 'rejected', 'given up'), Tone.FAILURE),
    **dict.fromkeys(('repair', 'human', 'program'), Tone.REPAIR),
    **dict.fromkeys(('pass', 'approval', 'question'), Tone.OPEN),
    'answer': Tone.SUCCESS,
}
"""Of the words of `core.events.describe` that make a caption, beside `ended`."""
ENDINGS = {
    'FINISHED': Tone.SUCCESS,
    'ANSWERED': Tone.SUCCESS,
    'PARTLY_DONE': Tone.OPEN,
    'CANCELLED': Tone.OPEN,
}
"""Of endings; all others are failures."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What happens, below the picture."""

    label: str
    """A word or two, in capital letters."""
    text: str
    tone: Tone = Tone.PLAIN
    hold_s: float = 0.0
    """How long the picture stands still for it, in the video [s]."""


class Story:
    """Folds the events of an episode, one after the other, into what is shown."""

    def __init__(self) -> None:
        self.caption = Caption('', '')
        self.timed = True
        """Whether steps have a time; not in a house, whose clock counts calls."""
        self._progress = Progress()

    def take(self, event: Event) -> None:
        """Take the next event in."""
        self._progress.take(event)
        data = self._progress.events[-1].data
        if isinstance(data, SceneRecorded):
            self.timed = not data.scene.is_symbolic
        word, text = describe(data)[0]
        if isinstance(data, QuestionAsked):
            text = ' / '.join(data.lines)
        tone = TONES.get(word)
        if isinstance(data, EpisodeEnded):
            tone = ENDINGS.get(data.ending.name, Tone.FAILURE)
            text = f'{data.summary or text} · {self.counts}'
        if tone is None or isinstance(data, PlanGrown):
            return
        hold_s = {Tone.WORK: 0.0, Tone.PLAIN: GLANCE_S, Tone.OPEN: GLANCE_S}.get(
            tone, min(END_S, max(LEAST_S, PER_CHARACTER_S * len(text)))
        )
        if isinstance(data, QuestionAsked):
            hold_s = END_S
        if isinstance(data, EpisodeEnded):
            hold_s = END_S
        self.caption = Caption(word.upper(), cut(text, MOST_CHARACTERS), tone, hold_s)

    def break_off(self) -> None:
        """Let the episode end without its end."""
        self.caption = Caption('INTERRUPTED', BREAKS_OFF, Tone.OPEN, END_S)

    @property
    def task(self) -> str:
        """The instruction, in one line."""
        return cut(self._start.task, MOST_CHARACTERS)

    @property
    def who(self) -> str:
        """The planner and its models."""
        start = self._start
        return cut(f'{start.planner} · Brain {start.brain} · Body {start.body}', MOST_CHARACTERS)

    @property
    def counts(self) -> str:
        """Calls, repairs and times so far."""
        progress = self._progress
        return counts_text(progress.episode, progress.robot_s, progress.wall_s)

    @property
    def rows(self) -> list[StepRow]:
        """The steps, those that a repair replaced among them."""
        return self._progress.rows

    @property
    def focus(self) -> int:
        """The place of the step that is worked on, the next one, or the last."""
        for state in (StepState.RUNNING, StepState.PENDING):
            for i, row in enumerate(self.rows):
                if row.state is state:
                    return i
        return max(0, len(self.rows) - 1)

    @property
    def _start(self) -> EpisodeStarted:
        start = self._progress.events[0].data
        assert isinstance(start, EpisodeStarted)
        return start


def holds_of(events: Iterable[Event]) -> list[float]:
    """Return for each event how long the video stands still for its caption [s]."""
    story, holds, shown = Story(), list[float](), Caption('', '')
    for event in events:
        story.take(event)
        holds.append(0.0 if story.caption is shown else story.caption.hold_s)
        shown = story.caption
    return holds
