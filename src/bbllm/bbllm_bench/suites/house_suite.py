"""The houses of a suite, checked against what its tasks require."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path

from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.core.paths import is_yaml_path
from bbllm.worlds.household.checks import above
from bbllm.worlds.household.constraints import faults_of_constraints
from bbllm.worlds.household.derived import WORDS, can_become
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import House, load_house
from bbllm.worlds.household.vocabulary import CHARACTER, HANDS, Property, Relation, State
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseGoal, HouseholdGoal
from bbllm_bench.suites.house_predicates import OPPOSITES, clashing
from bbllm_bench.suites.household import HouseView, lying
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
            f'{condition}: {UnknownNameError(f"class of things in {house.name}", name, there)}'
            for condition in (*conditions, *at_first)
            for name in condition.classes
            if name not in there
        ]
        faults += [fault.rstrip('.') for fault in unknown]
        if unknown:
            continue
        for each in at_first:  # what is missing of them is added
            there[str(each.thing)] = max(there[str(each.thing)], each.count)
        never = [fault for each in conditions if (fault := _never(each, at_first, house, there))]
        faults += never + [fault for each in at_first if (fault := _not_of_its_kind(each, house))]
        # Two that contradict each other are reported where each by itself can come to hold.
        if (
            isinstance(goal, HouseholdGoal)
            and not faults
            and (found := clashing(goal, house.graph, there))
        ):
            what = found[0].thing or found[0].held or ''
            few = f'it has {there[what]} {what}'
            few = f'`same` asks for one {what}' if what in goal.same else few
            both = ' and '.join(map(str, found))
            faults.append(f'{both}: never hold at once in {house.name}, since {few}')
    return list(dict.fromkeys(faults))


def _never(
    condition: HouseCondition,
    at_first: Sequence[HouseCondition],
    house: House,
    there: Mapping[str, int],
) -> str:
    """Return that too few objects of a house can come to be as a goal wants, '' if enough can."""
    view = HouseView(house.graph, frozenset())
    what = condition.thing or condition.held or (condition.on if condition.person else None)
    if condition.not_ or what in (None, ANYTHING):
        return ''
    ids = view.of_class(str(what))
    ids += ids[:1] * (there.get(str(what), 0) - len(ids))  # what a start adds is like the first
    able = sum(_can_meet(condition, each, at_first, view) for each in ids)
    able -= what == condition.place and not condition.person  # one is at the bottom
    if able >= condition.count:
        return ''
    return f'{condition}: of {len(ids)} {what} in {house.name} {max(able, 0)} can come to be so'


def _can_meet(
    condition: HouseCondition,
    node_id: int,
    at_first: Sequence[HouseCondition],
    view: HouseView,
) -> bool:
    """Whether an object can come to meet a condition, by what actions and devices do."""
    graph = view.graph
    if condition.person:
        wanted = Property.SITTABLE if condition.person == 'sitting' else Property.LIEABLE
        return wanted in graph.nodes[node_id].properties
    others = [each for each in at_first if each.thing == condition.thing]
    can_move = any(each.place for each in others) or can_go(graph, node_id)
    given = {each.is_ for each in others if each.is_}
    word, place = condition.is_, condition.place
    relation = Relation.INSIDE if condition.inside else Relation.ON
    return (
        (not condition.held or can_be_held(graph, node_id))
        and (not word or can_be(graph, node_id, word, given, condition.by))
        and (not place or can_move or node_id in lying(graph, relation, view.of_class(place)))
        and (
            condition.room is None
            or can_move
            or graph.room_of(node_id) in view.of_class(condition.room)
        )
    )


def _not_of_its_kind(condition: HouseCondition, house: House) -> str:
    """Return which state objects of a class cannot have at the start, '' where they can."""
    word, graph = condition.is_, house.graph
    named = [node.id for node in graph.nodes.values() if node.class_name == condition.thing]
    if not word or word in WORDS or all(fits(graph, each, word) for each in named):
        return ''
    return f'at_first: {condition}: not every {condition.thing} of {house.name} can be {word}'


START = (
    'only things in or on others, and their states can be arranged, each for all things of a '
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
