"""The seams: what a model, a world, a planner and a Body must do, and no more."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

from bbllm.core.approval import AskPerson
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ConfigError
from bbllm.core.events import Event, EventData, FeedbackReceived, PlanRehearsed
from bbllm.core.goals import GoalFinding, TaskGoal
from bbllm.core.observation import Observed
from bbllm.core.text import without_delimiters
from bbllm.core.types import Code, Outcome, PlanStep, Scene, Skill, SkillCall, Task

JsonSchema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class StepFailure:
    """Why a plan must change at a step."""

    step: PlanStep
    """The step that failed, or that was next when a person spoke."""
    cause: str
    """One sentence."""
    controller: str = ''
    """The controller's own text; may be empty."""
    human: tuple[FeedbackReceived, ...] = ()
    """Remarks of people and programs, oldest first."""
    tried: bool = True
    """Whether the step was tried, or a person spoke before it or did not approve it."""
    passed: bool = False
    """Whether the Body found no action for the step."""
    code: Code | None = None
    """What is wrong with its call, if it was refused before it reached the world."""
    outcome: Outcome | None = None
    """What the world reported; None if the step did not reach it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """
    What a prompt asks for, as data beside its text.

    A language model answers the text. A `SituatedModel` answers the request, so that it does not
    have to parse prompts. Servers and recordings never contain it.
    """

    kind: str
    """What the reply is to be, for example `plan`, `repair` or `call`; planners differ."""
    scene: Scene | None = None
    """The scene that the prompt shows."""
    text: str = ''
    """What the request is about beside the task: a step, a sub-goal or a condition."""
    start: int = 0
    """Number of the first step that the reply is to have."""
    plan: tuple[str, ...] = ()
    """The steps of the plan in force."""
    failures: tuple[StepFailure, ...] = ()
    """All failures that the prompt shows, oldest first."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call in place of a reply in words."""

    name: str
    description: str
    parameters: JsonSchema
    """JSON schema of its arguments, an object."""

    @property
    def declaration(self) -> Mapping[str, object]:
        """The tool as OpenAI's chat protocol declares a function."""
        return {
            'name': self.name,
            'description': self.description,
            'parameters': self.parameters,
        }


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model calls; nothing is checked yet."""

    name: str
    arguments: str = '{}'
    """JSON as the model wrote it, which may be none."""
    id: str = ''
    """What its result refers to; '' in a reply, whose server has ids of its own."""

    def __str__(self) -> str:
        return f'{self.name} {self.arguments}'


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal['system', 'user', 'assistant', 'tool']
    content: str
    request: PromptRequest | None = field(default=None, compare=False, repr=False)
    """What the content asks for, where the planner declares it."""
    images: tuple[bytes, ...] = ()
    """Pictures that belong to the content, as PNG or JPEG files, in the order to show them."""
    calls: tuple[ToolCall, ...] = ()
    """Tools that an assistant has called."""
    call_id: str = ''
    """The id of the call whose result the content is; '' unless the role is `tool`."""

    def __post_init__(self) -> None:
        for picture in self.images:
            media_type(picture)

    @property
    def text(self) -> str:
        """The content, and a line for each call."""
        return with_calls(self.content, self.calls)


def with_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """Return a text with a line for each call of a tool, for people and for counting."""
    return '\n'.join(filter(None, [text, *(f'-> {call}' for call in calls)]))


_SIGNATURES = ((b'\x89PNG\r\n\x1a\n', 'image/png'), (b'\xff\xd8\xff', 'image/jpeg'))
"""How files begin (PNG specification 1.2, section 3.1; JPEG: ITU-T T.81, B.1.1.3), and what they
are."""


def media_type(picture: bytes) -> str:
    """
    Return `image/png` or `image/jpeg`.

    Raises:
        ValueError: It is neither.
    """
    for signature, name in _SIGNATURES:
        if picture.startswith(signature):
            return name
    raise ValueError(f'a picture must be a PNG or JPEG file, and this one begins {picture[:8]!r}')


def data_url(picture: bytes) -> str:
    """Return a picture as a URL that contains it (RFC 2397); raises ValueError."""
    return f'data:{media_type(picture)};base64,{base64.b64encode(picture).decode()}'


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one reply cost, as the server counted them (0 where it did not count)."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Those of the reply and of the reasoning before it."""
    cached_tokens: int = 0
    """How many of the prompt's came from the server's cache."""
    reasoning_tokens: int = 0
    """How many of the completion's were reasoning, which is no part of the reply."""
    image_tokens: int = 0
    """How many of the prompt's were pictures; 0 also where the server does not report them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    model: str
    """The name that the server gave itself, not the one that was asked for."""
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    """Wall time from request to last character [s]."""
    retries: int = 0
    """How often the request was sent again before it was answered."""
    calls: tuple[ToolCall, ...] = ()
    """Tools that it calls, where the request has tools."""

    @property
    def in_words(self) -> str:
        """The text, and a line for each call."""
        return with_calls(self.text, self.calls)


OnText = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    messages: Sequence[Message]
    """The conversation so far, oldest first."""
    stop: Sequence[str] = ()
    """Strings at which the reply ends; they are not part of it."""
    schema: JsonSchema | None = None
    """JSON schema that the reply must obey, where the model supports it."""
    cancel: CancelToken | None = field(default=None, compare=False)
    """Ends the call at once when it is cancelled."""
    tools: Sequence[Tool] = ()
    """What the reply may call; a request has either tools or a schema."""

    def __post_init__(self) -> None:
        object.__setattr__(self, 'messages', tuple(self.messages))
        object.__setattr__(self, 'stop', tuple(self.stop))
        object.__setattr__(self, 'tools', tuple(self.tools))
        if self.tools and self.schema is not None:
            raise ValueError('a request has tools or a schema, and this one has both')

    @property
    def declared_tools(self) -> str:
        """The tools as JSON, as they are counted and recorded; '' without any."""
        return json.dumps([t.declaration for t in self.tools]) if self.tools else ''

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent, in the order in which a server reads it: the tools come first."""
        return (*filter(None, [self.declared_tools]), *(item.text for item in self.messages))

    @classmethod
    def of(cls, prompt: str) -> 'ModelRequest':
        """Return a request of one message by the user."""
        return cls([Message('user', prompt)])

    @property
    def prompt(self) -> str:
        """All messages as one text, without the delimiters that `messages` have."""
        return without_delimiters('\n\n'.join(message.content for message in self.messages))

    @property
    def declared(self) -> PromptRequest | None:
        """What the latest message that declares it asks for, as data."""
        requests = [message.request for message in self.messages if message.request is not None]
        return requests[-1] if requests else None


