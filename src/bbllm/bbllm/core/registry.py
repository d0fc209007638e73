"""Planners by name, from the entry points of every installed package."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, cast

from bbllm.core.errors import UnknownNameError
from bbllm.core.protocols import Body, ChatModel, Planner

GROUP = 'bbllm.planners'
OFFLINE = 'offline'
"""The stand-in for a model that plans where no server is set."""


class PlannerFactory(Protocol):
    """
    What an entry point of the group `bbllm.planners` names: a class or a function.

    One whose planner does the same whatever `k` is says so by an attribute, `uses_feedback =
    False`; a bench then plays each case once, and not once for every number of loops. One that
    other stand-ins for a model can answer than `offline` names them: `stand_ins =
    frozenset({'expert'})`. One whose prompts tell the force on the gripper has `feels = True`; a
    bench then has it measured, which takes time that others need not spend. One that never asks
    its Body has `asks_body = False`, so that nobody is told of a Body that does nothing.
    """

    def __call__(self, brain: ChatModel, body: Body, *, k: int) -> Planner:
        """Build the planner with its models and its number of feedback loops."""
        ...


def planner_names() -> list[str]:
    """Return the names of all installed planners, sorted."""
    return sorted(_points())


def find_planner(name: str) -> PlannerFactory:
    """
    Return what builds the planner of that name.

    Raises:
        UnknownNameError: No such planner is installed; names the nearest.
    """
    points = _points()
    if name not in points:
        raise UnknownNameError('planner', name, points)
    load: Callable[[], object] = points[name].load
    return cast(PlannerFactory, load())


def uses_feedback(factory: PlannerFactory) -> bool:
    """Tell whether the number of feedback loops matters to what a factory builds."""
    return bool(getattr(factory, 'uses_feedback', True))


def stand_ins(factory: PlannerFactory) -> frozenset[str]:
    """Return the names of the stand-ins for a model that know a planner's prompts."""
    return frozenset(getattr(factory, 'stand_ins', (OFFLINE,)))


def feels(factory: PlannerFactory) -> bool:
    """Tell whether the prompts of a planner tell the force on the gripper."""
    return bool(getattr(factory, 'feels', False))


def asks_body(factory: PlannerFactory) -> bool:
    """Tell whether a planner ever asks its Body."""
    return bool(getattr(factory, 'asks_body', True))


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
