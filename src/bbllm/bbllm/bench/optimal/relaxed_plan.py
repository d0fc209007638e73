"""A plan of the relaxed household, done in the household itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bbllm.bench.optimal.relaxed_house import NOWHERE, NotProvenError, RelaxedHouse
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.worlds.household.derived import derived
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action, Property, Relation

Done = tuple[str, int, int]
"""What is done, to which class, zone or id, and at which spot."""


def carried_out(
    household: Household, house: RelaxedHouse, done: Sequence[Done], goal: HouseholdGoal
) -> tuple[ScriptLine, ...]:
    """Do a plan of the relaxed household in the real one, way by way."""
    household = household.copy()
    where = {node_id: spot for many in house.things for node_id, spot in many}
    lines: list[ScriptLine] = []
    for part in _parts(done):
        for first in _ways(household, house, part):
            found = _try(household, house, part, first, dict(where))
            if found is not None:
                household, where, told = found
                lines.extend(told)
                break
        else:
            raise NotProvenError('in the house itself something more has to be gone to')
    if not judge_household(goal, household.graph, derived(household.graph)).findings[0].passed:
        raise NotProvenError('what suffices with closeness made easy does not in the house itself')
    return tuple(lines)


def _parts(done: Sequence[Done]) -> Iterator[Sequence[Done]]:
    """Yield what is done between two ways, each with the way before it."""
    starts = [i for i, item in enumerate(done) if item[0] == 'go' or i == 0]
    for start, end in zip(starts, [*starts[1:], len(done)], strict=False):
        yield done[start:end]


def _ways(
    household: Household, house: RelaxedHouse, part: Sequence[Done]
) -> list[ScriptLine | None]:
    """Return what can be gone to, the likeliest first; None where nobody goes."""
    if part[0][0] != 'go':
        return [None]
    likely = [n for word, n, _ in part if word in ('open', 'close', 'switchon', 'switchoff')]
    likely += [house.spots[s].place for word, _, s in part if word in ('grab', 'put')]
    others = sorted(n for n, zone in house.zone_of.items() if zone == part[0][1])
    ids = dict.fromkeys(n for n in (*likely, *others) if n != NOWHERE)
    return [_line(household, Action.WALK, n) for n in ids]


def _try(
    household: Household,
    house: RelaxedHouse,
    part: Sequence[Done],
    first: ScriptLine | None,
    where: dict[int, int],
) -> tuple[Household, dict[int, int], list[ScriptLine]] | None:
    """Do one part beginning with a way; None where a step of it cannot be done."""
    after = household.copy()
    told = [] if first is None else [first]
    if first is not None and not after.step(first).succeeded:
        return None
    for item in part[first is not None :]:
        for line, moved in _lines(after, house, item, where):
            if after.can(line) and after.step(line).succeeded:
                told.append(line)
                if moved is not None:
                    where[line.objects[0][1]] = moved
                break
        else:
            return None
    return after, where, told


def _lines(
    household: Household, house: RelaxedHouse, item: Done, where: dict[int, int]
) -> Iterator[tuple[ScriptLine, int | None]]:
    """Yield the lines that a step can mean, and where the thing is after it."""
    word, what, s = item
    if word not in ('grab', 'put'):
        yield _line(household, Action[word.upper()], what), None
        return
    things = [node_id for node_id, _ in house.things[what]]
    if word == 'grab':
        for node_id in things:
            if where[node_id] == s:
                yield _line(household, Action.GRAB, node_id), NOWHERE
        return
    spot = house.spots[s]
    places = [spot.place] if spot.relation is not None else _somewhere(household, house, spot.zone)
    action = Action.PUTIN if spot.relation is Relation.INSIDE else Action.PUTBACK
    for node_id in things:
        if where[node_id] == NOWHERE:
            for place in places:
                yield _line(household, action, node_id, place), s


def _somewhere(household: Household, house: RelaxedHouse, zone: int) -> list[int]:
    """Return furniture of a zone, what things stand on first."""
    nodes = household.graph.nodes
    fixed = [
        n
        for n, of_zone in sorted(house.zone_of.items())
        if of_zone == zone and Property.GRABBABLE not in nodes[n].properties
    ]
    return sorted(fixed, key=lambda n: Property.SURFACES not in nodes[n].properties)


def _line(household: Household, action: Action, *ids: int) -> ScriptLine:
    return ScriptLine(action, tuple((household.graph.nodes[n].class_name, n) for n in ids))
