"""Faults of a model's server, and a model behind it that is asked over HTTP."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import ModelRequest, OnText, PromptRequest, Reply
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.testing import (
    Behaviour,
    Handler,
    Pace,
    chunk,
    rambles,
    replies,
    status,
    streams,
)

FIRST, SECOND = 'first-model', 'second-model'
"""Names that the server gives the model before and after it is swapped."""
SLOW = Pace(first_token_s=0.05, tokens_per_s=20.0)
PIECE = 6
"""Length of a piece of a reply [characters]."""


class ModelFault(StrEnum):
    """What a model or its server does in place of a good reply."""

    NONE = 'none'
    RATE_LIMIT = 'rate_limit'
    """429, with a time to wait."""
    SERVER_ERROR = 'server_error'
    """500."""
    CUT = 'cut'
    """The connection ends in the middle of the reply."""
    ENDLESS = 'endless'
    """The reply never ends."""
    NONSENSE = 'nonsense'
    """Characters without sense, some of them invisible."""
    REFUSAL = 'refusal'
    """The model declines in its own words."""
    SLOW = 'slow'
    """20 tokens a second."""
    EMPTY = 'empty'
    """A reply without text."""
    WRONG_JSON = 'wrong_json'
    """JSON that was not asked for, cut off."""
    SWAPPED = 'swapped'
    """From then on another model answers, with chatter and a code fence around its replies."""


NONSENSE = '\x00\x01}{ <<>> ]]] 0: 0: 0: \ufffd\u200b\u202e'
REFUSAL = "I'm sorry, I can't help with that."
WRONG_JSON = '{"steps": [{"idx": "zero", "text": 5}]'


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)] or ['']


def _cut(text: str) -> Behaviour:
    half = [chunk(piece, FIRST) for piece in _pieces(text[: len(text) // 2])]
    return streams(*half, then=Handler.hang_up)


def _writes(text: str, model: str = FIRST, pace: Pace | None = None) -> Behaviour:
    return replies(*_pieces(text), model=model, pace=pace)


BEHAVIOURS: Mapping[ModelFault, Callable[[str], Behaviour]] = {
    ModelFault.NONE: _writes,
    ModelFault.RATE_LIMIT: lambda text: status(429, 'too many requests', retry_after='0.2'),
    ModelFault.SERVER_ERROR: lambda text: status(500, 'internal error'),
    ModelFault.CUT: _cut,
    ModelFault.ENDLESS: lambda text: rambles(),
    ModelFault.NONSENSE: lambda text: _writes(NONSENSE),
    ModelFault.REFUSAL: lambda text: _writes(REFUSAL),
    ModelFault.SLOW: lambda text: _writes(text, pace=SLOW),
    ModelFault.EMPTY: lambda text: _writes(''),
    ModelFault.WRONG_JSON: lambda text: _writes(WRONG_JSON),
    ModelFault.SWAPPED: lambda text: _writes(f'Here it is:\n```\n{text}\n```', SECOND),
}
"""By fault: what the server does in place of the good reply that it is given."""


@dataclass
class FaultyAnswers:
    """
    The behaviour of a server in one trial; see `bbllm.testing.Behaviour`.

    Requests are counted as they arrive, each attempt by itself.
    """

    fault: ModelFault
    first: int
    """Number of the first request that is struck, from 0."""
    lasting: bool
    """Whether all later ones are struck too, or this one alone."""
    replies: dict[str, str] = field(default_factory=dict)
    """The good replies, by the last message of their prompts."""
    requests: int = 0
    struck: int = 0
    """How many requests were struck."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        with self._lock:
            late = self.requests - self.first
            strikes = self.fault is not ModelFault.NONE and (
                late >= 0 if self.lasting else late == 0
            )
            self.requests += 1
            self.struck += strikes
        text = self.replies[body['messages'][-1]['content']]
        BEHAVIOURS[self.fault if strikes else ModelFault.NONE](text)(handler, body)


class ServedModel(ModelWrapper):
    """
    A stand-in behind a server: its replies come over HTTP, by the client of language models.

    The stand-in answers what a prompt declares, which no server receives, so each reply is left
    with the server before it is asked for.
    """

    def __init__(
        self,
        settings: OpenAISettings,
        answers: FaultyAnswers,
        answer: Callable[[PromptRequest], str],
    ):
        super().__init__(OpenAIChat(settings))
        self._answers = answers
        self._answer = answer
        self.asked = 0
        """How many replies were asked for."""
        self.replied: list[Reply] = []
        """Those that came."""

    @property
    def struck(self) -> int:
        """How many of its requests were struck."""
        return self._answers.struck

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation; see `ChatModel.ask`."""
        assert request.declared is not None
        self._answers.replies[request.messages[-1].content] = self._answer(request.declared)
        self.asked += 1
        reply = super().ask(request, on_text)
        self.replied.append(reply)
        return reply
