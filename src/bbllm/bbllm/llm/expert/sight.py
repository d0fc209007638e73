"""What a prompt tells `expert`, whichever planner wrote it; and what it can answer with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bbllm.core.observation import Observed, Seven

DEFAULT_EDGE_M = 0.04
"""Size of a block of which nothing tells it [m]."""


class UnreadableError(Exception):
    """A prompt without the labels that are needed."""


class Asked(Enum):
    """What a prompt wants to know."""

    PLAN = 'what to do next'
    EVALUATE = 'whether the task is solved'
    ENOUGH = 'whether enough is known'
    GATHER = 'how to find out'
    SOLVE = 'how to solve it'


@dataclass(frozen=True, slots=True)
class Move:
    """One action of a reply."""

    verb: str
    """pick, place, reach, reset or wait."""
    name: str = ''
    """The block that it is about."""
    pose: Seven | None = None
    """Of the tool centre point, where the action takes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One action of the history."""

    move: Move
    done: bool | None = None
    """Whether it succeeded; None where the prompt does not tell."""
    tried: bool = True
    message: str = ''
    """Why it failed."""
    seen: Observed | None = None
    """What was observed after it."""
    force_z_n: float | None = None
    """What a round in short tells of the force [N]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A prompt, taken apart."""

    asked: Asked
    names: tuple[str, ...]
    """Of the blocks, in the prompt's order."""
    now: Observed
    deeds: tuple[Deed, ...] = ()
    """All of the history, oldest first."""
    heights_m: tuple[tuple[str, float], ...] = ()
    """Height of each block that stands as it does at rest [m]."""
    corners: tuple[tuple[float, float], ...] = ()
    """Of the table; none where the prompt does not tell [m]."""

    def looks(self) -> Iterator[Observed]:
        """Yield every observation, oldest first."""
        yield from (deed.seen for deed in self.deeds if deed.seen is not None)
        yield self.now

    def half_m(self, name: str) -> float:
        """Return half the height of a block [m]."""
        for known, height in self.heights_m:
            if known == name:
                return height / 2
        # Where no size is told, heights of centres tell: some block stands on the table, whose top
        # is z = 0, and one that was never seen lower than on another one is taken to be like it.
        low = min(look.blocks[name][2] for look in self.looks() if name in look.blocks)
        least = min(pose[2] for look in self.looks() for pose in look.blocks.values())
        half = low if low < 2 * least else least
        return half if 0.0 < half < DEFAULT_EDGE_M else DEFAULT_EDGE_M / 2
