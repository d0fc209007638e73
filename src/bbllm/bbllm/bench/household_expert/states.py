"""States of which a thing has one at a time, as far as actions that all planners offer go."""

from __future__ import annotations

from collections.abc import Mapping

from bbllm.bench.suites.house_states import OPPOSITES
from bbllm.worlds.household.vocabulary import State

OPPOSITE: Mapping[str, str] = {
    word: other
    for pair in OPPOSITES
    for word, other in (pair, pair[::-1])
    if word in ('on', 'off', 'open', 'closed')
}
"""By word: the other one, from which an action that all planners offer leads to it."""


def turn(states: set[State], word: str) -> None:
    """Put a state in the place of its opposite, where a thing has that."""
    other = OPPOSITE.get(word)
    if other is not None and State(other.upper()) in states:
        states.remove(State(other.upper()))
        states.add(State(word.upper()))
