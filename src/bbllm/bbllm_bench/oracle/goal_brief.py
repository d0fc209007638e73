"""The goal of a case on a table, as an oracle is handed it; no language model ever is."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bbllm_bench.suites.benchmark import BenchmarkGoal
from bbllm_bench.suites.goals import Conditions, Corners, Hold, Layout, Needs, Tower

KnownGoal = Tower | Corners | Hold | Conditions | Layout | BenchmarkGoal
"""Goals that an oracle can reach."""


class GoalBrief(BaseModel):
    """The goal of a case; never what an object weighs, nor which one is fixed."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    goal: Annotated[KnownGoal, Field(discriminator='kind')] | None = None
    """As the suite states it; None outside of an episode."""
    needs: Needs = 'none'
    """What has to be found out before anything can be decided."""
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