@runtime_checkable
class ChatModel(Protocol):
    """
    A language model behind one method.

    `name` is a plain attribute: what reports call it, for example `gpt-4o`.
    Where `supports_schema` is False, the schema of a request is ignored.
    Two more attributes are optional: `prompt_limit_tokens`, how long a prompt may be, and
    `streams`, whether a reply can be read while it is written.
    """

    name: str

    @property
    def supports_schema(self) -> bool:
        """Whether the server obeys a JSON schema, as far as requests have shown."""
        ...

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """
        Answer a conversation.

        Args:
            request: The conversation, and what the reply must obey.
            on_text: Called in the thread of the caller with the reply so far, whenever a line of
                it has ended, by a model that streams. A later text need not begin like an earlier
                one: a request may be sent again, and reasoning is left out once it has ended.

        Raises:
            BbllmError: The call was cancelled; what `cancel` raises.
            ModelError: No reply after the retries; the text names what was tried, never the key.
        """
        ...


def check_model(model: object) -> ChatModel:
    """Return a model; raise ConfigError that names what an object lacks to be one."""
    if isinstance(model, ChatModel):
        return model
    lacks = [
        f'`{name}`' for name in ('name', 'supports_schema', 'ask') if not hasattr(model, name)
    ]
    older = (
        ' It replaces `complete(messages, stop, schema, cancel)`: `request` has all four.'
        if callable(getattr(model, 'complete', None))
        else ''
    )
    raise ConfigError(
        f'{type(model).__name__} is no model: it has no {", ".join(lacks)}. A model has `name`, '
        f'`supports_schema` and `ask(request, on_text=None)`, which returns a Reply.{older}'
    )


