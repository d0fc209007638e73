"""
The least number of steps that reach a goal, proven: A* in a relaxed household, done in the real.

`relaxed_house` says why no plan of the household is shorter than the shortest one there. A* finds
that one, since its heuristic (`least_bound`) never says more than is missing. It is then carried
out in a copy of the household, each way of it to whatever thing of the zone makes its steps work.
Where that succeeds the number is proven from both sides; where it does not, or the effort does not
suffice, `NotProvenError` says so, and nothing is claimed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from bbllm.bench.optimal.least_bound import Known, bound
from bbllm.bench.optimal.relaxed_house import NOWHERE, NotProvenError, RelaxedHouse, relax
from bbllm.bench.optimal.relaxed_plan import Done, carried_out
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import HANDS

EFFORT = 6000
"""How many situations one proof looks at."""


@dataclass(frozen=True, slots=True)
class Here:
    """A situation of the relaxed household."""

    zone: int
    things: tuple[tuple[int, ...], ...]
    """By class: the spots of its things, sorted; NOWHERE of those that are held."""
    open: frozenset[int]
    on: frozenset[int]

    @property
    def n_held(self) -> int:
        """How many things are held."""
        return sum(spots.count(NOWHERE) for spots in self.things)


@dataclass(frozen=True, slots=True)
class Least:
    """What was proven."""

    lines: tuple[ScriptLine, ...]
    """A plan of that length."""
    looked_at: int
    """Situations of the relaxed household."""


def least_steps(household: Household, goal: HouseholdGoal, *, effort: int = EFFORT) -> Least:
    """
    Return a shortest plan, by the clean rules and where things go on furniture only.

    Args:
        household: Where it begins, with the constraint `puts_only_on: furniture`, without which a
            plan that piles things up in a hand may be shorter; it stays as it is.
        goal: Conditions on places, states and what is held, all of things of a class.
        effort: How many situations may be looked at.

    Raises:
        NotProvenError: The least number is not known; says why.
    """
    if household.mode is not Mode.SANE:
        mode = household.mode.value
        raise NotProvenError(f'the argument is for the clean rules, not for {mode}')
    if not any(constraint.puts_only_on for constraint in household.constraints):
        raise NotProvenError(
            'without the constraint {puts_only_on: furniture} a plan that piles things up in a '
            'hand may be shorter'
        )
    return short_plan(household, goal, effort=effort)


def short_plan(household: Household, goal: HouseholdGoal, *, effort: int = EFFORT) -> Least:
    """
    Return a plan that is shortest among those which pile nothing up in a hand; see `least_steps`.

    Raises:
        NotProvenError: None is known; says why.
    """
    house = relax(household.graph, goal)
    done, looked_at = _shortest(house, effort)
    lines = carried_out(household, house, done, goal)
    return Least(lines, looked_at)


def beginning(house: RelaxedHouse) -> Here:
    """Return the situation at the start."""
    things = tuple(tuple(sorted(spot for _, spot in many)) for many in house.things)
    return Here(house.zone, things, house.open, house.on)


def _shortest(house: RelaxedHouse, effort: int) -> tuple[tuple[Done, ...], int]:
    start, known = beginning(house), Known()
    ticket = count()
    waiting = [(bound(house, start, known), 0, next(ticket), start)]
    steps = {start: 0}
    came: dict[Here, tuple[Here, Done]] = {}
    for looked_at in range(1, effort + 1):
        if not waiting:
            raise NotProvenError('the goal cannot be reached')
        missing, negative, _, here = heapq.heappop(waiting)
        n_steps = -negative
        if n_steps > steps[here]:
            continue
        if missing == n_steps:
            return _way(came, here), looked_at
        for done, after in followers(house, here):
            if n_steps + 1 < steps.get(after, n_steps + 2):
                steps[after] = n_steps + 1
                came[after] = here, done
                total = n_steps + 1 + bound(house, after, known)
                # Of equal sums the longest first: it is nearest to the end.
                heapq.heappush(waiting, (total, -n_steps - 1, next(ticket), after))
    raise NotProvenError(f'{effort} situations were looked at, and the least is not known')


def _way(came: dict[Here, tuple[Here, Done]], here: Here) -> tuple[Done, ...]:
    found: list[Done] = []
    while here in came:
        here, done = came[here]
        found.append(done)
    return tuple(reversed(found))


def followers(house: RelaxedHouse, here: Here) -> Iterator[tuple[Done, Here]]:
    """Yield each step that may help from a situation, and what follows from it."""
    for zone in house.parks:
        if zone != here.zone:
            yield ('go', zone, NOWHERE), Here(zone, here.things, here.open, here.on)
    yield from _taking(house, here)
    yield from _putting(house, here)
    yield from _opening(house, here)
    yield from _switching(house, here)


def _taking(house: RelaxedHouse, here: Here) -> Iterator[tuple[Done, Here]]:
    if here.n_held >= len(HANDS):
        return
    for c, spots in enumerate(here.things):
        # With as many in the hands as are missing, one more would take another's place only.
        if spots.count(NOWHERE) >= missing_of(house, here, c):
            continue
        for s in dict.fromkeys(spots):
            if s != NOWHERE and _at_hand(house, here, s):
                yield ('grab', c, s), _moved(here, c, s, NOWHERE)


def missing_of(house: RelaxedHouse, here: Here, c: int) -> int:
    """Return how many things of a class still have to be put somewhere, or held at the end."""
    spots = here.things[c]
    placed = [s for s in spots if s != NOWHERE]
    missing = house.holding.get(c, 0)
    for i, of_class in house.placing:
        if of_class == c:
            there = sum(i in house.spots[s].counts_for for s in placed)
            missing += max(0, house.conditions[i].count - there)
    return missing


def _putting(house: RelaxedHouse, here: Here) -> Iterator[tuple[Done, Here]]:
    for c, spots in enumerate(here.things):
        if NOWHERE not in spots:
            continue
        aims = {s for i, of_class in house.placing if of_class == c for s in house.aims[i]}
        if here.zone in house.parks:
            aims.add(house.parks[here.zone])
        for s in sorted(aims):
            if _at_hand(house, here, s):
                yield ('put', c, s), _moved(here, c, NOWHERE, s)


def _opening(house: RelaxedHouse, here: Here) -> Iterator[tuple[Done, Here]]:
    for door in house.doors:
        if house.zone_of[door] != here.zone or not here.open.issuperset(house.shut_by[door]):
            continue
        if door in here.open:
            if door in house.closing:
                changed = here.open - {door}
                yield ('close', door, NOWHERE), Here(here.zone, here.things, changed, here.on)
        elif door not in here.on and here.n_held < len(HANDS):
            changed = here.open | {door}
            yield ('open', door, NOWHERE), Here(here.zone, here.things, changed, here.on)


def _switching(house: RelaxedHouse, here: Here) -> Iterator[tuple[Done, Here]]:
    for switch in house.switches:
        near = house.zone_of[switch] == here.zone
        useful = switch in (house.stopping if switch in here.on else house.starting)
        if near and useful and here.open.issuperset(house.shut_by[switch]):
            is_on = switch in here.on
            on = here.on - {switch} if is_on else here.on | {switch}
            word = 'switchoff' if is_on else 'switchon'
            yield (word, switch, NOWHERE), Here(here.zone, here.things, here.open, on)


def _at_hand(house: RelaxedHouse, here: Here, s: int) -> bool:
    spot = house.spots[s]
    return spot.zone == here.zone and here.open.issuperset(spot.shut_by)


def _moved(here: Here, c: int, old: int, new: int) -> Here:
    spots = list(here.things[c])
    spots.remove(old)
    things = (*here.things[:c], tuple(sorted((*spots, new))), *here.things[c + 1 :])
    return Here(here.zone, things, here.open, here.on)
