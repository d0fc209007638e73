"""`offline` as a ChatModel."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bbllm.core.protocols import JsonSchema, Message, Reply
from bbllm.llm.offline.body import answer_body
from bbllm.llm.offline.brain import answer_brain
from bbllm.llm.offline.direct import answer_direct
from bbllm.llm.offline.sight import UnreadableError, is_prompt, read_prompt
from bbllm.llm.scripted import speak


class OfflineModel:
    """A deterministic stand-in behind the seam of a language model; it keeps nothing in mind."""

    name = 'offline'
    supports_schema = False

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """
        Answer a conversation from the text of its latest prompt.

        Args:
            messages: The conversation; the last message of a user that is a prompt counts.
            stop: Strings at which the reply ends.
            schema: Ignored.
            on_text: Called with each line of the reply.

        Returns:
            The reply. It cost no tokens, so that none are counted.
        """
        begun_s = time.perf_counter()
        text = speak(answer(messages), stop, on_text)
        return Reply(text=text, model=self.name, duration_s=time.perf_counter() - begun_s)


def answer(messages: Sequence[Message]) -> str:
    """Write the reply to a conversation."""
    users = [message.content for message in messages if message.role == 'user']
    prompts = [text for text in users if is_prompt(text)]
    try:
        sight = read_prompt((prompts or users or [''])[-1])
    except UnreadableError as error:
        return f'cannot: {error}'
    if sight.step is not None:
        return answer_body(sight)
    return answer_direct(sight) if sight.direct else answer_brain(sight)
