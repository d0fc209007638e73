"""The goal of a case on a table, as an oracle is handed it; no language model ever is."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bbllm_bench.suites.goals import Held


class GoalBrief(BaseModel):
    """The goal of a case; never what an object weighs, nor which one is fixed."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    goal: Literal['tower', 'corners', 'hold', 'contained', 'layout']
    needs: Literal['none', 'weights', 'movable'] = 'none'
    """What has to be found out before anything can be decided."""
    order: Literal['any', 'lighter_up', 'on_fixed', 'lighter_up_on_fixed'] = 'any'
    """Of a tower: any, the heaviest at the bottom, or the fixed block at the bottom."""
    which: Literal['all', 'movable'] | Held = 'all'
    """What goes to corners, or is held."""
    height: Annotated[int, Field(ge=2, le=12)] = 2
    """How many blocks a tower has."""
    inside: Mapping[str, str] = {}
    """What goes into which container, or onto which plate, by name."""
    solution: tuple[tuple[str, str], ...] = ()
    """Of a puzzle: moves that search found, what is picked and where it is put."""
    n_fixed: Annotated[int, Field(ge=0, le=12)] = 1
    """How many blocks are fixed; the instruction has it where that has to be found out."""
    readings: Annotated[int, Field(ge=1, le=40)] = 1
    """How often each block is weighed at first; with more than one that settles the order."""
    off_centre: bool = False
    """Whether the hand takes blocks off their middle; the first pick shows by how much."""
    gather: bool = True
    """Whether the oracle finds out what it needs, or guesses."""
    seed: int = 0
    """Of the guesses."""
