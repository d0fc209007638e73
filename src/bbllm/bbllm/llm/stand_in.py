"""What all stand-ins for a language model share: a text in place of a server's reply."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from bbllm.core.delimiters import without_delimiters
from bbllm.core.protocols import JsonSchema, Message, Reply
from bbllm.llm.scripted import speak


def numbered(texts: Sequence[str], start: int = 0) -> str:
    """Write lines with numbers, and that they are all."""
    return '\n'.join(f'{start + i}: {text}' for i, text in enumerate([*texts, 'Done']))


class StandIn(ABC):
    """A deterministic ChatModel; who derives from it gives a name and writes the answers."""

    name: str
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
        read = [Message(item.role, without_delimiters(item.content)) for item in messages]
        text = speak(self._answer(read), stop, on_text)
        return Reply(text=text, model=self.name, duration_s=time.perf_counter() - begun_s)

    @abstractmethod
    def _answer(self, messages: Sequence[Message]) -> str:
        """Write the reply to a conversation."""
