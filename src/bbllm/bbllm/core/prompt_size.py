"""
Estimates of the tokens of a prompt, without the model's own tokenizer.

Tokens never cross the borders between letters, digits and signs. GPT-4 and Llama 3 put up to three
digits into a token, Llama 2, Qwen and Gemma one; common words are one token, rare ones several. So
texts are counted twice: with the fewest tokens that they can have, and with as many as they have
where each digit is one; compared with two tokenizers of Mistral on the prompts of LLM-POP.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.events import ModelCall
from bbllm.core.protocols import ChatModel, Usage

CUT_SHARE = 0.75
"""A server that counted a smaller share of the fewest tokens has not read all of a prompt."""
WORTH_REPORTING = 4000
"""Shorter prompts fit everywhere, and some servers count roughly [characters]."""

_FEWEST = re.compile(r'[^\W\d_]+|\d{1,3}|(?<=\d)[.,](?=\d)')
_MOST = re.compile(r'[A-Za-z]{1,5}|[^\S\n]+(?=\d)|\n|[^\sA-Za-z]')


def prompt_limit(model: ChatModel) -> int | None:
    """Return `prompt_limit_tokens` of a model, which wrappers pass on; None without a limit."""
    limit: int | None = getattr(model, 'prompt_limit_tokens', None)
    return limit


def fewest_tokens(text: str) -> int:
    """Return how many tokens a text has at least, in a language with spaces between its words."""
    return sum(1 for _ in _FEWEST.finditer(text))


def most_tokens(text: str) -> int:
    """
    Return how many tokens a text in English has at most, but for some in rare words.

    That is near enough to stand for a count that a server does not give: of six prompts of
    Brain, Body, ProgPrompt and LLM-POP it is 0 to 8 % above Mistral's SentencePiece, and 4 to
    24 % above Tekken.
    """
    return sum(1 for _ in _MOST.finditer(text))


def cut_of(texts: Sequence[str], usage: Usage) -> str:
    """
    Return evidence, from what a server has counted, that it has read only a part of a prompt.

    It is put behind the model's name; '' where nothing is wrong or nothing was counted.
    """
    reported = usage.prompt_tokens
    if not reported or sum(map(len, texts)) <= WORTH_REPORTING:
        return ''
    fewest = sum(map(fewest_tokens, texts))
    if reported >= CUT_SHARE * fewest:
        return ''
    return f'counted {reported} tokens of a prompt that has {fewest} at the very least'


class SentPrompts:
    """
    The prompts that one role of an episode was sent.

    A server that keeps prompts (OpenAI, vLLM, llama.cpp) reuses the longest beginning that any
    of them has in common with the new one, not only the last: a planner that asks under three
    prompts in turn has three that grow. So each prompt is compared with all before it.
    """

    def __init__(self) -> None:
        self._sorted: list[str] = []

    def add(self, texts: Sequence[str], call: ModelCall) -> ModelCall:
        """Measure a prompt against those before it, and keep it; return the call with its size."""
        text = ''.join(texts)
        place = bisect_left(self._sorted, text)
        # Of sorted texts the two beside it begin most like it.
        beside = self._sorted[max(0, place - 1) : place + 1]
        stable = max((_shared(text, other) for other in beside), default=0)
        self._sorted.insert(place, text)
        return replace(
            call, prompt_chars=len(text), stable_chars=stable, sent_tokens=most_tokens(text)
        )


def _shared(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low
