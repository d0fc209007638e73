"""What an instruction asks for, once it is understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bbllm.llm.offline.phrases import Select, Side, Target


@dataclass(frozen=True)
class Move:
    """Things to a target."""

    items: tuple[Select, ...]
    target: Target


@dataclass(frozen=True)
class Shape:
    """Things in a pattern on the table, or a tower."""

    shape: str
    items: tuple[Select, ...]
    side: Side | None = None
    by_color: bool = False
    """Whether it goes by colour, red first, in the order of the visible spectrum."""
    reverse: bool = False
    """Whether that order goes from right to left."""
    centred: bool = False
    """Whether it is to be in the middle of the work space."""
    base: Target | None = None
    """What a tower stands on; None where its lowest thing stays where it is."""


@dataclass(frozen=True)
class PerSide:
    """So many things of each kind on the left and as many on the right, on locations, no more."""

    items: tuple[Select, ...]
    """One for each kind, whose count is that of one side."""


@dataclass(frozen=True)
class Separate:
    """Two groups on different sides."""

    items: tuple[Select, Select]
    """The groups."""
    first: Side | None = None
    """Side of the first one; None where either will do."""


@dataclass(frozen=True)
class Stay:
    """Things that are to stay where they are."""

    items: tuple[Select, ...]
    """None of them for all that the task does not speak of."""


@dataclass(frozen=True)
class Act:
    """Something that needs no choice of places."""

    verb: Literal['pick', 'reach', 'home', 'open', 'close', 'wait']
    items: tuple[Select, ...] = ()
    target: Target | None = None
    seconds: float = 0.0


Goal: TypeAlias = 'Move | Shape | PerSide | Separate | Stay | Act'
