"""What a suite says of houses, held against them; and the start of one trial in one of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from bbllm.bench.canonical import canonical
from bbllm.bench.house_goals import ANYTHING, FinalStateGoal, HouseCondition, HouseholdGoal
from bbllm.bench.house_predicates import clashing
from bbllm.bench.suite_errors import SuiteFileError
from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import is_yaml_path
from bbllm.worlds.household.constraints import Constraint, faults_of_constraints
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import House, load_house
from bbllm.worlds.household.vocabulary import HANDS, Property

HouseGoal = HouseholdGoal | FinalStateGoal
HELD_ANYWAY = ('water', 'child')
"""Classes that can be grabbed without the property, as in the rules of the world."""
SAID_AT_FIRST = 'things in or on others, and their states'


def checked_houses(
    names: Sequence[str],
    goal: HouseGoal,
    at_first: Sequence[HouseCondition],
    folder: Path,
    where: str,
    constraints: Sequence[Constraint] = (),
) -> tuple[House, ...]:
    """
    Return the houses of a task, which have all that it speaks of.

    Raises:
        SuiteFileError: A house cannot be had, or lacks something; begins with `where`.
    """
    try:
        houses = read_houses(names, folder)
    except BbllmError as error:
        raise SuiteFileError(f'{where}, houses: {error}') from error
    faults = faults_of(goal, at_first, houses)
    for house in houses:
        faults += faults_of_constraints(constraints, house.graph)
    if faults:
        raise SuiteFileError(f'{where}: {"; ".join(faults)}.')
    return houses


def read_houses(names: Sequence[str], folder: Path) -> tuple[House, ...]:
    """
    Return the houses that a task names.

    Args:
        names: Names of houses, or paths of house files or of graphs.
        folder: Where paths begin.

    Raises:
        BbllmError: One cannot be had; says which and why.
    """
    found = []
    for name in names:
        is_path = is_yaml_path(name) or name.endswith('.json')
        found.append(_house(str(folder / Path(name).expanduser()) if is_path else name))
    return tuple(found)


@lru_cache(maxsize=16)
def _house(name: str) -> House:
    """Read a house once for all tasks of a suite."""
    return load_house(name if '/' not in name else Path(name))


def faults_of(
    goal: HouseGoal, at_first: Sequence[HouseCondition], houses: Iterable[House]
) -> list[str]:
    """Return what a task speaks of and its houses lack, with the nearest; empty where nothing."""
    faults = [fault for condition in at_first if (fault := _no_start(condition))]
    conditions = goal.all if isinstance(goal, HouseholdGoal) else ()
    for house in houses:
        there = Counter(node.class_name for node in house.graph.nodes.values())
        for condition in at_first:
            if there[condition.thing or '']:  # what is missing of them is added
                there[condition.thing or ''] = max(there[condition.thing or ''], condition.count)
        for condition in (*conditions, *at_first):
            for name in condition.classes:
                if name not in there:
                    wrong = UnknownNameError(f'class of things in {house.name}', name, there)
                    faults.append(f'{condition}: {wrong}'.rstrip('.'))
            what = condition.thing or condition.held
            if what in there and not condition.not_ and there[what] < condition.count:
                faults.append(f'{condition}: {house.name} has only {there[what]} {what}')
        faults += [fault for each in conditions if (fault := _never(each, house, there))]
        found = clashing(goal, house.graph) if isinstance(goal, HouseholdGoal) else None
        if found and not any(c.count > 1 for c in at_first):
            told, both = ' and '.join(map(str, found)), 'both' if len(found) == 2 else 'all'
            faults.append(
                f'{told}: {both} can never hold at once in {house.name}; leave one of them out, '
                'or count less'
            )
    return list(dict.fromkeys(faults))


def hash_of_house(house: House) -> str:
    """Return a hash of all that is in a house: not of its name and description."""
    return hashlib.sha256(canonical(house.graph.to_dict()).encode()).hexdigest()


def _never(condition: HouseCondition, house: House, there: Mapping[str, int]) -> str:
    """Say why a condition of a goal cannot come to hold in a house, '' where it may."""
    what = condition.thing or condition.held
    if condition.not_ or what is None or there.get(what, 0) < condition.count:
        return ''  # the last is told already
    if what in (condition.inside, condition.on) and there[what] <= condition.count:
        return (
            f'{condition}: nothing can be in or on itself, and {house.name} has only '
            f'{there[what]} {what}; name another place'
        )
    if condition.held and _n_to_hold(house.graph, what) < condition.count:
        return (
            f'{condition}: {_n_to_hold(house.graph, what) or "no"} {what} of {house.name} can be '
            'grabbed; name a thing with the property GRABBABLE'
        )
    return ''


def _n_to_hold(graph: Graph, name: str) -> int:
    """Return how many things of a class can come into a hand, or are in one."""
    return sum(
        name in HELD_ANYWAY
        or Property.GRABBABLE in node.properties
        or any(graph.sources(node_id, hand) for hand in HANDS)
        for node_id, node in graph.nodes.items()
        if node.class_name == name
    )


def _no_start(condition: HouseCondition) -> str:
    """Say why a condition cannot be told to be so at the start, '' where it can."""
    if condition.thing and condition.thing == condition.place:
        return f'at_first: {condition}: a {condition.thing} cannot be in or on itself'
    if condition.thing == ANYTHING:
        cleared = condition.on and condition.not_ and condition.count == 1
        said = bool(cleared and not (condition.is_ or condition.room))
    else:
        one = not (condition.is_ and condition.place) and not condition.room
        said = bool(condition.thing) and not condition.not_ and one
    if said and condition.is_ not in WORDS and (condition.place or condition.count == 1):
        return ''
    return (
        f'at_first: {condition}: only {SAID_AT_FIRST} can be arranged, each for all things of a '
        'class: {thing: salmon, on: kitchencounter}, {thing: lightswitch, is: on}, {thing: '
        'anything, on: kitchentable, not: true} (a surface that is empty)'
    )
