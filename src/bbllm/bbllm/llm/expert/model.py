"""`expert` and `uninformed` as ChatModels."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.core.protocols import Message
from bbllm.llm.expert.brief import ExpertBrief
from bbllm.llm.expert.containing import answer_containing
from bbllm.llm.expert.deciding import decide
from bbllm.llm.expert.ft_prompt import is_ft_prompt, read_ft_prompt, write_ft_reply
from bbllm.llm.expert.pop_prompt import is_pop_prompt, read_pop_prompt, write_pop_reply
from bbllm.llm.expert.sight import UnreadableError
from bbllm.llm.stand_in import StandIn


class ExpertModel(StandIn):
    """
    A deterministic stand-in that is told the goal of a case; it keeps nothing in mind.

    Args:
        brief: The goal, and whether it finds out what it needs or guesses.
    """

    def __init__(self, brief: ExpertBrief):
        self.name = 'expert' if brief.gather else 'uninformed'
        self._brief = brief

    def _answer(self, messages: Sequence[Message]) -> str:
        users = [message.content for message in messages if message.role == 'user']
        if self._brief.goal == 'contained':
            return answer_containing(users, self._brief.inside)
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
