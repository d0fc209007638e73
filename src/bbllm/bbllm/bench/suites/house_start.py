"""The house that an episode starts in, complete: it can be played on another machine."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.visibility import SeenWord


class HouseStart(BaseModel):
    """One household before anybody acts in it, and by which rules it goes on."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    name: str
    graph: dict[str, Any]
    """As VirtualHome writes it, after what the trial drew."""
    mode: Mode = Mode.SANE
    visibility: SeenWord = 'full'

    constraints: tuple[Constraint, ...] = ()
    """Hidden constraints that a step may fail by."""

    def household(self) -> Household:
        """Return the house with the rules of this trial, constraints included; a new one."""
        return Household(self.build(), mode=self.mode, constraints=self.constraints)

    def build(self) -> Graph:
        """Return the graph; a new one each time."""
        # Whoever made it has looked at it, and VirtualHome's own rules bear rings of INSIDE.
        return Graph.from_dict(self.graph, strict=False)
