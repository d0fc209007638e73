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
from dataclasses import dataclass, field, replace

from bbllm.core.events import Episode, FeedbackReceived, QuestionAsked, SceneRecorded
from bbllm.core.text import cut
from bbllm.core.types import MOVABLE, Fact, Pose, Scene, Task

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
class Spot:
    """Where an object is."""

    facts: tuple[Fact, ...]
    """What states it (PLACED), sorted."""
    pose: Pose | None = None
    """In the frame of the base; None in a house."""

    def __str__(self) -> str:
        """The pose of an object that stands upright, and what it is on, as prompts have it."""
        place = ' and '.join(f'{fact.predicate} {fact.object}' for fact in self.facts)
        if self.pose is None:
            return place or 'nowhere'
        at = ' '.join(f'{x:.3f}' for x in self.pose.position_m)
        yaw = f', yaw {self.yaw_deg}' if self.yaw_deg else ''
        return f'{at} {place}'.rstrip() + yaw

    @property
    def is_held(self) -> bool:
        return any(fact.predicate == 'held_by' for fact in self.facts)

    @property
    def yaw_deg(self) -> int:
        """How an object that stands upright is turned [deg]."""
        if self.pose is None:
            return 0
        z, w = self.pose.quat_xyzw[2:]
        return round(math.degrees(2.0 * math.atan2(z, w)))

    @classmethod
    def of(cls, scene: Scene, name: str) -> Spot:
        """Return where an object of a scene is."""
        found = {f for f in scene.facts if f.subject == name and f.predicate in PLACED}
        facts = sorted(found, key=lambda fact: (fact.predicate, fact.object))
        poses = (item.pose for item in scene.objects if item.name == name)
        return cls((*facts,), None if scene.is_symbolic else next(poses, None))


@dataclass(frozen=True, slots=True)
class Move:
    """An object that is somewhere else than before."""

    name: str
    before: Spot
    after: Spot

    def __str__(self) -> str:
        return f'{self.name} from {self.before} to {self.after}'


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
    moves: tuple[Move, ...] = field(default=(), metadata={'json': False})
    """The same as data; empty where another process had the episode."""
    remarks: tuple[FeedbackReceived, ...] = field(default=(), metadata={'json': False})
    """What the person added and answered as data, likewise."""

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
        remarks: list[FeedbackReceived] = []
        for event in episode.events:
            match event.data:
                case SceneRecorded(moment, scene):
                    scenes[moment] = scene
                case QuestionAsked(text):
                    added.append(f'asked: {text}')
                case FeedbackReceived(text=text, question=question) as remark:
                    added.append(f'{"answer" if question else "added"}: {text}')
                    remarks.append(remark)
        ending = episode.ending.name if episode.ending is not None else ''
        before, after = scenes.get('before'), scenes.get('after')
        found = (*moves(before, after),) if before and after else ()
        return cls(
            episode.id,
            episode.task.instruction,
            ending,
            episode.summary or episode.message,
            tuple(added),
            tuple(map(str, found)),
            found,
            tuple(remarks),
        )


def moves(before: Scene, after: Scene) -> Iterable[Move]:
    """Yield each object that is somewhere else."""
    for old in before.objects:
        if old.name not in after.names or (not before.is_symbolic and old.kind not in MOVABLE):
            continue
        move = Move(old.name, Spot.of(before, old.name), Spot.of(after, old.name))
        a, b = move.before.pose, move.after.pose
        if a is None or b is None:
            is_elsewhere = move.before != move.after
        else:
            is_elsewhere = (
                max(map(_distance, a.position_m, b.position_m)) > MOVED_M
                or move.before.is_held != move.after.is_held
            )
        if is_elsewhere:
            yield move


def _distance(a: float, b: float) -> float:
    return abs(a - b)


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

    def given_to(self, task: Task) -> Task:
        """Return a task with the latest turns."""
        latest = self.turns[-self._n :] if self._n else ()
        return replace(task, history=tuple(turn.line for turn in latest), turns=latest)

    def add(self, episode: Episode) -> Turn:
        """Add an episode that has ended."""
        turn = Turn.of(episode)
        with self._lock:
            self._turns.append(turn)
        return turn
