"""Puts what models cost on an account, also when they fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from bbllm.core.events import ModelCall
from bbllm.core.protocols import Embeddings, Reply
from bbllm.core.sent_prompts import PromptSize

Answer = TypeVar('Answer', bound=Reply | Embeddings)
NO_PROMPT = PromptSize()
"""That of a request which is none, as for embeddings."""


class Account(Protocol):
    """What the calls of models are put on: an episode, or one request of another program."""

    def check(self) -> None:
        """Raise where nobody waits for an answer any more; called all the time meanwhile."""
        ...

    def spend_model_call(self) -> None:
        """Take one call from the budget; raises where there is none left."""
        ...

    def add_model_call(self, call: ModelCall) -> None:
        """Learn that a call has ended and what it cost, also where it failed."""
        ...

    def add_model_text(self, role: str, text: str) -> None:
        """Learn what was said in the call that was added last."""
        ...


def on_account(
    ask: Callable[[], Answer],
    tell: Callable[[ModelCall], None],
    *,
    role: str,
    name: str,
    size: PromptSize = NO_PROMPT,
) -> Answer:
    """
    Ask a model and tell what it cost.

    Args:
        ask: Asks it.
        tell: Told the call when it ends; of one that raised no server has counted tokens.
        role: Who asks: `brain` or `body`.
        name: Whom it asks, for calls that no server answered.
        size: That of the prompt.
    """
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
        tell(replace(call, duration_s=time.monotonic() - begun_s))
        raise
    tell(
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
