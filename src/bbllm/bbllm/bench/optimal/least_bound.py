"""
A number of steps that no plan of the relaxed household is shorter than: the heuristic of A*.

It adds up steps of kinds that no single step can be two of, and takes of each kind what is missing
in any case:

* puts and grabs: each put brings one object to one condition, and what is put or held at the end
  has to be grabbed, unless it is held;
* doors: one that all remaining ways to do something lead through has to be opened, is switched
  off before where it runs, and closed again where it has to be closed in the end;
* ways: a stay in a zone brings at most two objects from outside and takes at most two away. A zone
  that so many objects must come to or leave needs so many stays, and each stay but the one that
  lasts now begins with a way.

A step is never counted twice, and each count is of what the situation leaves no choice about.

It never exceeds what is missing, and is not consistent: one step can lower it by two or three,
where it ends the need for a way as well. So A* (`least_steps`) expands again a situation that it
reaches by fewer steps than before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bbllm.bench.optimal.relaxed_house import NOWHERE, RelaxedHouse, RelaxedState
from bbllm.worlds.household.vocabulary import HANDS

N_HANDS = len(HANDS)


@dataclass(slots=True)
class _Missing:
    """What is missing of objects in places."""

    acts: int = 0
    """Grabs and puts."""
    forced: set[int] = field(default_factory=set)
    """Doors that have to be opened."""
    visits: set[int] = field(default_factory=set)
    """Zones that have to be gone to."""
    coming: Counter[int] = field(default_factory=Counter)
    """By zone: how many objects have to be brought from other zones."""
    leaving: Counter[int] = field(default_factory=Counter)
    """By zone: how many objects have to be taken away to others."""
    n_coming: int = 0
    n_leaving: int = 0
    targets: set[int] = field(default_factory=set)
    sources: set[int] = field(default_factory=set)

    def add(self, other: _Missing) -> None:
        """Add what is missing of the objects of another class."""
        self.acts += other.acts
        self.n_coming += other.n_coming
        self.n_leaving += other.n_leaving
        self.forced |= other.forced
        self.visits |= other.visits
        self.targets |= other.targets
        self.sources |= other.sources
        self.coming.update(other.coming)
        self.leaving.update(other.leaving)


Known = dict[tuple[int, tuple[int, ...], frozenset[int]], _Missing]
"""By class, where its objects are, and what is open: what is missing of them."""


def bound(house: RelaxedHouse, here: RelaxedState, known: Known | None = None) -> int:
    """
    Return a number of steps that are missing in any case.

    `known` keeps what was counted in this house: most situations differ in the objects of a class.
    """
    known = {} if known is None else known
    missing = _Missing()
    for c, spots in enumerate(here.things):
        key = c, spots, here.open
        if key not in known:
            known[key] = _of_class(house, here, c)
        if known[key].acts:
            missing.add(known[key])
    scattered: list[tuple[Counter[int], int]] = []
    changes = _changes(house, here, missing, scattered)
    return missing.acts + changes + _ways(here, missing, scattered)


def _of_class(house: RelaxedHouse, here: RelaxedState, c: int) -> _Missing:
    """Return what is missing of the objects of one class; of the rest only doors matter to it."""
    placed = [house.spots[s] for s in here.things[c] if s != NOWHERE]
    n_held = len(here.things[c]) - len(placed)
    needs, n_to_hold = house.lacking(here, c), house.holding.get(c, 0)
    puts = sum(n for _, n in needs)
    grabs = max(0, puts + n_to_hold - n_held)
    missing = _Missing(acts=puts + grabs)
    in_zone = Counter(spot.zone for spot in placed)
    zones_of = {i: {house.spots[s].zone for s in house.aims[i]} for i, _ in needs}
    if grabs:  # which doors have to be opened and which zones to be left for them
        shut = Counter(door for spot in placed for door in spot.shut_by if door not in here.open)
        missing.forced.update(door for door, n in shut.items() if len(placed) - n < grabs)
        missing.sources.update(in_zone)
        n_here = sum(n for i, n in needs if not in_zone.keys().isdisjoint(zones_of[i]))
        missing.n_leaving = max(0, grabs - n_here - n_to_hold)
        for zone, n in in_zone.items():
            inevitable = grabs - (len(placed) - n)
            if inevitable > 0:
                missing.visits.add(zone)
                stays = sum(k for i, k in needs if zone in zones_of[i]) + n_to_hold
                missing.leaving[zone] += max(0, inevitable - stays)
    for i, n in needs:  # and for the puts
        zones = zones_of[i]
        doors = (frozenset(house.spots[s].shut_by) for s in house.aims[i])
        missing.forced |= frozenset.intersection(*doors) - here.open
        missing.targets |= zones
        n_coming = max(0, n - sum(in_zone.get(zone, 0) for zone in zones))
        missing.n_coming += n_coming
        if len(zones) == 1:
            missing.visits |= zones
            missing.coming[min(zones)] += n_coming
    return missing


def _changes(
    house: RelaxedHouse,
    here: RelaxedState,
    missing: _Missing,
    scattered: list[tuple[Counter[int], int]],
) -> int:
    """
    Count what is opened, closed and switched in any case; add where that has to be done.

    To `scattered` goes, by zone, how many devices are not as wanted, and how many of all of them
    have to be, where there is a choice.
    """
    opened, off = set(missing.forced), {n for n in missing.forced if n in here.on}
    n_steps = len(opened) + len(off)
    for n, ids, word in house.states:
        of_door, positive = word in ('open', 'closed'), word in ('open', 'on')
        inside, counted = (here.open, opened) if of_door else (here.on, off)
        wrong = [node for node in ids if (node in inside) is not positive]
        done = len(counted & ids)
        lacking = n - (len(ids) - len(wrong))
        # What is counted already leads there, or has to be brought back afterwards.
        leads = word in ('open', 'off')
        changes = max(0, lacking) - done if leads else max(0, lacking + done)
        if changes > 0:
            n_steps += changes
            zones = Counter(house.zone_of[node] for node in wrong)
            if len(ids) == n:
                missing.visits |= zones.keys()
            else:
                scattered.append((zones, changes))
    missing.visits.update(house.zone_of[n] for n in opened)
    return n_steps


def _ways(here: RelaxedState, missing: _Missing, scattered: list[tuple[Counter[int], int]]) -> int:
    """Count ways: a stay in a zone for what has to come, to leave, or to be done there."""
    stays = dict.fromkeys(missing.visits, 1)
    for load in (missing.coming, missing.leaving):
        for zone, n in load.items():
            stays[zone] = max(stays.get(zone, 0), -(-n // N_HANDS))
    by_zone = sum(stays.values()) - (stays.get(here.zone, 0) > 0)
    claimed = {here.zone, *stays}
    for devices, n in scattered:
        # At best the fullest zones that are gone to for nothing else are enough.
        rest = n - sum(k for zone, k in devices.items() if zone in claimed)
        others = sorted((k for zone, k in devices.items() if zone not in claimed), reverse=True)
        by_zone += sum(sum(others[:i]) < rest for i in range(len(others)))
        claimed.update(devices)
    if missing.targets & missing.sources:
        return by_zone
    in_all = -(-missing.n_coming // N_HANDS) - (-missing.n_leaving // N_HANDS)
    return max(by_zone, in_all - (here.zone in missing.targets | missing.sources))
