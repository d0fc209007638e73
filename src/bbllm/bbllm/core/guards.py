"""Wraps around world and models, which count, record and refuse: for an episode, most of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bbllm.core.errors import LostNodeError, NeedsPersonError, SceneError
from bbllm.core.model_calls import Account, on_account
from bbllm.core.naming import scene_fault
from bbllm.core.observation import observed
from bbllm.core.printable import strip_hidden
from bbllm.core.prompt_size import cut_of, prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    Embedder,
    Embeddings,
    JsonSchema,
    Message,
    Reply,
    World,
)
from bbllm.core.sent_prompts import SentPrompts
from bbllm.core.types import (
    Code,
    Outcome,
    Scene,
    Skill,
    SkillCall,
)

if TYPE_CHECKING:
    from bbllm.core.episode import EpisodeRun


class GuardedWorld:
    """The world as a planner sees it: every call is counted and on record."""

    def __init__(self, run: EpisodeRun, inner: World):
        self._run = run
        self._inner = inner
        self._unseen = False

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._inner.skills

    def observe(self) -> Scene:
        self._run.check()
        scene = self._inner.observe()
        if fault := scene_fault(scene):
            raise SceneError(f'The scene cannot be used: {fault}. Correct it at its source.')
        if self._unseen:
            self._unseen = False
            self._run.emit(observed(scene))
        return scene

    def execute(self, call: SkillCall) -> Outcome:
        with self._run.calling():
            self._run.spend_call()
            self._run.emit(call)
            self._run.check()
            self._unseen = True
            outcome = self._inner.execute(call)
        self._run.emit(outcome)
        self._run.check()
        if outcome.code is Code.LOST_NODE:
            raise LostNodeError(outcome.message)
        if outcome.code is Code.NEEDS_PERSON:
            raise NeedsPersonError(outcome.message)
        return outcome

    def stop(self) -> None:
        self._inner.stop()


class GuardedModel:
    """A model as a planner sees it: every call is counted and on record."""

    def __init__(
        self,
        account: Account,
        inner: ChatModel,
        role: str,
        warn: Callable[[str], None] | None = None,
    ):
        self._account = account
        self._inner = inner
        self._role = role
        self._warn = warn
        self._sent = SentPrompts()
        self.name = inner.name
        self.prompt_limit_tokens = prompt_limit(inner)

    @property
    def supports_schema(self) -> bool:
        # Asked anew each time: a client may learn that its server refuses schemas.
        return self._inner.supports_schema

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        self._account.spend_model_call()

        def hear(piece: str) -> None:
            # A cancel ends the stream, and with it the bill, at the next piece of text.
            self._account.check()
            if on_text is not None:
                on_text(strip_hidden(piece))

        reply = on_account(
            lambda: self._inner.complete(messages, stop=stop, schema=schema, on_text=hear),
            self._account.add_model_call,
            role=self._role,
            name=self.name,
            size=self._sent.add(messages),
        )
        reply = replace(reply, text=strip_hidden(reply.text))
        self._account.add_model_text(self._role, reply.text)
        self._look_for_cut(messages, reply)
        return reply

    def _look_for_cut(self, messages: Sequence[Message], reply: Reply) -> None:
        """Say once where a server has left out a part of what it was sent."""
        cut = cut_of(messages, reply.usage) if self._warn is not None else ''
        if not cut or self._warn is None:
            return
        self._warn(
            f'{self.name} {cut}: its server seems to have cut it, and to answer the rest. Give '
            'the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH), and write how many '
            f'tokens it has into `context_tokens`, section `{self._role}` of config/llm.yaml, so '
            'that prompts are kept shorter than that.'
        )
        self._warn = None


class GuardedEmbedder:
    """An embedder as a Body sees it: every request is counted and on record."""

    def __init__(self, account: Account, inner: Embedder, role: str):
        self._account = account
        self._inner = inner
        self._role = role
        self.name = inner.name

    def embed(
        self, texts: Sequence[str], *, on_wait: Callable[[], None] | None = None
    ) -> Embeddings:
        self._account.spend_model_call()

        def wait() -> None:
            self._account.check()
            if on_wait is not None:
                on_wait()

        return on_account(
            lambda: self._inner.embed(texts, on_wait=wait),
            self._account.add_model_call,
            role=self._role,
            name=self.name,
        )
