"""The houses of a suite, checked against what its tasks require."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import is_yaml_path
from bbllm.worlds.household.constraints import faults_of_constraints
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.houses import House, load_house
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseGoal, HouseholdGoal
from bbllm_bench.suites.task_spec import SuiteFileError, TaskSpec


def checked_houses(task: TaskSpec, folder: Path, where: str) -> tuple[House, ...]:
    """
    Return the houses of a task, which have all that it speaks of.

    Raises:
        SuiteFileError: A house cannot be had, or lacks something; begins with `where`.
    """
    try:
        houses = read_houses(task.houses, folder)
    except BbllmError as error:
        raise SuiteFileError(f'{where}, houses: {error}') from error
    faults = faults_of(task.house_goal, task.at_first, houses)
    for house in houses:
        faults += faults_of_constraints(task.constraints, house.graph)
    if faults:
        raise SuiteFileError(f'{where}: {"; ".join(faults)}.')
    return houses


def read_houses(names: Sequence[str], folder: Path) -> tuple[House, ...]:
    """
    Return houses by their names, or by paths of house files or graphs from a folder.

    Raises:
        BbllmError: One cannot be had, with name and reason.
    """
    is_path = [is_yaml_path(name) or name.endswith('.json') for name in names]
    return tuple(
        _house(str(folder / Path(name).expanduser()) if path else name)
        for name, path in zip(names, is_path)
    )


@lru_cache(maxsize=16)
def _house(name: str) -> House:
    return load_house(name if '/' not in name else Path(name))


def faults_of(
    goal: HouseGoal, at_first: Sequence[HouseCondition], houses: Iterable[House]
) -> list[str]:
    """Return what a task speaks of and its houses lack, with the nearest; empty where nothing."""
    faults = [f'at_first: {each}: {START}' for each in at_first if not _can_be_arranged(each)]
    conditions = goal.all if isinstance(goal, HouseholdGoal) else ()
    for house in houses:
        there = Counter(node.class_name for node in house.graph.nodes.values())
        unknown = [
            f'{condition}: {UnknownNameError(f"class of objects in {house.name}", name, there)}'
            for condition in (*conditions, *at_first)
            for name in condition.classes
            if name not in there
        ]
        faults += [fault.rstrip('.') for fault in unknown]
        if unknown:
            continue
        for each in at_first:  # what is missing of them is added
            there[str(each.thing)] = max(there[str(each.thing)], each.count)
        few = [fault for each in conditions if (fault := _too_few(each, house, there))]
        faults += few
    return list(dict.fromkeys(faults))


def _too_few(condition: HouseCondition, house: House, there: Mapping[str, int]) -> str:
    """Return that a house has fewer objects than a condition asks for, '' if it has enough."""
    what = condition.thing or condition.held or ''
    if condition.not_ or what in ('', ANYTHING) or there[what] >= condition.count:
        return ''
    return f'{condition}: {house.name} has {there[what]} {what}'


START = (
    'only objects in or on others, and their states can be arranged, each for all objects of a '
    'class: {thing: salmon, on: kitchencounter}, {thing: lightswitch, is: on}, {thing: anything, '
    'on: kitchentable, not: true} (a surface that is empty)'
)


def _can_be_arranged(condition: HouseCondition) -> bool:
    item, place, state = condition.thing, condition.place, condition.is_
    if item is None or condition.room or state in WORDS or (state and place) or item == place:
        return False
    if item == ANYTHING:
        return bool(condition.on and condition.not_ and condition.count == 1)
    return not condition.not_ and bool(place or condition.count == 1)
