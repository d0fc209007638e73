"""The seams: what a model, a world, a planner and a Body must do, and no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, Protocol, runtime_checkable

from bbllm.core.events import Event
from bbllm.core.types import Code, Outcome, Plan, PlanStep, Scene, Skill, SkillCall, Task

JsonSchema = Mapping[str, object]


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


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal['system', 'user', 'assistant']
    content: str
    request: PromptRequest | None = field(default=None, compare=False, repr=False)
    """What the content asks for, where the planner declares it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one reply cost, as the server counted them (0 where it did not say)."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


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


@runtime_checkable
class ChatModel(Protocol):
    """
    A language model behind one method.

    `name` is a plain attribute: what reports call it, for example `gpt-4o` or `offline`.
    Where `supports_schema` is False, `schema` is ignored.
    """

    name: str

    @property
    def supports_schema(self) -> bool:
        """Whether the server obeys a JSON schema, as far as it is known now."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """
        Answer a conversation.

        Args:
            messages: The conversation so far, oldest first.
            stop: Strings at which the reply ends; they are not part of it.
            schema: JSON schema that the reply must obey, where the model supports it.
            on_text: Called with each piece of text as it arrives, and with '' now and then while
                none does; what it raises ends the call.

        Raises:
            ModelError: No reply after the retries; the text says what was tried, never the key.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The episode that a `SituatedModel` answers in."""

    task: Task
    planner: str
    """Name of the planner, with its options."""
    events: Callable[[], Sequence[Event]] = tuple
    """Return what has happened in the episode so far, oldest first."""


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
    """
    Something that turns texts into vectors whose cosine says how near two meanings are.

    `name` is a plain attribute: what reports call it, for example `lexical`.
    """

    name: str

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        """
        Embed texts.

        Args:
            texts: At least one; none of them empty.
            on_wait: Called now and then while nothing arrives; what it raises ends the call.

        Raises:
            ModelError: No vectors after the retries; says what was tried, never the key.
        """
        ...


class World(Protocol):
    """What is there, and one thing done at a time."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that `execute` knows."""
        ...

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
        Execute one call to its end and tell what happened.

        A failure is an Outcome. Only a world that cannot go on raises.

        Raises:
            WorldError: The world has gone.
        """
        ...

    def stop(self) -> None:
        """
        Stop the call that runs now, from any thread; what is held stays held.

        `execute` then returns FAILED with code CANCELLED. Does nothing when nothing runs.
        """
        ...


class Pass(Enum):
    """The Body's answer when no skill does what a step says."""

    PASS = '<pass>'


PASS: Final = Pass.PASS


class Body(Protocol):
    """Turns one step of a plan into one call."""

    name: str

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """
        Return a call whose skill and objects are in the scene, or PASS.

        Raises:
            ParseError: The model's answer was not understood, also when asked again.
            ModelError: The model could not be reached.
        """
        ...


class EpisodeContext(Protocol):
    """What an episode gives its planner: a voice for its events and an ear for people."""

    def tell_plan(self, plan: Plan, start: int) -> None:
        """Announce the whole plan in force; steps from `start` on are new."""
        ...

    def tell_step(self, step: PlanStep) -> None:
        """Announce the step that is worked on from now on."""
        ...

    def tell_pass(self, step: PlanStep) -> None:
        """Announce that the Body passed on this step."""
        ...

    def tell_repair(self, step: PlanStep, cause: str, *, code: Code | None = None) -> None:
        """Announce one feedback loop and the sentence that caused it; `code` as below."""
        ...

    def tell_failed(self, step: PlanStep, cause: str, *, code: Code | None = None) -> None:
        """
        Announce that this step stays failed and the plan goes on without it.

        Args:
            step: Which one.
            cause: Why, in one sentence.
            code: What is wrong with its call, where that was refused before the world heard of it.
        """
        ...

    def tell_done(self) -> None:
        """Announce that the planner looked and holds the task for done, however little it did."""
        ...

    def tell_grounded(self, word: str, name: str, *, policy: str, among: int) -> None:
        """
        Announce which thing of the scene a word was taken for.

        Args:
            word: What the model said, for example `salmon`.
            name: The thing, for example `salmon_328`.
            policy: How it was chosen, for example `nearest`.
            among: How many things the word could have meant.
        """
        ...

    def tell_checked(self, condition: str, holds: bool, *, by: Literal['model', 'graph']) -> None:
        """Announce whether a condition that the plan asserts holds, and who says so."""
        ...

    def tell_sub_goal(self, text: str, *, index: int, of: int) -> None:
        """Announce that the planner works on a part of the task, `index` from 0 `of` so many."""
        ...

    def tell_estimated(self, attributes: Mapping[str, Sequence[str]], summary: str) -> None:
        """
        Announce what the planner believes of things beyond what scenes show.

        Args:
            attributes: Of each thing, by its name in the scene: all that is believed now.
            summary: What has happened so far in the planner's own words, '' where it has none.
        """
        ...

    def tell_discarded(
        self,
        text: str,
        why: str,
        *,
        code: Code | None = None,
        rules: Sequence[str] = (),
        refused: bool = False,
    ) -> None:
        """
        Announce that a line of a model's reply was left out, and why.

        Args:
            text: The line.
            why: One sentence.
            code: Where the line is an action of a plan: what is wrong with its call.
            rules: Beside a code that stands for several: which rules of its world it breaks.
            refused: Whether it can be read, and names what is not there or is against a check;
                so is whatever has a code. Otherwise it fits no grammar.
        """
        ...

    def warn(self, text: str) -> None:
        """Tell people something that changes nothing."""
        ...

    def take_human_feedback(self) -> tuple[str, ...]:
        """Return what people said since the last call, oldest first."""
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
