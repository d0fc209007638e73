"""
The turns of a conversation: what a person asked for, what came of it, and what was moved.

A planner receives the latest turns as data with the next task, so that "put it back" and "no, the
other one" have something to refer to.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from bbllm.core.events import Episode, FeedbackReceived, QuestionAsked, SceneRecorded
from bbllm.core.text import cut
from bbllm.core.types import MOVABLE, Scene, SceneObject

MOST_TURNS = 6
"""How many turns a task is given with, where no number is chosen."""
KEPT_TURNS = 200
"""How many turns are kept for people to read."""
TURN_CHARACTERS = 1000
"""How much of a turn a prompt contains [characters]."""
TEXT_CHARACTERS = 200
"""How much of what the person wrote, and of the report [characters]."""
MOVED_M = 0.01
"""An object that is so far from where it was has been moved [m]."""
PLACED = frozenset({'on', 'in', 'inside', 'held_by'})
"""Facts that state where an object is."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A task or question of a person, and what came of it."""

    episode_id: str
    text: str
    """What the person asked for."""
    ending: str
    """Name of the ending; '' where the episode broke off."""
    reply: str
    """What was reported at its end."""
    added: tuple[str, ...] = ()
    """Questions of the planner, and what the person added, oldest first."""
    moved: tuple[str, ...] = ()
    """Each object that was moved, with the place where it was and the one where it is."""

    @property
    def line(self) -> str:
        """The turn in one line, for prompts."""
        parts = [f'"{cut(self.text, TEXT_CHARACTERS)}"', *self.added]
        if self.moved:  # before the report, which is cut first
            parts.append(f'moved: {"; ".join(self.moved)}')
        parts.append(f'came to: {cut(self.reply, TEXT_CHARACTERS)}')
        return cut(' | '.join(parts), TURN_CHARACTERS)

    @classmethod
    def of(cls, episode: Episode) -> Turn:
        """Return the turn of an episode that has ended."""
        scenes: dict[str, Scene] = {}
        added: list[str] = []
        for event in episode.events:
            match event.data:
                case SceneRecorded(moment, scene):
                    scenes[moment] = scene
                case QuestionAsked(text):
                    added.append(f'asked: {text}')
                case FeedbackReceived(text=text, question=question):
                    added.append(f'{"answer" if question else "added"}: {text}')
        ending = episode.ending.name if episode.ending is not None else ''
        before, after = scenes.get('before'), scenes.get('after')
        return cls(
            episode.id,
            episode.task.instruction,
            ending,
            episode.summary or episode.message,
            tuple(added),
            tuple(moves(before, after)) if before and after else (),
        )


def moves(before: Scene, after: Scene) -> Iterable[str]:
    """Yield each object that is somewhere else, with both places in words and poses."""
    there = {item.name: item for item in after.objects}
    for old in before.objects:
        new = there.get(old.name)
        if new is None or (not before.is_symbolic and old.kind not in MOVABLE):
            continue
        places = _place(before, old.name), _place(after, old.name)
        if before.is_symbolic:
            if places[0] != places[1]:
                yield f'{old.name} from {places[0] or "nowhere"} to {places[1] or "nowhere"}'
            continue
        a, b = old.pose.position_m, new.pose.position_m
        if max(abs(x - y) for x, y in zip(a, b)) > MOVED_M:
            ends = (_where(item, place) for item, place in zip((old, new), places))
            yield f'{old.name} from {" to ".join(ends)}'


def _place(scene: Scene, name: str) -> str:
    facts = (f for f in scene.facts if f.subject == name and f.predicate in PLACED)
    return ' and '.join(sorted(f'{f.predicate} {f.object}' for f in facts))


def _where(item: SceneObject, place: str) -> str:
    """Return the pose of an object that stands upright, and what it is on, as prompts have it."""
    at = ' '.join(f'{x:.3f}' for x in item.pose.position_m)
    z, w = item.pose.quat_xyzw[2:]
    yaw_deg = round(math.degrees(2.0 * math.atan2(z, w)))
    return f'{at} {place}'.rstrip() + (f', yaw {yaw_deg}' if yaw_deg else '')


class Conversation:
    """The turns of one robot, whoever gave the tasks; any thread may use it."""

    def __init__(self, turns: int = MOST_TURNS):
        self._n = turns
        self._turns: deque[Turn] = deque(maxlen=KEPT_TURNS)
        self._lock = threading.Lock()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All that are kept, oldest first."""
        with self._lock:
            return tuple(self._turns)

    @property
    def history(self) -> tuple[str, ...]:
        """The latest turns in words, for the next task."""
        return tuple(turn.line for turn in self.turns[-self._n :]) if self._n else ()

    def add(self, episode: Episode) -> Turn:
        """Add an episode that has ended."""
        turn = Turn.of(episode)
        with self._lock:
            self._turns.append(turn)
        return turn
