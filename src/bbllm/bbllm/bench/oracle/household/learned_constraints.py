"""What failed actions teach of constraints that no scene shows, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bbllm.core.types import Outcome
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.rule import ActionSituation, Check
from bbllm.worlds.household.vocabulary import Action, Relation
from bbllm.worlds.household.world import line_of

NO_GRIP, NO_ROOM, NOT_STEADY = 'not_graspable', 'no_room_left', 'not_steady'
"""Names of the checks of `worlds.household.constraints`, as outcomes carry them in `raw`."""


@dataclass(slots=True)
class LearnedConstraints:
    """Objects without a grip, and places with little room."""

    gripless: set[int] = field(default_factory=set)
    """Ids of what cannot be grabbed."""
    room: dict[int, int] = field(default_factory=dict)
    """By id of a place: how many objects there is room for."""

    def learn(self, outcome: Outcome, graph: Graph) -> None:
        """Learn from a failed action; `graph` is the household in which it failed."""
        if outcome.raw not in (NO_GRIP, NO_ROOM, NOT_STEADY):
            return
        ids = [n for _, n in line_of(outcome.call, graph).objects]
        if outcome.raw == NO_GRIP:
            self.gripless.add(ids[0])
        else:
            n = len(_lying_at(graph, ids[1])) if outcome.raw == NO_ROOM else 0
            self.room[ids[1]] = min(n, self.room.get(ids[1], n))

    def applied_to(self, household: Household) -> Household:
        """Return a copy of a household in which the same actions fail."""
        if not self.gripless and not self.room:
            return household

        def has_grip(s: ActionSituation) -> bool:
            return s.objects[0].id not in self.gripless

        def has_room(s: ActionSituation) -> bool:
            thing, place = (node.id for node in s.objects)
            lying = _lying_at(s.graph, place) - {thing}
            return len(lying) < self.room.get(place, len(lying) + 1)

        full = Check(NO_ROOM, has_room, 'no room left at {b}')
        checks: Mapping[Action, Check] = {
            Action.GRAB: Check(NO_GRIP, has_grip, '{C} gets no grip on {a}'),
            Action.PUTIN: full,
            Action.PUTBACK: full,
        }
        return household.with_checks(checks)


def _lying_at(graph: Graph, place: int) -> set[int]:
    return {*graph.sources(place, Relation.INSIDE), *graph.sources(place, Relation.ON)}
