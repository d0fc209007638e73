"""What an episode leaves behind: its events, its account and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

from bbllm.core.types import Task


class Ending(IntEnum):
    """How an episode ended; the twin of RunTask's constants."""

    FINISHED = 0
    """The plan ran to its end and no step of it was left failed or passed."""
    GAVE_UP = 1
    """No plan, or steps that stayed failed when the feedback loops were used up."""
    CANCELLED = 2
    OUT_OF_BUDGET = 3
    """A limit on steps, model calls, tokens or time was reached."""
    MODEL_FAILED = 4
    """The model could not be reached, or never gave a reply that parses."""
    WORLD_FAILED = 5
    """The robot, the simulator or a node that was needed has gone."""
    PARTLY_DONE = 6
    """The plan ran to its end, no step was left failed, and some were passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a language model, for the account."""

    role: str
    """Who asked: `brain` or `body`."""
    model: str
    """The name that the server gave, for example `offline`."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    duration_s: float = 0.0
    """Wall time [s]."""
    retries: int = 0
    """How often the request was sent again before it was answered."""
    prompt_chars: int = 0
    """How long the prompt was, all messages together [characters]; 0 of an embedding."""
    stable_chars: int = 0
    """How much of its beginning was as in an earlier prompt of the same role in the episode, so
    that a cache of prompts could reuse it [characters]."""
    sent_tokens: int = 0
    """An estimate of the prompt's tokens (core.prompt_size), for servers that do not count."""

    @property
    def size_tokens(self) -> int:
        """Tokens of the prompt: what the server counted, or the estimate where it did not."""
        return self.prompt_tokens or self.sent_tokens


class EventKind(str, Enum):
    """What an event of an episode tells."""

    STARTED = 'started'
    SCENE = 'scene'
    """The scene at the start and at the end, for pictures."""
    PLAN = 'plan'
    STEP = 'step'
    CALL = 'call'
    PASS = 'pass'
    GROUNDED = 'grounded'
    """A word of the model's, such as `salmon`, was taken for one thing of the scene."""
    CHECKED = 'checked'
    """A condition that a plan asserts was looked at."""
    SUB_GOAL = 'sub_goal'
    """The planner works on a part of the task from now on."""
    ESTIMATED = 'estimated'
    """What the planner believes of things that no scene shows."""
    DISCARDED = 'discarded'
    """A line of a model's reply was left out, since it does not fit the grammar or the scene."""
    OUTCOME = 'outcome'
    SENSED = 'sensed'
    """What the planner saw and felt when it looked for the first time after a call."""
    REPAIR = 'repair'
    """A failed step goes back to the Brain with the sentence that says why."""
    FAILED = 'failed'
    """A step stays failed and the plan goes on without it."""
    MODEL_TEXT = 'model_text'
    MODEL_CALL = 'model_call'
    HUMAN_FEEDBACK = 'human_feedback'
    APPROVAL = 'approval'
    """What a person said when the plan or a call had to be allowed."""
    WARNING = 'warning'
    ENDED = 'ended'


@dataclass(frozen=True, slots=True)
class Event:
    """One line of an episode's journal."""

    kind: EventKind
    stamp_s: float
    """Wall clock, seconds since the epoch [s]."""
    data: Mapping[str, object] = field(default_factory=dict)
    """JSON values only; which keys, is listed in core.journal."""


def passed_steps(events: Iterable[Event]) -> dict[int, str]:
    """Return the texts of the passed steps of the plan in force, by their index."""
    passed: dict[int, str] = {}
    for event in events:
        data: Mapping[str, Any] = event.data
        if event.kind is EventKind.PLAN:
            passed = {index: text for index, text in passed.items() if index < data['start']}
        elif event.kind is EventKind.PASS:
            passed[data['index']] = data['text']
    return passed


def beliefs_text(attributes: Mapping[str, Sequence[str]]) -> str:
    """Write what is believed of things, for people: `egg_1 warm, cooked; cup_2 nothing yet`."""
    told = (f'{name} {", ".join(words) or "nothing yet"}' for name, words in attributes.items())
    return '; '.join(told) or 'nothing yet'


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One task run once: what happened and how it ended."""

    id: str
    task: Task
    planner: str
    brain: str
    """Name of the model that planned, for example `offline`."""
    body: str
    ending: Ending | None
    """None where the journal breaks off: the episode still runs, or its process died."""
    message: str
    """Why it ended so, in one sentence; empty where it finished."""
    events: tuple[Event, ...] = ()
    feedback_loops: int = 0
    steps: int = 0
    """How many calls were executed or rejected."""
    passed_steps: int = 0
    """How many steps of the plan in force were passed: no action was found for them."""
    model_calls: tuple[ModelCall, ...] = ()
    wall_s: float = 0.0
    robot_s: float = 0.0
    """Time that passed in the world while calls were executed [s]."""
