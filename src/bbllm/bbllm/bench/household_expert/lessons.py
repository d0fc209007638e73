"""
What failed steps teach of what nobody sees: a thing without a grip, a place without room.

A step that fails although all that is known speaks for it is a surprise. Taken by itself it says
that this very step does not work as things lie. Whoever thinks about it concludes more: that
nobody gets a grip on the thing, or that there is room for no more at the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bbllm.bench.household_expert.moves import GOING, PUTTING
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.rule import Check
from bbllm.worlds.household.situation import ActionSituation
from bbllm.worlds.household.vocabulary import Action, Relation

GIVES_UP_AFTER = 3
"""How often the same call may fail before it is said that it cannot be done."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """A step that failed, and should have worked by all that was known."""

    action: Action
    ids: tuple[int, ...]
    lying: frozenset[int] = frozenset()
    """What else was in and on the place then, where something was to be put there."""

    @classmethod
    def at(cls, graph: Graph, action: Action, ids: tuple[int, ...]) -> Surprise:
        """Return a step that failed with things as they lie."""
        return cls(action, ids, _beside(graph, action, ids))


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is not tried, or not tried again."""

    surprises: frozenset[Surprise] = frozenset()
    """Steps that do not work as long as the same lies at their place."""
    gripless: frozenset[int] = frozenset()
    """Ids of what nobody gets a grip on."""
    room: frozenset[tuple[int, int]] = frozenset()
    """Ids of places, and how many things there is room for."""

    def __or__(self, other: Lessons) -> Lessons:
        return Lessons(
            self.surprises | other.surprises,
            self.gripless | other.gripless,
            self.room | other.room,
        )

    def __bool__(self) -> bool:
        return bool(self.surprises or self.gripless or self.room)

    def heeded_in(self, household: Household) -> Household:
        """Return a copy of a household in which what is not to be tried cannot be done."""
        actions = {item.action for item in self.surprises}
        actions |= {Action.GRAB} if self.gripless else set()
        actions |= PUTTING if self.room else set()
        return household.with_checks({
            action: Check('learnt', self._allows(action), '{C} has learnt that this fails')
            for action in sorted(actions)
        })  # fmt: skip

    def _allows(self, action: Action) -> Callable[[ActionSituation], bool]:
        surprises = {item for item in self.surprises if item.action is action}

        def allows(s: ActionSituation) -> bool:
            ids = tuple(node.id for node in s.objects)
            if action is Action.GRAB and ids[0] in self.gripless:
                return False
            if action in PUTTING and any(
                place == ids[1] and len(_beside(s.graph, action, ids)) >= n
                for place, n in self.room
            ):
                return False
            return not surprises or Surprise.at(s.graph, action, ids) not in surprises

        return allows


NOTHING = Lessons()
"""What is learnt where no step failed against all that was known."""


def given_up(call: str) -> str:
    """Say that nothing but a call would do, and that it fails."""
    return f'{call} failed {GIVES_UP_AFTER} times, and nothing else would do.'


def surprised(surprises: Iterable[Surprise]) -> Lessons:
    """Return what failed steps say by themselves; that one can go somewhere stays believed."""
    return Lessons(frozenset(item for item in surprises if item.action not in GOING))


def concluded(surprise: Surprise) -> Lessons:
    """Return what is concluded from a surprise: its likely cause, where there is one."""
    if surprise.action is Action.GRAB:
        return Lessons(gripless=frozenset({surprise.ids[0]}))
    if surprise.lying:
        return Lessons(room=frozenset({(surprise.ids[1], len(surprise.lying))}))
    return NOTHING


def lying_at(graph: Graph, place: int) -> frozenset[int]:
    """Return what lies in and on a thing."""
    return frozenset(graph.sources(place, Relation.INSIDE) | graph.sources(place, Relation.ON))


def _beside(graph: Graph, action: Action, ids: tuple[int, ...]) -> frozenset[int]:
    """Return what lies where something is to be put, without that."""
    return lying_at(graph, ids[1]) - {ids[0]} if action in PUTTING else frozenset()
