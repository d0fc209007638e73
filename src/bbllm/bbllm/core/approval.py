"""
Approval: the robot moves only after a person has allowed it, whatever a model replies.

The check sits where the arm is commanded (`fr3_executor`), below every planner and model. What
is allowed is named by a hash of what the person read, so a plan that was changed since is
another one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ConfigError
from bbllm.core.types import Outcome, Plan, SkillCall

SHORT = 12
"""How many characters of a hash people are shown."""


class ApprovalMode(str, Enum):
    """What a person has to allow."""

    NONE = 'none'
    PLAN = 'plan'
    """Every plan, before anything of it moves; a repaired plan is a new one."""
    STEP = 'step'
    """Every single call."""
    RISKY = 'risky'
    """Only calls for which `skills.risk` gives a reason."""


class RequestKind(str, Enum):
    """What is asked for; the twin of Approval.msg's constants."""

    NOTHING = ''
    PLAN = 'plan'
    CALL = 'call'
    RESUME = 'resume'


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a call comes from."""

    episode_id: str
    revision: int
    """How many plans the episode had before this one."""
    plan: Plan
    """The whole plan."""
    step: int
    """Index of the step that the call carries out."""

    @property
    def hash(self) -> str:
        """What names this very plan; see `plan_hash`."""
        return plan_hash(self.episode_id, self.revision, self.plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What a person is asked to allow; the twin of Approval.msg."""

    kind: RequestKind
    hash: str
    """What an answer has to name."""
    title: str
    lines: tuple[str, ...] = ()
    """What is to be allowed, line by line."""
    reason: str = ''
    """Why it is asked; empty where it always is."""
    episode_id: str = ''
    timeout_s: float = 0.0
    """How long it is waited for, wall clock [s]."""
    since_s: float = 0.0
    """Since when, wall clock, seconds since the epoch [s]."""

    @property
    def name(self) -> str:
        """What people call it, for example `plan 1a2b3c4d5e6f`."""
        return f'{self.kind.value} {self.hash[:SHORT]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a person to a request."""

    granted: bool
    reason: str = ''
    """Why not; part of the feedback to the Brain."""
    by: str = ''
    """Name of the person; empty if the time ran out."""
    automatic: bool = False
    """Whether a program answered in place of a person."""

    def told_of(self, request: ApprovalRequest) -> str:
        """Return one line about a request and this answer, for logs and journals."""
        if not self.by:
            return f'{request.name}: {self.reason}'
        how = ' (automatic)' if self.automatic else ''
        why = f': {self.reason}' if self.reason else ''
        return f'{request.name} {"approved" if self.granted else "denied"} by {self.by}{how}{why}'


Permit = Callable[[SkillCall, Provenance | None, CancelToken], Outcome | None]
"""Called by the executor before a call, with where the call comes from: returns the refusal, or
None where it may go on. The token ends the wait for a person."""

AskPerson = Callable[[str, CancelToken], bool]
"""Called by the executor when the robot has stopped, with what happened: returns whether a person
allows it to be recovered and to go on."""


def plan_hash(episode_id: str, revision: int, plan: Plan) -> str:
    """Return the SHA-256 of episode, revision and every step of a plan, in hexadecimal."""
    steps = [[step.index, step.text] for step in plan.steps]
    text = json.dumps([episode_id, revision, steps], ensure_ascii=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()


def single_hash(kind: RequestKind, *what: str) -> str:
    """
    Return what names one request for a call, a recovery, or a plan that is asked for once more.

    Random, unlike that of a plan's first request: an answer to one such request is never good
    for another that asks the same.
    """
    text = json.dumps([kind.value, secrets.token_hex(16), *what])
    return hashlib.sha256(text.encode()).hexdigest()


def approval_mode(name: str) -> ApprovalMode:
    """
    Return a mode of approval by its name.

    Raises:
        ConfigError: There is none of that name.
    """
    try:
        return ApprovalMode(name)
    except ValueError as error:
        names = ', '.join(mode.value for mode in ApprovalMode)
        raise ConfigError(
            f'fr3_executor knows no approval {name!r}. It may be: {names}. '
            'For example approval:=plan.'
        ) from error
