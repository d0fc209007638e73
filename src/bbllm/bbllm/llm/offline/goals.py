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
    base: Target | None = None
    """What a tower stands on; None where its lowest thing stays where it is."""


@dataclass(frozen=True)
class Act:
    """Something that needs no choice of places."""

    verb: Literal['pick', 'reach', 'home', 'open', 'close', 'wait']
    items: tuple[Select, ...] = ()
    target: Target | None = None
    seconds: float = 0.0


Goal: TypeAlias = 'Move | Shape | Act'
