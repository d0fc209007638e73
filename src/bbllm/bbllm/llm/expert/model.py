"""`expert` and `uninformed` as ChatModels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bbllm.core.protocols import JsonSchema, Message, Reply
from bbllm.llm.expert.brief import ExpertBrief
from bbllm.llm.expert.deciding import decide
from bbllm.llm.expert.ft_prompt import is_ft_prompt, read_ft_prompt, write_ft_reply
from bbllm.llm.expert.pop_prompt import is_pop_prompt, read_pop_prompt, write_pop_reply
from bbllm.llm.expert.sight import UnreadableError
from bbllm.llm.scripted import speak


class ExpertModel:
    """
    A deterministic stand-in that is told the goal of a case; it keeps nothing in mind.

    Args:
        brief: The goal, and whether it finds out what it needs or guesses.
    """

    supports_schema = False

    def __init__(self, brief: ExpertBrief):
        self.name = 'expert' if brief.gather else 'uninformed'
        self._brief = brief

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
        text = speak(self._answer(messages), stop, on_text)
        return Reply(text=text, model=self.name, duration_s=time.perf_counter() - begun_s)

    def _answer(self, messages: Sequence[Message]) -> str:
        users = [message.content for message in messages if message.role == 'user']
        try:
            for text in reversed(users):
                if is_pop_prompt(text):
                    sight = read_pop_prompt(text)
                    return write_pop_reply(sight.asked, decide(sight, self._brief))
                if is_ft_prompt(text):
                    sight = read_ft_prompt(text)
                    return write_ft_reply(sight.asked, decide(sight, self._brief))
        except UnreadableError as error:
            return f'cannot: {error}'
        return f'cannot: {self.name} reads only the prompts of llm_pop, ft_cot and ft_vanilla.'
