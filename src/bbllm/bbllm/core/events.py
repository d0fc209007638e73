"""The events of an episode: one record per kind, each in words, and the record of the whole."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import NoReturn, TypeVar

from bbllm.core.observation import Observed
from bbllm.core.redaction import Redactor
from bbllm.core.text import count_of, cut
from bbllm.core.types import (
    Code,
    Kind,
    NamedNumber,
    Outcome,
    Plan,
    PlanStep,
    Scene,
    SkillCall,
    Task,
)


class Ending(NamedNumber):
    """How an episode ended; the twin of RunTask's constants."""

    FINISHED = 0
    """The plan ran to its end, no step of it was left failed or passed, nothing that was to be set
    down is in the hand, and the goal is met where it was checked."""
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
    """The plan ran to its end and no step was left failed, but not all of the task was done: steps
    were passed, a part was left out, or the scene shows that the goal is not met."""
    WENT_IN_CIRCLES = 7
    """The planner asked for the same call in the same scene again and again, also after a warning
    (core.circles)."""
    ANSWERED = 8
    """The planner answered a question, and nothing was to be done."""

    @property
    def is_success(self) -> bool:
        """Whether all that was asked for was done or answered."""
        return self in (Ending.FINISHED, Ending.ANSWERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one episode may use; None is no limit."""

    steps: int | None = 200
    """Calls executed."""
    model_calls: int | None = 300
    tokens: int | None = None
    """Prompt and completion tokens together; of a server that does not count, the prompts' as
    estimated (core.prompt_size)."""
    wall_s: float | None = None
    """Wall time [s]."""
    allow_circles: bool = False
    """Whether an episode that goes in circles goes on up to its other limits."""
    remarks: int = 10
    """How many remarks and denials may change the plan; none of them uses a feedback loop."""


HASH_CHARACTERS = 16
"""Of a SHA-256 in hexadecimal: enough to tell any number of prompts apart."""


IMAGE = 'image'
"""The role of a picture among the parts of a prompt."""


def hash_of_text(text: str) -> str:
    return hash_of(text.encode(errors='replace'))


def hash_of(data: bytes) -> str:
    """Return the hash by which prompts, pictures and recordings refer to their parts."""
    return hashlib.sha256(data).hexdigest()[:HASH_CHARACTERS]


@dataclass(frozen=True, slots=True)
class PromptText:
    """A message of a prompt, a picture of the message before it, or the JSON schema or tools."""

    role: str
    """`system`, `user`, `assistant`, `tool`, `image` or `schema`."""
    hash: str
    """Of the text or the picture; journals contain nothing else of it (core.prompt_store)."""
    text: str = field(default='', compare=False, repr=False, metadata={'json': False})
    """Without anything that looks like a key; '' where it was read from a journal."""
    picture: bytes = field(default=b'', compare=False, repr=False, metadata={'json': False})
    """A PNG or JPEG file; empty of a text, and where it was read from a journal."""

    @classmethod
    def of(cls, role: str, text: str) -> PromptText:
        text = _HIDE(text).encode(errors='replace').decode()
        return cls(role, hash_of_text(text), text)

    @classmethod
    def of_picture(cls, picture: bytes) -> PromptText:
        return cls(IMAGE, hash_of(picture), picture=picture)


_HIDE = Redactor().hide


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a language model, for the account."""

    role: str
    """`brain` or `body`."""
    model: str
    """The name that the server gave, for example `gpt-4o`."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """How many of the prompt's came from the server's cache."""
    reasoning_tokens: int = 0
    """How many of the completion's were reasoning, which is no part of the reply."""
    image_tokens: int = 0
    """How many of the prompt's were pictures; 0 also where the server does not report them."""
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
    prompt: tuple[PromptText, ...] = ()
    """What was sent, each picture behind its message, the schema last; empty of an embedding, and
    where prompts are not kept."""
    error: str = ''
    """Why there is no reply, with the type of the error; '' where there is one."""

    @property
    def size_tokens(self) -> int:
        """Tokens of the prompt: what the server counted, or the estimate where it did not."""
        return self.prompt_tokens or self.sent_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStarted:
    """An episode begins."""

    episode_id: str
    task: str
    planner: str
    brain: str
    body: str
    version: str = ''
    limits: Limits = field(default_factory=Limits)
    settings: Mapping[str, object] = field(default_factory=dict)
    """JSON values: what else was chosen for this episode."""

    @property
    def never(self) -> tuple[str, ...]:
        """Constraints that are in force, such as `never touch the blue cylinder`."""
        return never_of(self.settings)


def never_of(settings: Mapping[str, object]) -> tuple[str, ...]:
    """Return the constraints among the settings of an episode; nothing else is read there."""
    lines = settings.get('never', ())
    return tuple(map(str, lines)) if isinstance(lines, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class SceneRecorded:
    """The scene at the start or at the end, for pictures."""

    moment: str
    """`before`, `after`, or `predicted`: where a rehearsed plan ends."""
    scene: Scene


@dataclass(frozen=True, slots=True)
class GoalStated:
    """What is checked when the plan has ended; read from the scene before anything has moved."""

    conditions: tuple[str, ...] = ()
    """In words, for people; empty where the goal is not checked."""
    text: str = ''
    """The same in the grammar of core.goals."""
    by: str = ''
    """The model that read them from the task, or `person` who gave them."""
    why: str = ''
    """Why the goal is not checked; empty where it is."""


_Made = TypeVar('_Made', bound='PlanMade')


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan in force: all of its steps that are known."""

    steps: tuple[str, ...]
    start: int
    """Index of the first new step."""
    revision: int = 0
    """How many plans the episode had before this one; the recorder counts them."""
    rest: str = ''
    """What of the task the plan leaves undone, and why, in the planner's words; '' for nothing."""
    assumed: str = ''
    """How the planner reads what the task leaves open, in its words; '' for nothing."""

    @classmethod
    def of(cls: type[_Made], plan: Plan, start: int, rest: str = '', assumed: str = '') -> _Made:
        """Return the event of a plan whose steps from `start` on are new."""
        texts = tuple(step.text for step in plan.steps)
        return cls(texts, start, rest=rest, assumed=assumed)

    @property
    def plan(self) -> Plan:
        return Plan(tuple(PlanStep(index, text) for index, text in enumerate(self.steps)))


@dataclass(frozen=True, slots=True)
class PlanGrown(PlanMade):
    """The plan in force with the steps that its model has written since; the others stay."""


@dataclass(frozen=True, slots=True)
class _OfStep:
    """A step of the plan in force."""

    index: int
    text: str

    @classmethod
    def of(cls: type[_Step], step: PlanStep) -> _Step:
        """Return the event of a step."""
        return cls(step.index, step.text)


_Step = TypeVar('_Step', bound=_OfStep)


class StepBegun(_OfStep):
    """The planner works on this step from now on."""


class StepPassed(_OfStep):
    """The Body found no action for this step."""


@dataclass(frozen=True, slots=True)
class _OfFailure:
    """A failed step of the plan in force."""

    index: int
    text: str
    cause: str
    """One sentence."""
    code: Code | None = field(default=None, kw_only=True)
    """What is wrong with the call, where it was rejected before it reached the world."""

    @classmethod
    def of(
        cls: type[_Failure], step: PlanStep, cause: str, *, code: Code | None = None
    ) -> _Failure:
        """Return the event of a step."""
        return cls(step.index, step.text, cause, code=code)


_Failure = TypeVar('_Failure', bound=_OfFailure)


@dataclass(frozen=True, slots=True)
class RepairBegun(_OfFailure):
    """One feedback loop: a failed step goes back to the Brain with the cause."""

    loop: int = 0
    """Number of the feedback loop, from 1; the recorder counts them, those of rehearsals and
    remarks apart."""
    rehearsed: bool = field(default=False, kw_only=True)
    """Whether the step failed in a rehearsal: the arm has not tried it."""
    remarked: bool = field(default=False, kw_only=True)
    """Whether a remark or a denial is the cause, and not a failure of the robot."""

    @property
    def is_loop(self) -> bool:
        """Whether it uses one of the K feedback loops."""
        return not (self.rehearsed or self.remarked)


class StepFailed(_OfFailure):
    """A step stays failed and the plan goes on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRehearsed:
    """The rest of a plan was tried in simulations of the scene as it is; nothing has moved."""

    samples: int
    """Number of simulations, which differ in poses, masses and friction."""
    succeeded: int
    """In how many of them every step succeeded."""
    calls: int
    """How many calls were tried."""
    index: int = -1
    """The step with which most of them had failed; -1 where there is none."""
    cause: str = ''
    """Why, in one sentence; '' where none did."""
    robot_s: float = 0.0
    """How long the calls take on the arm, as simulated [s]."""
    wall_s: float = 0.0
    """How long the rehearsal took, wall clock [s]."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The result in words, for people."""
        share = f'{self.succeeded} of {self.samples} simulations succeeded'
        if self.index >= 0:
            # Of a step that failed, most simulations had; else the goal is unmet at the end.
            where = f'step {self.index} failed' if 2 * self.succeeded < self.samples else 'but'
            return (f'{share}; {where}: {self.cause}',)
        return (f'{share}, {self.calls} calls in {self.robot_s:.1f} s',)


@dataclass(frozen=True, slots=True)
class WordGrounded:
    """A word of the model, such as `salmon`, was resolved to one object of the scene."""

    word: str
    name: str
    """Name of the object, for example `salmon_328`."""
    policy: str
    """How it was chosen, for example `nearest`."""
    among: int
    """How many objects the word could have meant."""


@dataclass(frozen=True, slots=True)
class ConditionChecked:
    """A condition that a plan asserts was checked."""

    condition: str
    """As the plan has it."""
    holds: bool
    by: str
    """`model` or `graph`."""


@dataclass(frozen=True, slots=True)
class SubGoalBegun:
    """The planner works on a part of the task from now on."""

    text: str
    index: int
    """From 0."""
    of: int
    """How many parts there are."""


@dataclass(frozen=True, slots=True)
class BeliefsEstimated:
    """What the planner believes of objects beyond what scenes show."""

    attributes: Mapping[str, tuple[str, ...]]
    """Of each object, by its name in the scene: everything that is believed now."""
    summary: str = ''
    """What has happened so far in the planner's own words, '' where it has none."""

    def __str__(self) -> str:
        """Return, for example, `egg_1 warm, cooked; cup_2 nothing yet`."""
        words = (
            f'{name} {", ".join(of) or "nothing yet"}' for name, of in self.attributes.items()
        )
        return '; '.join(words) or 'nothing yet'


@dataclass(frozen=True, slots=True)
class LineDiscarded:
    """A line of a model's reply was left out: it does not fit the grammar or the scene."""

    text: str
    """The line."""
    why: str
    """One sentence."""
    refused: bool = False
    """Whether it can be read, but names what is not there or fails a check; lines with a code are
    always refused. Otherwise it does not fit the grammar."""
    code: Code | None = None
    """Where the line is an action of a plan: what is wrong with its call."""

    def __post_init__(self) -> None:
        object.__setattr__(self, 'refused', self.refused or self.code is not None)


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The text of a model's reply."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class FeedbackReceived:
    """A remark of a person, or of a program, during the episode."""

    text: str
    by: str = ''
    """The program that sent it, for example `mcp`; '' for a person."""
    question: str = ''
    """The question that it answers; '' for none."""

    @property
    def sentence(self) -> str:
        """The remark as a sentence that is added to the task."""
        did = f'answered "{self.question}" with' if self.question else 'added'
        return f'The {f"program {self.by}" if self.by else "person"} {did}: {self.text}'

    @property
    def speaker(self) -> str:
        """Who sent it, in the words of a sentence."""
        return f'the program {self.by}' if self.by else 'a person'


def remarks_text(remarks: Iterable[FeedbackReceived]) -> str:
    """Return remarks with who sent them: `a person said: wait; the program mcp said: go on`."""
    parts = groupby(remarks, lambda remark: remark.speaker)
    return '; '.join(f'{who} said: {" / ".join(x.text for x in by)}' for who, by in parts)


MOST_OPTIONS = 9
"""How many options a question may have, so that each is one key."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The planner asks a person how a task is meant; a remark answers it."""

    text: str
    options: tuple[str, ...] = ()
    """Answers to choose from; another answer is taken too."""
    timeout_s: float = field(default=0.0, compare=False)
    """How long an answer is waited for, wall clock [s]."""

    def option_of(self, answer: str) -> str:
        """Return the option that an answer names by its number from 1, else the answer."""
        number = answer.strip().rstrip('.)')
        if number.isdecimal() and 1 <= int(number[:3]) <= len(self.options):
            return self.options[int(number[:3]) - 1]
        return answer

    def fits(self, answer: str) -> bool:
        """Return whether an answer can mean one of the options, by its number or by a word."""
        if not self.options or self.option_of(answer) in self.options:
            return True
        options = [*map(_words, self.options)]
        shared = set.intersection(*options) if options[1:] else set()
        return not _words(answer).isdisjoint(set[str]().union(*options) - shared)

    @property
    def lines(self) -> tuple[str, ...]:
        """The question and its numbered options, for people."""
        return (self.text, *(f'{i}: {option}' for i, option in enumerate(self.options, 1)))


_SMALL_WORDS = frozenset({'a', 'an', 'at', 'in', 'it', 'is', 'of', 'on', 'one', 'or', 'the', 'to'})


def _words(text: str) -> set[str]:
    """Return the words of a text that distinguish options; those of a name count one by one."""
    return {*re.findall(r'[^\W_]+', text.lower())} - _SMALL_WORDS


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """The planner answers a question of the person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered:
    """What was answered when the plan, a call or going on had to be approved."""

    what: str = ''
    """`plan`, `call` or `resume`."""
    hash: str = ''
    title: str = ''
    granted: bool
    reason: str = ''
    by: str = ''
    automatic: bool = False
    text: str


def is_remark(data: EventData) -> bool:
    """Return whether an event is a remark, or a person's denial."""
    if isinstance(data, ApprovalAnswered):
        return bool(data.by) and not data.granted
    return isinstance(data, FeedbackReceived)


@dataclass(frozen=True, slots=True)
class WarningRaised:
    """Information for people that changes nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class EpisodeEnded:
    """The episode is over."""

    ending: Ending
    message: str
    error: str = ''
    """Type of the error that ended it, '' where there was none."""
    goal: str = ''
    """What the last scene shows of the goal: `met`, `unmet`, `met as far as checked` or
    `not checked`; '' where none was asked for."""
    summary: str = ''
    """What was done, and what not and why, for the person (core.dialogue)."""


EventData = (
    EpisodeStarted
    | SceneRecorded
    | GoalStated
    | PlanMade
    | StepBegun
    | SkillCall
    | StepPassed
    | WordGrounded
    | ConditionChecked
    | SubGoalBegun
    | BeliefsEstimated
    | LineDiscarded
    | Outcome
    | Observed
    | PlanRehearsed
    | RepairBegun
    | StepFailed
    | ModelReplied
    | ModelCall
    | FeedbackReceived
    | QuestionAsked
    | AnswerGiven
    | ApprovalAnswered
    | WarningRaised
    | EpisodeEnded
)


class EventKind(StrEnum):
    """Names of the kinds of events in journals and messages, each with its record."""

    record: type[EventData]

    def __new__(cls, word: str, record: type[EventData]) -> EventKind:
        kind = str.__new__(cls, word)
        kind._value_, kind.record = word, record
        return kind

    STARTED = 'started', EpisodeStarted
    SCENE = 'scene', SceneRecorded
    GOAL = 'goal', GoalStated
    PLAN = 'plan', PlanMade
    PLAN_GROWN = 'plan_grown', PlanGrown
    """More steps of the plan in force were written, perhaps while one is carried out."""
    STEP = 'step', StepBegun
    CALL = 'call', SkillCall
    """A call of a skill begins."""
    PASS = 'pass', StepPassed
    GROUNDED = 'grounded', WordGrounded
    CHECKED = 'checked', ConditionChecked
    SUB_GOAL = 'sub_goal', SubGoalBegun
    ESTIMATED = 'estimated', BeliefsEstimated
    DISCARDED = 'discarded', LineDiscarded
    OUTCOME = 'outcome', Outcome
    """A call of a skill has ended."""
    SENSED = 'sensed', Observed
    """The first observation of the planner after a call."""
    REHEARSAL = 'rehearsal', PlanRehearsed
    REPAIR = 'repair', RepairBegun
    FAILED = 'failed', StepFailed
    MODEL_TEXT = 'model_text', ModelReplied
    MODEL_CALL = 'model_call', ModelCall
    HUMAN_FEEDBACK = 'human_feedback', FeedbackReceived
    QUESTION = 'question', QuestionAsked
    ANSWER = 'answer', AnswerGiven
    APPROVAL = 'approval', ApprovalAnswered
    WARNING = 'warning', WarningRaised
    ENDED = 'ended', EpisodeEnded


_KINDS = {kind.record: kind for kind in EventKind}


@dataclass(frozen=True, slots=True)
class Event:
    """One line of an episode's journal."""

    stamp_s: float
    """Wall clock, seconds since the epoch [s]."""
    data: EventData

    @property
    def kind(self) -> EventKind:
        """Name of the kind in journals and messages."""
        return _KINDS[type(self.data)]


def assert_never(data: NoReturn) -> NoReturn:
    """Mark the end of a `match` over all records; typing has it from Python 3.11 on."""
    raise AssertionError(f'{type(data).__name__} is not an event')


_Left = TypeVar('_Left', StepPassed, StepFailed)


def steps_left(events: Iterable[Event], kind: type[_Left]) -> dict[int, _Left]:
    """Return the passed or failed steps of the plan in force, by their index."""
    left: dict[int, _Left] = {}
    for event in events:
        if isinstance(event.data, PlanMade):
            start = event.data.start
            left = {index: step for index, step in left.items() if index < start}
        elif isinstance(event.data, kind):
            left[event.data.index] = event.data
    return left


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One task run once: what happened and how it ended."""

    id: str
    task: Task
    planner: str
    brain: str
    """Name of the model that planned, for example `gpt-4o`."""
    body: str
    ending: Ending | None
    """None where the journal breaks off: the episode still runs, or its process died."""
    message: str
    """Why it ended so, in one sentence; empty where it finished."""
    events: tuple[Event, ...] = ()
    feedback_loops: int = 0
    """Repairs of what the arm has tried; those of rehearsals and remarks are not counted."""
    remarks: int = 0
    """Remarks, and denials of a person."""
    steps: int = 0
    """How many calls were executed or rejected."""
    passed_steps: int = 0
    """How many steps of the plan in force were passed: no action was found for them."""
    goal: str = ''
    """What the last scene shows of the goal: `met`, `unmet`, `met as far as checked` or
    `not checked`; '' where none was asked for."""
    goal_stated: GoalStated = field(default_factory=GoalStated)
    """The conditions that were checked."""
    summary: str = ''
    """What was done, and what not and why, for the person."""
    model_calls: tuple[ModelCall, ...] = ()
    wall_s: float = 0.0
    robot_s: float = 0.0
    """Time that passed in the world while calls were executed [s]."""

    @property
    def never(self) -> tuple[str, ...]:
        """Constraints that were in force; see `EpisodeStarted.never`."""
        first = self.events[0].data if self.events else None
        return first.never if isinstance(first, EpisodeStarted) else ()


LONGEST = 300
"""Characters of a model's text that one line shows."""


def describe(data: EventData) -> list[tuple[str, str]]:
    """Return an event as lines of (word, text), the first of which names its kind."""
    match data:
        case EpisodeStarted():
            models = f': planner {data.planner}, Brain {data.brain}, Body {data.body}'
            never = [('never', line.removeprefix('never ')) for line in data.never]
            return [
                ('task', data.task),
                ('episode', data.episode_id + (models if data.planner else '')),
                *never,
            ]
        case SceneRecorded(moment, scene):
            return [('scene', f'{moment}: {_scene(scene)}')]
        case GoalStated(conditions, why=why):
            return [('goal', text) for text in conditions or (f'not checked: {why}',)]
        case PlanMade(steps, start, rest=rest, assumed=assumed):
            lines = [f'  {index}: {text}' for index, text in enumerate(steps) if index >= start]
            lines += [f'  assumed: {assumed}'] if assumed else []
            lines += [f'  left undone: {rest}'] if rest else []
            if not (lines and isinstance(data, PlanGrown)):
                lines.insert(0, f'{count_of(len(steps[start:]), "step")} from step {start} on')
            return [('plan', line) for line in lines]
        case StepBegun(index, text):
            return [('step', f'{index}: {text}')]
        case SkillCall():
            return [('call', str(data))]
        case StepPassed(index, text):
            return [('pass', f'{index}: {text}')]
        case WordGrounded(word, name, policy, among):
            return [('means', f'{word} is {name}, {policy} of {among}')]
        case ConditionChecked(condition, holds, by):
            return [('check', f'{condition} {"holds" if holds else "does not hold"}, by {by}')]
        case SubGoalBegun(text, index, of):
            return [('sub-goal', f'{index + 1} of {of}: {text}')]
        case BeliefsEstimated():
            return [('believes', str(data))]
        case LineDiscarded(text, why):
            return [('left out', f'{text!r}: {why}')]
        case Outcome(call=call) if data.succeeded:
            return [('ok', f'{call} in {data.duration_s:.1f} s')]
        case Outcome(call=call):
            # Status and code are the words of the record, so that views and journal agree.
            return [(data.status.name.lower(), f'{call} {data.code.name}: {data.message}')]
        case Observed():
            return [('sensed', str(data))]
        case PlanRehearsed():
            return [('rehearsal', line) for line in data.lines]
        case RepairBegun():
            kind = 'of rehearsal ' if data.rehearsed else 'for remark ' if data.remarked else ''
            which = f'{kind}{data.loop}'
            return [('repair', f'{which} at step {data.index}: {data.cause}')]
        case StepFailed():
            return [('given up', f'step {data.index}: {data.cause}')]
        case ModelReplied(role, text):
            return [('reply', f'{role}: {" ".join(text.split())[:LONGEST]}')]
        case ModelCall():
            return [('model', _model_call(data))]
        case FeedbackReceived(text, by):
            return [('program', f'{by}: {text}') if by else ('human', text)]
        case QuestionAsked():
            return [('question', line) for line in data.lines]
        case AnswerGiven(text):
            return [('answer', text)]
        case ApprovalAnswered(text=text):
            return [('approval', text)]
        case WarningRaised(text):
            return [('warning', text)]
        case EpisodeEnded(ending, message, goal=goal):
            head = ending.name + (f' ({goal_words(ending, goal)})' if goal else '')
            said = [('summary', data.summary)] if data.summary else []
            return [('ended', head + (f': {message}' if message else '')), *said]
        case _:
            assert_never(data)


def goal_words(ending: Ending, goal: str) -> str:
    """Return what the last scene shows of the goal as words beside the ending; '' for nothing."""
    if not goal or ending in (Ending.FINISHED, Ending.PARTLY_DONE):
        return goal and f'goal: {goal}'
    return f'the goal was {goal} by then'


def event_text(data: EventData) -> str:
    lines = describe(data)
    return f'{lines[0][0]}: {" / ".join(" ".join(text.split()) for _, text in lines)}'


def _scene(scene: Scene) -> str:
    """Return how much is in a scene, and which objects are out of reach."""
    kinds = [item.kind for item in scene.objects]
    objects = sum(kind not in (Kind.LOCATION, Kind.FIXTURE, Kind.HAND) for kind in kinds)
    far = [f.subject for f in scene.facts if (f.predicate, f.object) == ('reachable', 'no')]
    text = f'{objects} objects, {kinds.count(Kind.LOCATION)} locations'
    return text + (f'; out of reach: {", ".join(far)}' if far else '')


def _model_call(call: ModelCall) -> str:
    number = call.prompt_tokens + call.completion_tokens
    tokens = f'{number} tokens in ' if number else ''
    again = f', sent again {call.retries} times' if call.retries else ''
    failed = f'; {cut(call.error, LONGEST)}' if call.error else ''
    return f'{call.role} {call.model}: {tokens}{call.duration_s:.2f} s{again}{failed}'
