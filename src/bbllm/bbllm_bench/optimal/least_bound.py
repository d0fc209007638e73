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

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from bbllm.worlds.household.vocabulary import HANDS
from bbllm_bench.optimal.relaxed_house import NOWHERE, RelaxedHouse, RelaxedState

N_HANDS = len(HANDS)


@dataclass(slots=True)
class _Missing:
    """What is missing of the objects of a class."""

    acts: int
    """Grabs and puts."""
    forced: set[int] = field(default_factory=set)
    """Doors that have to be opened."""
    visits: set[int] = field(default_factory=set)
    """Zones that have to be gone to."""
    coming: Counter[int] = field(default_factory=Counter)
    """By zone: how many objects have to be brought from other zones."""
    leaving: Counter[int] = field(default_factory=Counter)
    """By zone: how many objects have to be taken away to others."""


def bound(house: RelaxedHouse, here: RelaxedState) -> int:
    """Return a number of steps that are missing in any case."""
    n_steps = 0
    opened, visits = set[int](), set[int]()
    coming, leaving = Counter[int](), Counter[int]()
    for c, spots in enumerate(here.things):
        missing = _of_class(house, c, spots, here.open)
        if missing.acts:
            n_steps += missing.acts
            opened |= missing.forced
            visits |= missing.visits
            coming.update(missing.coming)
            leaving.update(missing.leaving)
    visits.update(house.zone_of[n] for n in opened)
    off = opened & here.on
    n_steps += len(opened) + len(off)
    scattered: list[tuple[Counter[int], int]] = []
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
                visits |= zones.keys()
            else:
                scattered.append((zones, changes))
    stays = dict.fromkeys(visits, 1)
    for load in (coming, leaving):
        for zone, n in load.items():
            stays[zone] = max(stays.get(zone, 0), -(-n // N_HANDS))
    n_steps += sum(stays.values()) - (stays.get(here.zone, 0) > 0)
    claimed = {here.zone, *stays}
    for devices, n in scattered:
        # At best the fullest zones that are gone to for nothing else are enough.
        rest = n - sum(k for zone, k in devices.items() if zone in claimed)
        others = sorted((k for zone, k in devices.items() if zone not in claimed), reverse=True)
        n_steps += sum(sum(others[:i]) < rest for i in range(len(others)))
        claimed.update(devices)
    return n_steps


@lru_cache(maxsize=10_000)  # most situations differ in the objects of a class
def _of_class(
    house: RelaxedHouse, c: int, spots: tuple[int, ...], is_open: frozenset[int]
) -> _Missing:
    """Return what is missing of the objects of one class; of the rest only doors matter to it."""
    placed = [house.spots[s] for s in spots if s != NOWHERE]
    needs, n_to_hold = house.lacking(spots, c), house.holding.get(c, 0)
    puts = sum(n for _, n in needs)
    grabs = max(0, puts + n_to_hold - (len(spots) - len(placed)))
    missing = _Missing(puts + grabs)
    in_zone = Counter(spot.zone for spot in placed)
    zones_of = {i: {house.spots[s].zone for s in house.aims[i]} for i, _ in needs}
    if grabs:  # which doors have to be opened and which zones to be left for them
        shut = Counter(door for spot in placed for door in spot.shut_by if door not in is_open)
        missing.forced.update(door for door, n in shut.items() if len(placed) - n < grabs)
        for zone, n in in_zone.items():
            inevitable = grabs - (len(placed) - n)
            if inevitable > 0:
                missing.visits.add(zone)
                stays = sum(k for i, k in needs if zone in zones_of[i]) + n_to_hold
                missing.leaving[zone] += max(0, inevitable - stays)
    for i, n in needs:  # and for the puts
        zones = zones_of[i]
        doors = (frozenset(house.spots[s].shut_by) for s in house.aims[i])
        missing.forced |= frozenset.intersection(*doors) - is_open
        if len(zones) == 1:
            missing.visits |= zones
            missing.coming[min(zones)] += max(0, n - in_zone[min(zones)])
    return missing
