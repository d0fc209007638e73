"""How long the prompts of an episode are, and how much of each was sent before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.prompt_size import most_tokens
from bbllm.core.protocols import Message


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The size of one prompt; what each figure is, is said in `events.ModelCall`."""

    prompt_chars: int = 0
    stable_chars: int = 0
    sent_tokens: int = 0


class SentPrompts:
    """
    The prompts that one role of an episode was sent.

    A server that keeps prompts (OpenAI, vLLM, llama.cpp) reuses the longest beginning that any
    of them has in common with the new one, not only the last: a planner that asks under three
    prompts in turn has three that grow. So each prompt is held against all before it.
    """

    def __init__(self) -> None:
        self._sorted: list[str] = []

    def add(self, messages: Sequence[Message]) -> PromptSize:
        """Measure a prompt against those before it, and keep it."""
        text = ''.join(message.content for message in messages)
        place = bisect_left(self._sorted, text)
        # Of sorted texts the two beside it begin most like it.
        beside = self._sorted[max(0, place - 1) : place + 1]
        stable = max((_shared(text, other) for other in beside), default=0)
        self._sorted.insert(place, text)
        return PromptSize(len(text), stable, most_tokens(text))


def _shared(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low
