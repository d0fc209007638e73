"""What `expert` knows beside a prompt; apart from `voices`, which imports every voice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.visibility import Visibility


class Told(Protocol):
    """What `expert` knows beside the prompt."""

    def case(self) -> tuple[Household, HouseholdGoal]:
        """
        Return the household as it is seen at the start, each time a new one, and the goal.

        What no scene tells, such as a thing without a grip, is not in its rules.

        Raises:
            NoPlanError: Nobody told it a case.
        """
        ...

    def visibility(self) -> Visibility:
        """
        Return how much of the household the planner is told.

        Raises:
            NoPlanError: Nobody told it a case.
        """
        ...


Voice = Callable[[str, Told], str | None]
"""Answers a prompt of its planner; returns None where it is the prompt of another."""
