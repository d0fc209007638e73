"""A conversation with a robot: each line is a task, a question, a correction or an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from bbllm.api.session import Session
from bbllm.core.conversation import Turn
from bbllm.core.events import (
    Episode,
    EpisodeEnded,
    Event,
    FeedbackReceived,
    QuestionAsked,
)
from bbllm.core.tasks import make_task


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one line of a person."""

    text: str
    """In words, for the person."""
    turn: Turn | None = None
    """The turn that the line has begun; None of a line that belongs to one under way."""


class Chat:
    """
    Directs a session line by line; any thread may use it.

    While no task is under way, a line begins a turn: the planner decides whether it is a task or a
    question, with the turns before it. During one, a line answers the question that waits, or is
    added to the task. A line such as `stop` stops the robot at once, without a model.

    *on_event* is called with each event of the turns that begin here, from any thread.
    """

    def __init__(self, session: Session, on_event: Callable[[Event], None] = lambda event: None):
        self._session, self._on_event = session, on_event
        self._lock = threading.Lock()
        self._question: QuestionAsked | None = None
        session.attended = True

    @property
    def question(self) -> QuestionAsked | None:
        """The question of the planner that waits for an answer."""
        return self._question

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        running = self._session.running
        return running is not None and running.is_under_way

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first, whoever began them."""
        return self._session.turns

    def say(self, text: str, *, wait_s: float = 0.0) -> Reply:
        """
        Take a line of the person; of one that begins a turn, wait for its end.

        *wait_s* is how long the fate of an addition is waited for, wall clock [s]. Raises
        TaskError where a text cannot be taken, BbllmError where the robot has gone.
        """
        if (answer := self.begin(text, wait_s=wait_s)) is not None:
            return answer
        running = self._session.running
        assert running is not None and running.future is not None  # begun just now
        return self.reply_of(running.future.result())

    def begin(self, text: str, *, wait_s: float = 0.0) -> Reply | None:
        """Take a line as `say` does; None where it has begun a turn, which is not waited for."""
        if self._session.stopped_by(text):
            return Reply('Stopped.')
        with self._lock:
            if not self.is_busy:
                self._question = None
                self._session.start(make_task(text), self._receive)
                return None
        waiting = self._question
        return Reply(self._session.say(text, wait_s, waiting.text if waiting else ''))

    def reply_of(self, episode: Episode) -> Reply:
        """Return what came of an episode that has ended."""
        return Reply(episode.summary or episode.message, Turn.of(episode))

    def close(self, reason: str = 'The conversation has ended.') -> None:
        """Stop the turn under way, and wait for its end."""
        self._session.end(reason)

    def _receive(self, event: Event) -> None:
        match event.data:
            case QuestionAsked():
                self._question = event.data
            case FeedbackReceived() | EpisodeEnded():
                self._question = None
        self._on_event(event)
