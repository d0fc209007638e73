"""The status of the robot for a person beside it, in a few lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from bbllm.core.approval import ApprovalRequest
from bbllm.core.events import EpisodeEnded, EpisodeStarted, Event, StepBegun
from bbllm.core.observation import lost_names
from bbllm.core.types import Code, Outcome, Scene
from bbllm_ros.rviz.menu import shortened

FAULTS = frozenset(
    {
        Code.CONTROLLER_ABORTED,
        Code.GRIPPER_FAILED,
        Code.USER_STOP,
        Code.REFLEX,
        Code.COMMUNICATION_LOSS,
        Code.JOINT_LIMIT,
        Code.NEEDS_PERSON,
    }
)
"""Codes of outcomes that concern the robot, not the task."""
LONGEST = 100
"""Characters of a line."""
MOST_LINES = 12
"""Lines of what waits for an answer."""


class Mood(Enum):
    """How much a person is needed."""

    CALM = 'calm'
    WAITS = 'waits'
    """Nothing moves before a person has answered."""
    FAULT = 'fault'


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusBoard:
    """The newest state of everything that people are shown."""

    task: str = ''
    """What is asked for now; empty where nothing is."""
    ending: str = ''
    """How the last task ended."""
    step: str = ''
    activity: str = ''
    """What the arm does."""
    fault: str = ''
    """The sentence of what stopped the robot since the last call that succeeded."""
    waiting: ApprovalRequest | None = None
    lost: tuple[str, ...] = ()
    """Names of what was seen before and is not seen any more."""
    missing: str = ''
    """A sentence about a node or a scene that is missing; empty where nothing is."""
    notice: str = ''
    """What became of the last choice."""

    @property
    def mood(self) -> Mood:
        """How much a person is needed."""
        if self.waiting is not None:
            return Mood.WAITS
        return Mood.FAULT if self.fault or self.missing else Mood.CALM

    def with_event(self, event: Event) -> StatusBoard:
        """Return the board after an event of an episode."""
        match event.data:
            case EpisodeStarted(task=task):
                return replace(
                    self, task=task, ending='', step='', activity='', fault='', notice=''
                )
            case StepBegun(index, text):
                return replace(self, step=f'{index}: {text}')
            case Outcome() as outcome:
                fault = outcome.message if outcome.code in FAULTS else self.fault
                return replace(self, activity='', fault='' if outcome.succeeded else fault)
            case EpisodeEnded(ending, message):
                text = ending.name.lower().replace('_', ' ') + (f': {message}' if message else '')
                return replace(self, task='', ending=text, step='', activity='')
        return self

    def with_request(self, request: ApprovalRequest | None) -> StatusBoard:
        """Return the board after something waits for a person, or nothing does any more."""
        return replace(self, waiting=request)

    def with_scene(self, scene: Scene) -> StatusBoard:
        """Return the board after an observation of the table."""
        return replace(self, lost=lost_names(scene))

    def lines(self) -> tuple[str, ...]:
        reported = [
            ('!', self.missing),
            ('stopped', self.fault),
            ('task', self.task or ('' if self.ending else 'none')),
            ('ended', self.ending),
            ('step', self.step),
            ('arm', self.activity),
            ('lost', ', '.join(self.lost)),
            ('menu', self.notice),
        ]
        shown = [f'{name}: {text}' for name, text in reported if text]
        return tuple(shortened(line, LONGEST) for line in [*self._request(), *shown])

    def _request(self) -> list[str]:
        request = self.waiting
        if request is None:
            return []
        reason = f' ({request.reason})' if request.reason else ''
        lines = [f'WAITS FOR A PERSON: {request.title}{reason}']
        lines += [f'    {line}' for line in request.lines[:MOST_LINES]]
        if len(request.lines) > MOST_LINES:
            lines.append(f'    ... and {len(request.lines) - MOST_LINES} more')
        return [*lines, '    right-click the base of the robot: approve or deny']
