"""The houses of a suite, checked against what its tasks require."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path

from bbllm.bench.suites.house_goals import ANYTHING, FinalStateGoal, HouseCondition, HouseholdGoal
from bbllm.bench.suites.house_predicates import OPPOSITES, clashing
from bbllm.bench.suites.household import HouseView, judge_household
from bbllm.bench.suites.task_spec import SuiteFileError, TaskSpec
from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import is_yaml_path
from bbllm.worlds.household.checks import above
from bbllm.worlds.household.constraints import faults_of_constraints
from bbllm.worlds.household.derived import WORDS, can_become
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import House, load_house
from bbllm.worlds.household.vocabulary import CHARACTER, HANDS, Property, State

HouseGoal = HouseholdGoal | FinalStateGoal


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
            name = condition.thing or ''
            if there[name]:  # what is missing of them is added
                there[name] = max(there[name], condition.count)
        for condition in (*conditions, *at_first):
            for name in condition.classes:
                if name not in there:
                    wrong = UnknownNameError(f'class of things in {house.name}', name, there)
                    faults.append(f'{condition}: {wrong}'.rstrip('.'))
            what = condition.thing or condition.held
            if what and what in there and not condition.not_ and there[what] < condition.count:
                faults.append(f'{condition}: {house.name} has only {there[what]} {what}')
        faults += [fault for each in conditions if (fault := _never(each, at_first, house, there))]
        faults += [fault for each in at_first if (fault := _not_of_its_kind(each, house))]
        # Two that contradict each other are told of where each by itself can come to hold.
        if isinstance(goal, HouseholdGoal) and not faults:
            faults += _contradiction(goal, house, there)
    return list(dict.fromkeys(faults))


def _never(
    condition: HouseCondition,
    at_first: Sequence[HouseCondition],
    house: House,
    there: Mapping[str, int],
) -> str:
    """Return why a condition of a goal can never be met in a house, '' if it can."""
    graph, view = house.graph, HouseView(house.graph, frozenset())
    if condition.person and condition.on in there and not condition.not_:
        wanted = Property.SITTABLE if condition.person == 'sitting' else Property.LIEABLE
        seats = view.of_class(str(condition.on))
        if not any(wanted in graph.nodes[each].properties for each in seats):
            return (
                f'{condition}: nobody can do so on a {condition.on} of {house.name}; name a '
                f'thing with the property {wanted.name}'
            )
    what = condition.thing or condition.held
    if condition.not_ or what is None or there.get(what, 0) < condition.count:
        return ''  # the last is told already
    if what == condition.place and there[what] <= condition.count:
        return (
            f'{condition}: nothing can be in or on itself, and {house.name} has only '
            f'{there[what]} {what}; name another place'
        )
    ids = view.of_class(what)
    ids += ids[:1] * (there[what] - len(ids))  # what is missing at the start is like the first
    for able, need, hint in _able(condition, ids, at_first, graph):
        if able < condition.count:
            return f'{condition}: {able or "no"} {what} of {house.name} {need}; {hint}'
    return ''


def _able(
    condition: HouseCondition, ids: Sequence[int], at_first: Sequence[HouseCondition], graph: Graph
) -> Iterator[tuple[int, str, str]]:
    """Yield for each part of a condition how many objects can come to it, what, and a hint."""
    others = [each for each in at_first if each.thing == condition.thing]
    # A start may put anything anywhere.
    anywhere = any(each.place for each in others)
    can_move = {each for each in ids if anywhere or can_go(graph, each)}
    portable = 'name a thing with the property GRABBABLE'
    if condition.held:
        yield sum(can_be_held(graph, each) for each in ids), 'can be grabbed', portable
    if condition.is_:
        given = {each.is_ for each in others if each.is_}
        by = f' by {condition.by}' if condition.by else ''
        able = sum(can_be(graph, each, condition.is_, given, condition.by) for each in ids)
        yield able, f'can come to be {condition.is_}{by}', 'name another'
    if condition.place:
        placed = condition.model_copy(update={'is_': None, 'by': None})
        goal = HouseholdGoal(kind='household', all=(placed,))
        if not judge_household(goal, graph, frozenset()).passed:
            yield sum(each in can_move for each in ids), 'can be carried anywhere', portable
    if condition.room:
        here = {*HouseView(graph, frozenset()).objects_of(condition), *can_move}
        able = sum(each in here for each in ids)
        yield able, f'is in the {condition.room} or can be carried there', 'name another'


def _contradiction(goal: HouseholdGoal, house: House, there: Mapping[str, int]) -> list[str]:
    """Return which conditions a house has too few objects for, for example on and off."""
    found = clashing(goal, house.graph, there)
    if found is None:
        return []
    what = found[0].thing or found[0].held or ''
    one = what in goal.same
    few = f'since `same` asks for one {what}' if one else f'which has only {there[what]} {what}'
    told, both = ' and '.join(map(str, found)), 'both' if len(found) == 2 else 'all'
    never = f'{told}: {both} can never hold at once in {house.name}'
    return [f'{never}, {few}; leave one of them out, or count less']


def _not_of_its_kind(condition: HouseCondition, house: House) -> str:
    """Return which state objects of a class cannot have at the start, '' where they can."""
    word = condition.is_
    if not word or word in WORDS or condition.thing is None:
        return ''
    ids = HouseView(house.graph, frozenset()).of_class(condition.thing)
    if all(fits(house.graph, each, word) for each in ids):
        return ''
    return f'at_first: {condition}: not every {condition.thing} of {house.name} can be {word}'


def _no_start(condition: HouseCondition) -> str:
    """Return why a condition cannot be arranged at the start, '' if it can."""
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
        f'at_first: {condition}: only things in or on others, and their states can be arranged, '
        'each for all things of a class: {thing: salmon, on: kitchencounter}, {thing: '
        'lightswitch, is: on}, {thing: anything, on: kitchentable, not: true} (a surface that is '
        'empty)'
    )


# --- what objects of a house can become -------------------------------------------------------

HELD_ANYWAY = ('water', 'child')
"""Classes that can be grabbed without the property, as in the rules of the world."""
OPENED_ANYWAY = ('desk', 'window')
"""Classes that can be opened without the property."""
_NEEDS: Mapping[str, Property] = {
    **dict.fromkeys(('on', 'off'), Property.HAS_SWITCH),
    **dict.fromkeys(('open', 'closed'), Property.CAN_OPEN),
    **dict.fromkeys(('plugged_in', 'plugged_out'), Property.HAS_PLUG),
}
_OTHER = {**dict(OPPOSITES), **{other: word for word, other in OPPOSITES}}
_RESTING = ('sitting', 'lying')


def fits(graph: Graph, node_id: int, word: str) -> bool:
    """Whether an object can have a state at all: by its properties, or since it has it."""
    node = graph.nodes[node_id]
    if State(word.upper()) in node.states:
        return True
    if word in _RESTING:
        return node.class_name == CHARACTER
    if word not in _NEEDS:
        return True
    opens = word in ('open', 'closed') and node.class_name in OPENED_ANYWAY
    return opens or _NEEDS[word] in node.properties


def can_be(
    graph: Graph, node_id: int, word: str, at_first: Set[str], by: str | None = None
) -> bool:
    """
    Whether an object can come to be so, by what actions and devices do.

    *at_first* are the states that a task gives to its class, *by* the class of the device that
    has to make it so, None: any.
    """
    if word in WORDS:
        return can_become(graph, node_id, word, by)
    now = {state.value.lower() for state in graph.nodes[node_id].states}
    # What a task gives takes the place of its opposite.
    now = {each for each in now if _OTHER.get(each) not in at_first} | at_first
    if word in now:
        return True
    if not fits(graph, node_id, word) or word == 'dirty':
        return False
    # A switch that is neither on nor off cannot be switched; what is washed is clean anyway.
    return word not in _NEEDS or _OTHER[word] in now


def can_be_held(graph: Graph, node_id: int) -> bool:
    """Whether an object can come into a hand, or is in one."""
    node = graph.nodes[node_id]
    return (
        node.class_name in HELD_ANYWAY
        or Property.GRABBABLE in node.properties
        or any(graph.sources(node_id, hand) for hand in HANDS)
    )


def can_go(graph: Graph, node_id: int) -> bool:
    """Whether an object can be elsewhere: it walks, is carried, or is on what is carried."""
    return any(
        graph.nodes[each].class_name == CHARACTER or can_be_held(graph, each)
        for each in (node_id, *above(graph, node_id))
    )
