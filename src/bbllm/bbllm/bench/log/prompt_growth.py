"""How the prompts of an episode grow with the steps that are done."""

from __future__ import annotations

from bbllm.core.events import Episode, ModelCall
from bbllm.core.types import Outcome

BRAIN = 'brain'
"""Whose prompts count: those of a Body are about one step each."""


def prompt_growth(episode: Episode) -> tuple[tuple[int, int], ...]:
    """
    Return for each prompt of the Brain how many calls were done before it, and its tokens.

    Calls are those that the world was given, carried out or not. Tokens are what the server
    counted, or the estimate where it did not count.
    """
    steps, found = 0, list[tuple[int, int]]()
    for event in episode.events:
        steps += isinstance(event.data, Outcome)
        if isinstance(event.data, ModelCall) and event.data.role == BRAIN:
            found.append((steps, event.data.size_tokens))
    return tuple(found)
