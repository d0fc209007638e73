"""Wrappers of worlds and models that count, record and refuse calls, above all for an episode."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import LostNodeError, NeedsPersonError, SceneError
from bbllm.core.events import ModelCall
from bbllm.core.naming import scene_fault
from bbllm.core.observation import observed
from bbllm.core.printable import strip_hidden
from bbllm.core.prompt_size import PromptSize, SentPrompts, cut_of, prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    Embedder,
    Embeddings,
    JsonSchema,
    Message,
    Reply,
    World,
)
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall

if TYPE_CHECKING:
    from bbllm.core.episode import EpisodeRun

Answer = TypeVar('Answer', bound=Reply | Embeddings)


class Account(Protocol):
    """What model calls are charged to: an episode, or one request of another program."""

    @property
    def token(self) -> CancelToken:
        """Ends calls that wait."""
        ...

    def spend_model_call(self) -> None:
        """Take one call from the budget; raises if none is left."""
        ...

    def add_model_call(self, call: ModelCall) -> None:
        """Record a call that has ended, also one that failed, and what it cost."""
        ...

    def add_model_text(self, role: str, text: str) -> None:
        """Record the reply of the call that was added last."""
        ...


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
        self._run.token.raise_if_cancelled()
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
            self._run.token.raise_if_cancelled()
            self._unseen = True
            outcome = self._inner.execute(call)
        self._run.emit(outcome)
        self._run.token.raise_if_cancelled()
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
        check: Callable[[], object] | None = None,
    ):
        self._account = account
        self._token = account.token.with_checks(check) if check else account.token
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
        cancel: CancelToken | None = None,
    ) -> Reply:
        self._account.spend_model_call()
        token = self._token.with_checks(cancel.raise_if_cancelled) if cancel else self._token
        reply = _charged(
            self._account,
            self._role,
            self.name,
            lambda: self._inner.complete(messages, stop=stop, schema=schema, cancel=token),
            self._sent.add(messages),
        )
        reply = replace(reply, text=strip_hidden(reply.text))
        self._account.add_model_text(self._role, reply.text)
        self._warn_if_cut(messages, reply)
        token.raise_if_cancelled()
        return reply

    def _warn_if_cut(self, messages: Sequence[Message], reply: Reply) -> None:
        """Warn once where a server has left out a part of what it was sent."""
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

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        self._account.spend_model_call()
        token = self._account.token
        token = token.with_checks(cancel.raise_if_cancelled) if cancel else token
        return _charged(
            self._account,
            self._role,
            self.name,
            lambda: self._inner.embed(texts, cancel=token),
            PromptSize(),
        )


def _charged(
    account: Account, role: str, name: str, ask: Callable[[], Answer], size: PromptSize
) -> Answer:
    """Return what *ask* returns, with its cost added to the account."""
    begun_s = time.monotonic()
    call = ModelCall(
        role=role,
        model=name,
        prompt_chars=size.prompt_chars,
        stable_chars=size.stable_chars,
        sent_tokens=size.sent_tokens,
    )
    try:
        answer = ask()
    except BaseException:
        # Also a call that Ctrl-C or a cancel cut off was made, and may be on the bill.
        account.add_model_call(replace(call, duration_s=time.monotonic() - begun_s))
        raise
    account.add_model_call(
        replace(
            call,
            model=answer.model,
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            duration_s=answer.duration_s,
            retries=answer.retries,
        )
    )
    return answer
