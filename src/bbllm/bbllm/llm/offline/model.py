"""`offline` as a ChatModel."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.core.protocols import Message
from bbllm.llm.offline.body import answer_body
from bbllm.llm.offline.brain import answer_brain
from bbllm.llm.offline.direct import answer_direct
from bbllm.llm.offline.sight import UnreadableError, is_prompt, read_prompt
from bbllm.llm.stand_in import StandIn


class OfflineModel(StandIn):
    """A deterministic stand-in behind the seam of a language model; it keeps nothing in mind."""

    name = 'offline'

    def _answer(self, messages: Sequence[Message]) -> str:
        return answer(messages)


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
