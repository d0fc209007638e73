"""
From a memory graph and predicates to calls: one thing after the other, by the rules of FLTRNN.

`search` finds plans that a planner tells in classes, and takes two things at once where that is
shorter. Here each thing is one of its own and the hand is empty before the next, so that no plan
breaks a rule; it is not the shortest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from bbllm.bench.household_expert.search import NoPlanError
from bbllm.core.types import SkillCall
from bbllm.planners.common.goal_predicates import PLACING, GoalPredicate, GoalRelation
from bbllm.planners.fltrnn.memory_graph import MemoryGraph

ORDER = (
    *(GoalRelation.INSIDE, GoalRelation.ON, GoalRelation.TURNOFF, GoalRelation.OPEN),
    *(GoalRelation.CLOSED, GoalRelation.TURNON, GoalRelation.HOLDS, GoalRelation.SIT),
)
"""Doors are closed when all is inside, and devices started when doors are closed."""
PASSES = 3
"""How often all predicates are gone through: what comes later can undo what came before."""
_SKILLS = {
    GoalRelation.CLOSED: 'close',
    GoalRelation.OPEN: 'open',
    GoalRelation.TURNON: 'switchon',
    GoalRelation.TURNOFF: 'switchoff',
}


def errands(
    memory: MemoryGraph, wanted: Sequence[GoalPredicate], *, avoid: Collection[str] = ()
) -> list[SkillCall]:
    """
    Return calls after which all predicates hold; none where they do.

    Args:
        memory: How it is; it stays as it is.
        wanted: What must be so, and stay so where it is.
        avoid: Things that are of no use.

    Raises:
        NoPlanError: There is no thing or place for one of them.
    """
    runner = _Errands(memory.copy(), wanted, frozenset(avoid))
    in_order = sorted(wanted, key=lambda item: ORDER.index(item.relation))
    for _ in range(PASSES):
        for predicate in in_order:
            runner.see_to(predicate)
        if all(map(runner.memory.holds, wanted)):
            break
    return runner.calls


class _Errands:
    def __init__(
        self, memory: MemoryGraph, wanted: Sequence[GoalPredicate], avoid: frozenset[str]
    ):
        self.memory = memory
        self.calls: list[SkillCall] = []
        self._wanted = wanted
        self._avoid = avoid

    def see_to(self, predicate: GoalPredicate) -> None:
        while not self.memory.holds(predicate):
            things = self._candidates(predicate)
            if not things:
                n = self.memory.n_holding(predicate)
                raise NoPlanError(f'Only {n} of what {predicate} wants can be had.')
            if predicate.relation in PLACING:
                self._put(predicate, things)
            elif predicate.relation is GoalRelation.HOLDS:
                self._fetch(things[0])
            elif predicate.relation is GoalRelation.SIT:
                self._go(things[0])
                self._do('sit', things[0])
            else:
                self._turn(things[0], predicate.relation)

    def _candidates(self, predicate: GoalPredicate) -> list[str]:
        """Return things of which it is not so yet, the easiest first."""
        memory = self.memory
        usable = [
            name
            for name in memory.of_class(predicate.thing)
            if name not in self._avoid and not memory.is_so(predicate, name)
        ]
        if predicate.relation in (*PLACING, GoalRelation.HOLDS):
            usable = [name for name in usable if memory.affords(name, 'grabbable')]
            usable = [name for name in usable if not self._needed(name, predicate)]
        if predicate.relation in (GoalRelation.TURNON, GoalRelation.TURNOFF):
            usable = [name for name in usable if 'plugged_out' not in memory.states(name)]
        used = {place for item in self._wanted for place in self._used(item)}

        def effort(name: str) -> tuple[bool, bool, bool, bool]:
            return (
                name not in memory.held,
                name not in used,  # the microwave that has something in it is the one to start
                memory.closed_around(name) is not None,
                memory.room_of(name) != memory.here,
            )

        return sorted(usable, key=effort)

    def _needed(self, name: str, predicate: GoalPredicate) -> bool:
        """Tell whether a thing is where another predicate wants it and none can be spared."""
        return any(
            other != predicate
            and (other.relation in PLACING or other.relation is GoalRelation.HOLDS)
            and self.memory.is_so(other, name)
            and self.memory.n_holding(other) <= other.count
            for other in self._wanted
            if other.thing == predicate.thing
        )

    def _used(self, predicate: GoalPredicate) -> Iterable[str]:
        """Return the places in which a predicate is so of something."""
        for name in self.memory.of_class(predicate.thing):
            if predicate.relation in PLACING and self.memory.is_so(predicate, name):
                yield from (place for _, place in self.memory.places(name))

    def _put(self, predicate: GoalPredicate, things: Sequence[str]) -> None:
        used = set(self._used(predicate))
        # What is to be started or shut later is best the one that this fills.
        places = sorted(
            (name for name in self.memory.of_class(predicate.place) if name not in self._avoid),
            key=lambda name: (name not in used, self.memory.closed_around(name) is not None),
        )
        pairs = [(t, p) for t in things for p in places if t != p]
        if not pairs:
            raise NoPlanError(f'There is no {predicate.place} for {predicate}.')
        thing, place = pairs[0]
        self._fetch(thing)
        self._go(place)
        inside = predicate.relation is GoalRelation.INSIDE
        if inside and 'closed' in self.memory.states(place):
            self._open(place)
        self._do('putin' if inside else 'putback', thing, place)

    def _fetch(self, thing: str) -> None:
        if thing in self.memory.held:
            return
        for held in self.memory.held:
            self._lay_down(held)
        self._go(thing)
        self._do('grab', thing)

    def _lay_down(self, thing: str) -> None:
        """Put something down that is in the way, where it is in nobody's way."""
        surfaces = [
            name
            for name in self.memory.names
            if self.memory.affords(name, 'surfaces')
            and not self.memory.affords(name, 'grabbable')
            and self.memory.closed_around(name) is None
        ]
        if not surfaces:
            raise NoPlanError(f'There is nothing to lay {thing} on.')
        place = min(surfaces, key=lambda name: self.memory.room_of(name) != self.memory.here)
        self._go(place)
        self._do('putback', thing, place)

    def _turn(self, thing: str, relation: GoalRelation) -> None:
        self._go(thing)
        if relation is GoalRelation.OPEN:
            self._open(thing)
            return
        if relation is GoalRelation.TURNON and 'open' in self.memory.states(thing):
            self._do('close', thing)
        self._do(_SKILLS[relation], thing)

    def _go(self, thing: str) -> None:
        """Go to a thing, and open what it is inside on the way."""
        while (shut := self.memory.closed_around(thing)) is not None:
            self._do('walk', shut)
            self._open(shut)
        self._do('walk', thing)

    def _open(self, thing: str) -> None:
        if 'on' in self.memory.states(thing):
            self._do('switchoff', thing)
        self._do('open', thing)

    def _do(self, skill: str, *things: str) -> None:
        call = SkillCall(skill, things)
        if why := self.memory.refusal(call):
            raise NoPlanError(f'{call} cannot be done: {why}.')
        self.memory.apply(call)
        self.calls.append(call)