def streams(model: ChatModel) -> bool:
    """Return whether the replies of a model can be read while they are written."""
    return bool(getattr(model, 'streams', False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The episode that a `SituatedModel` answers in."""

    task: Task
    planner: str
    """Name of the planner, with its options."""
    events: Callable[[], Sequence[Event]] = tuple
    """Return what has happened in the episode so far, oldest first."""
    remarks: Callable[[], Sequence[FeedbackReceived]] = tuple
    """Return what was added to the task that the request is about, oldest first."""
    not_understood: Callable[[str], None] = lambda text: None
    """Report the text of a remark that the model did not understand."""
    talks: Callable[[], bool] = lambda: False
    """Return whether a person gave the task, who can be answered."""
    asks: Callable[[], bool] = lambda: False
    """Return whether a question would be answered."""


@runtime_checkable
class SituatedModel(ChatModel, Protocol):
    """A model that answers from the episode itself, handed over as data, not from the prompt."""

    def in_episode(self, situation: Situation) -> ChatModel:
        """Return a model that answers in one episode; the model itself stays as it is."""
        ...

    def refusal(self, planner: str) -> str:
        """Return why it cannot answer a planner, '' if it can."""
        ...


def in_episode(model: ChatModel, situation: Situation) -> ChatModel:
    """Return the model to ask in an episode: another one only for a `SituatedModel`."""
    return model.in_episode(situation) if isinstance(model, SituatedModel) else model


def refusal(model: ChatModel, planner: str) -> str:
    """Return why a model cannot answer a planner, '' if it can; only a `SituatedModel` cannot."""
    return model.refusal(planner) if isinstance(model, SituatedModel) else ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Texts as vectors."""

    vectors: tuple[tuple[float, ...], ...]
    """One for each text, in the texts' order, all of one length; of no set norm."""
    model: str
    """The name that the server gave itself, not the one that was asked for."""
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    """Wall time from request to last vector [s]."""
    retries: int = 0
    """How often a request was sent again before it was answered."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine measures how similar two meanings are."""

    name: str

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        """
        Embed texts.

        Args:
            texts: At least one; none of them empty.
            cancel: Ends the call at once when it is cancelled.

        Raises:
            BbllmError: The call was cancelled; what `cancel` raises.
            ModelError: No vectors after the retries; names what was tried, never the key.
        """
        ...


class World(Protocol):
    """A scene, and the calls that change it, one at a time."""

    @property
    def skills(self) -> tuple[Skill, ...]: ...

    def observe(self) -> Scene:
        """
        Return the scene as it is now.

        Raises:
            SceneError: The scene is stale or empty; it is never guessed.
            WorldError: The world has gone.
        """
        ...

    def execute(self, call: SkillCall) -> Outcome:
        """
        Execute one call to its end and return what happened.

        A failure is an Outcome. Only a world that cannot go on raises.

        Raises:
            WorldError: The world has gone.
        """
        ...

    def stop(self) -> None:
        """
        Stop the call that runs now, from any thread; the hand keeps its grip.

        `execute` then returns FAILED with code CANCELLED. Does nothing when nothing runs.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePicture:
    """A picture of a scene, for models that take images."""

    data: bytes
    """A PNG or JPEG file."""
    view: str
    """Where it is taken from, and the direction of the world's axes in it, in the words of a
    prompt: `by the camera table_camera; in it, x points up and y to the left`."""


class Rehearsal(World, Protocol):
    """
    Simulations of a world, begun from its scene as it is, in which a plan is tried.

    `execute` carries a call out in all simulations in which no call has failed so far. It fails
    where a call has failed in most of all by then. `observe` returns the scene of the first of
    those that go on.
    """

    @property
    def is_intact(self) -> bool:
        """Whether all simulations are where the last call that succeeded has left them."""
        ...

    @property
    def result(self) -> PlanRehearsed:
        """What has been found so far."""
        ...

    def close(self) -> None:
        """Release the simulations."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFeatures:
    """
    What a world can do beyond the methods of every `World`; None for what it cannot.

    A world has them as its attribute `features`, which it may also leave out: see `features_of`.
    """

    picture: Callable[[], ScenePicture] | None = None
    """Returns a picture of the scene as it is now. Raises ConfigError where nothing can be drawn
    on this machine, WorldError where the camera sends no picture."""
    settle: Callable[[], object] | None = None
    """Lets time pass until all objects rest, at most a few seconds."""
    expect: Callable[[Sequence[SkillCall]], None] | None = None
    """Announces the calls that will probably follow the next executed call, in their order, for
    example to plan their motions. Each announcement replaces the one before; an empty one discards
    it. Nothing moves for it, and no outcome depends on it."""
    rehearse: Callable[[CancelToken | None], Rehearsal] | None = None
    """Begins a rehearsal from the scene as it is; where a world has it, plans are rehearsed before
    anything moves. The calls that succeed in it are not rehearsed again when their turn comes, one
    by one. The token ends it between two calls, with what it raises."""
    approves_plans: Callable[[], bool] | None = None
    """Returns whether no step of a plan is executed before a person has read all of the plan."""
    ask_person: Callable[[AskPerson], None] | None = None
    """Takes what asks a person whether a robot that has stopped may go on."""
    copy: Callable[[], World] | None = None
    """Returns a world of its own that goes on from here, where that costs next to nothing."""


NO_FEATURES = WorldFeatures()


def features_of(world: World) -> WorldFeatures:
    """Return what a world can do beyond the methods of every world."""
    features: WorldFeatures = getattr(world, 'features', NO_FEATURES)
    return features


def picture_of(world: World) -> ScenePicture:
    """
    Return a picture of a world as it is now.

    Raises:
        ConfigError: The world has no camera.
        WorldError: Its camera sends no picture.
    """
    if take := features_of(world).picture:
        return take()
    raise ConfigError(
        'This world has no camera, so there is no picture for the planner. Use `image=none`, or '
        'a table with a camera.'
    )


def waits_for_person(world: World) -> bool:
    """Return whether no step of a plan is executed before a person has read all of the plan."""
    approves = features_of(world).approves_plans
    return approves is not None and approves()


@dataclass(frozen=True, slots=True)
class Pass:
    """The Body's answer when no skill fits a step."""

    reason: str
    """Why, in words that a planner can act on."""


PASS: Final = Pass('no listed action does what it says.')
"""A pass whose Body gave no reason."""


class Body(Protocol):
    """Turns one step of a plan into one call."""

    name: str
    reads_calls: bool
    """Whether a step that already is a call need not be mapped, but is read by the grammar."""

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """
        Return a call whose skill and objects are in the scene, or a pass.

        Raises:
            ParseError: The model's answer was not understood, also when asked again.
            ModelError: The model could not be reached.
        """
        ...


class EpisodeContext(Protocol):
    """What an episode gives its planner: the record of events, and feedback from people."""

    def current(self, task: Task) -> Task:
        """Return the task with what was added to it, as far as the planner has taken that."""
        ...

    @property
    def spoken(self) -> bool:
        """Whether there is a remark that the planner has not taken yet."""
        ...

    @property
    def remarks_left(self) -> int:
        """How many more remarks may change the plan."""
        ...

    @property
    def calls_left(self) -> int | None:
        """How many more requests to models there may be; None without a limit."""
        ...

    @property
    def before(self) -> Scene | None:
        """The scene before the task; None until it was observed."""
        ...

    def taking_remarks(self) -> AbstractContextManager[None]:
        """
        Let a remark cut requests to models short, which then raise SpokenError.

        A planner that works in it answers that by `take_human_feedback`, and asks anew.
        """
        ...

    @property
    def talks(self) -> bool:
        """Whether a person gave the task, who may also ask; not in a bench."""
        ...

    @property
    def asks(self) -> bool:
        """Whether a question would be answered: by a person, or as was chosen in advance."""
        ...

    def note_language(self, name: str) -> None:
        """Note the language of the person, by its English name, for the report at the end."""
        ...

    def ask_person(
        self, question: str, options: Sequence[str] = ()
    ) -> tuple[FeedbackReceived, ...]:
        """
        Ask the person how the task is meant, and wait for the answer; nothing moves meanwhile.

        Returns the answer, and what else was added to the task, all of it taken
        (`take_human_feedback`).

        Raises:
            GaveUpError: Nobody answered in time; the text has the question.
            BbllmError: The episode was cancelled, or a budget is used up.
        """
        ...

    def emit(self, data: EventData) -> None:
        """
        Record an event of the planner's work; the records are in core.events.

        `revision` of a plan and `loop` of a repair are counted here. A new plan clears the
        failures of the steps that it replaces.

        Raises:
            BbllmError: A step begins though the episode was cancelled or a budget is used up.
        """
        ...

    def report_done(self) -> None:
        """Report that the planner considers the task complete, however little it did."""
        ...

    def unfinished(self, scene: Scene | None = None) -> str:
        """
        Return what speaks against the end of the plan, in sentences; '' if nothing does.

        That is an object in the hand that was to be set down, or a goal that is not met, as the
        scene shows it now, or as one that is predicted would. A planner that can plan anew calls
        it when its plan has ended.
        """
        ...

    def withdraw(self, condition: str, reason: str) -> None:
        """
        Withdraw a condition of the goal that contradicts the task: it counts as not checked.

        The goal without it goes on record. What a person gave stays, which is a warning.
        """
        ...

    def warn(self, text: str) -> None:
        """Record information for people that changes nothing."""
        ...

    def take_human_feedback(self) -> tuple[FeedbackReceived, ...]:
        """
        Return the remarks of people and programs since the last call, oldest first.

        They become a part of the task (`current`), and the goal is read anew with them. A plan
        that changes for them uses none of the K feedback loops.
        """
        ...


class GoalKeeper(Protocol):
    """Reads the goal of a task from the scene before it, and checks it at the end."""

    by: str
    """The model that reads it, or `person` who gave it."""

    def read(self, task: Task, scene: Scene, context: EpisodeContext) -> TaskGoal:
        """
        Return the goal.

        Raises:
            NoGoalError: It cannot be checked, with the reason.
            BbllmError: The episode was cancelled, or a budget is used up.
        """
        ...

    def check(
        self, goal: TaskGoal, scene: Scene, start: Scene, observations: Sequence[Observed] | None
    ) -> GoalFinding:
        """
        Return what a settled scene shows of a goal.

        `start` is the scene before the task, and `observations` are all from it to
        `scene`; None where these are not known, as of a predicted one.
        """
        ...

    def withdraw(self, goal: TaskGoal, condition: str, reason: str, start: Scene) -> TaskGoal:
        """
        Return a goal with one condition as what is not checked.

        Raises:
            NoGoalError: It is no condition of the goal, or a person gave it.
        """
        ...


@runtime_checkable
class OverlappingGoals(GoalKeeper, Protocol):
    """A keeper that may read the goal while the planner works, in a thread of its own."""

    @property
    def overlaps(self) -> bool:
        """Whether it may do so now."""
        ...


class Planner(Protocol):
    """A planning method; built with its models, run once per task."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until it is done or given up.

        Budgets, journal and cancel are wrapped around the world and the models: a planner
        just lets their errors through.

        Raises:
            BbllmError: Whatever world, model or Body raised.
        """
        ...


EventSink = Callable[[Event], None]
