"""The input of checks and effects: graph, character, objects and memory."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import Relation, State


class UnsupportedError(RuntimeError):
    """The original breaks off here with an error of Python; a household makes a failed step."""


@dataclass(slots=True)
class Memory:
    """What is known beside the graph while a script runs."""

    taken_from: dict[int, tuple[int, Relation]] = field(default_factory=dict)
    """For what was grabbed: where it was, and how it stood there."""
    posture: frozenset[State] | None = None
    """States that the character is believed to have; None: those of its node."""


@dataclass(slots=True)
class ActionSituation:
    """One action about to be done. Checks only read it."""

    graph: Graph
    character: Node
    objects: tuple[Node, ...]
    memory: Memory

    @property
    def posture(self) -> Set[State]:
        """States of the character, as far as the rules see them."""
        believed = self.memory.posture
        return self.character.states if believed is None else believed
