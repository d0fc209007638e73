"""
The least number of steps that reach a goal, proven: A* in a relaxed household, done in the real.

`relaxed_house` shows why no plan of the household is shorter than the shortest one there. A* finds
that one, since its heuristic (`least_bound`) never exceeds what is missing. It is then carried
out in a copy of the household, each way of it to whatever object of the zone makes its steps work.
Where that succeeds the number is proven from both sides; where it does not, or the effort does not
suffice, `NotProvenError` is raised, and nothing is claimed.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation
from bbllm_bench.optimal.house_state import HouseState, NoPlanError
from bbllm_bench.optimal.least_bound import bound
from bbllm_bench.optimal.relaxed_house import NOWHERE, NotProvenError, RelaxedHouse, RelaxedState
from bbllm_bench.suites.house_goals import HouseholdGoal

EFFORT = 6000
"""How many situations one proof may expand."""

Done = tuple[str, int, int]
"""What is done, to which class, zone or id, and at which spot."""


@dataclass(frozen=True, slots=True)
class Least:
    """What was proven."""

    lines: tuple[ScriptLine, ...]
    """A plan of that length."""
    looked_at: int
    """Situations of the relaxed household."""


def least_steps(household: Household, goal: HouseholdGoal, *, effort: int = EFFORT) -> Least:
    """
    Return a shortest plan, by the clean rules and where objects go on furniture only.

    Args:
        household: Where it begins, with the constraint `puts_only_on: furniture`, without which a
            plan that piles objects up in a hand may be shorter; it stays as it is.
        goal: Conditions on places, states and what is held, all of objects of a class.
        effort: How many situations may be expanded.

    Raises:
        NotProvenError: The least number is not known, with the reason.
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
        NotProvenError: None is known, with the reason.
    """
    house = RelaxedHouse(household.graph, goal)
    done, observed_at = _shortest(house, effort)
    return Least(_carried_out(HouseState.beginning(household), house, done, goal), observed_at)


def _shortest(house: RelaxedHouse, effort: int) -> tuple[list[Done], int]:
    start = house.start()
    ticket = count()
    waiting = [(bound(house, start), 0, next(ticket), start)]
    steps = {start: 0}
    came: dict[RelaxedState, tuple[RelaxedState, Done]] = {}
    for observed_at in range(1, effort + 1):
        if not waiting:
            raise NotProvenError('the goal cannot be reached')
        missing, negative, _, here = heapq.heappop(waiting)
        n_steps = -negative
        if n_steps > steps[here]:
            continue
        if missing == n_steps:
            found: list[Done] = []
            while here in came:
                here, done = came[here]
                found.append(done)
            return found[::-1], observed_at
        for done, after in followers(house, here):
            if n_steps + 1 < steps.get(after, n_steps + 2):
                steps[after] = n_steps + 1
                came[after] = here, done
                total = n_steps + 1 + bound(house, after)
                # Of equal sums the longest first: it is nearest to the end.
                heapq.heappush(waiting, (total, -n_steps - 1, next(ticket), after))
    raise NotProvenError(f'{effort} situations were looked at, and the least is not known')


def followers(house: RelaxedHouse, here: RelaxedState) -> Iterator[tuple[Done, RelaxedState]]:
    """Yield each step that may help from a situation, and what follows from it."""
    for zone in house.parks:
        if zone != here.zone:
            yield ('go', zone, NOWHERE), replace(here, zone=zone)
    hand_free = here.n_held < len(HANDS)
    for c, spots in enumerate(here.things):
        n_lacking = sum(n for _, n in house.lacking(spots, c)) + house.holding.get(c, 0)
        # With as many in the hands as are missing, one more would take another's place only.
        if hand_free and spots.count(NOWHERE) < n_lacking:
            for s in dict.fromkeys(spots):
                if s != NOWHERE and _at_hand(house, here, s):
                    yield ('grab', c, s), _moved(here, c, s, NOWHERE)
    for c, spots in enumerate(here.things):
        if NOWHERE in spots:
            aims = {s for i, of_class in house.placing if of_class == c for s in house.aims[i]}
            aims |= {house.parks[here.zone]} if here.zone in house.parks else set()
            for s in sorted(aims):
                if _at_hand(house, here, s):
                    yield ('put', c, s), _moved(here, c, NOWHERE, s)
    for n in (n for n in house.doors if _in_reach(house, here, n)):
        if n in here.open and n in house.closing:
            yield ('close', n, NOWHERE), replace(here, open=here.open - {n})
        elif hand_free and n not in here.open and n not in here.on:
            yield ('open', n, NOWHERE), replace(here, open=here.open | {n})
    for n in (n for n in house.switches if _in_reach(house, here, n)):
        if n in here.on and n in house.stopping:
            yield ('switchoff', n, NOWHERE), replace(here, on=here.on - {n})
        elif n not in here.on and n in house.starting:
            yield ('switchon', n, NOWHERE), replace(here, on=here.on | {n})


def _at_hand(house: RelaxedHouse, here: RelaxedState, s: int) -> bool:
    spot = house.spots[s]
    return spot.zone == here.zone and here.open.issuperset(spot.shut_by)


def _in_reach(house: RelaxedHouse, here: RelaxedState, n: int) -> bool:
    return house.zone_of[n] == here.zone and here.open.issuperset(house.shut_by[n])


def _moved(here: RelaxedState, c: int, old: int, new: int) -> RelaxedState:
    spots = list(here.things[c])
    spots.remove(old)
    items = (*here.things[:c], tuple(sorted((*spots, new))), *here.things[c + 1 :])
    return replace(here, things=items)


# --- a plan of the relaxed household, done in the household itself ------------------------------


def _carried_out(
    state: HouseState, house: RelaxedHouse, done: Sequence[Done], goal: HouseholdGoal
) -> tuple[ScriptLine, ...]:
    """Return the lines that do a plan of the relaxed household in the real one, way by way."""
    where: Mapping[int, int] = {n: spot for many in house.things for n, spot in many}
    starts = [i for i, (word, *_) in enumerate(done) if word == 'go' or i == 0]
    for start, end in pairwise([*starts, len(done)]):
        part = done[start:end]
        for stop in _stops(house, part):
            try:
                state, where = _done(state, house, part, stop, where)
                break
            except NoPlanError:
                continue
        else:
            raise NotProvenError('in the house itself something more has to be gone to')
    if not state.holds(goal.all):
        raise NotProvenError('what suffices with closeness made easy does not in the house itself')
    return state.lines


def _stops(house: RelaxedHouse, part: Sequence[Done]) -> list[int]:
    """Return what can be gone to, the likeliest first; NOWHERE if there is no way."""
    if part[0][0] != 'go':
        return [NOWHERE]
    likely = [n for word, n, _ in part if word in ('open', 'close', 'switchon', 'switchoff')]
    likely += [house.spots[s].place for word, _, s in part if word in ('grab', 'put')]
    others = sorted(n for n, zone in house.zone_of.items() if zone == part[0][1])
    return list(dict.fromkeys(n for n in (*likely, *others) if n != NOWHERE))


def _done(
    state: HouseState,
    house: RelaxedHouse,
    part: Sequence[Done],
    stop: int,
    where: Mapping[int, int],
) -> tuple[HouseState, Mapping[int, int]]:
    """
    Return the state after one part that begins with a way, and where objects are then.

    Raises:
        NoPlanError: A step cannot be done.
    """
    where = {**where}
    if stop != NOWHERE:
        state = state.after(Action.WALK, stop)
        part = part[1:]
    for item in part:
        for action, ids, spot in _meanings(state, house, item, where):
            if state.can(action, *ids):
                state = state.after(action, *ids)
                where |= {} if spot is None else {ids[0]: spot}
                break
        else:
            raise NoPlanError(f'{item[0]} cannot be done.')
    return state, where


def _meanings(
    state: HouseState, house: RelaxedHouse, item: Done, where: Mapping[int, int]
) -> Iterator[tuple[Action, tuple[int, ...], int | None]]:
    """Yield the actions that a step can mean, and where the object is after it."""
    word, what, s = item
    if word not in ('grab', 'put'):
        yield Action[word.upper()], (what,), None
        return
    found = [node_id for node_id, _ in house.things[what]]
    if word == 'grab':
        yield from ((Action.GRAB, (n,), NOWHERE) for n in found if where[n] == s)
        return
    spot, nodes = house.spots[s], state.graph.nodes
    places = [spot.place]
    if spot.relation is None:  # any furniture of the zone, what objects stand on first
        zone = sorted(n for n, of_zone in house.zone_of.items() if of_zone == spot.zone)
        fixed = [n for n in zone if Property.GRABBABLE not in nodes[n].properties]
        places = sorted(fixed, key=lambda n: Property.SURFACES not in nodes[n].properties)
    action = Action.PUTIN if spot.relation is Relation.INSIDE else Action.PUTBACK
    yield from ((action, (n, p), s) for n in found if where[n] == NOWHERE for p in places)
