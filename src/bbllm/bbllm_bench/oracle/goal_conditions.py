"""The goals of an instruction as conditions on the scene, for the request of a goal."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from bbllm.core.goals import NONE
from bbllm_bench.oracle.table_goals import Act, Arrange, Select, TableGoal, TableObject

LINES = ('row', 'column')


def conditions_text(
    goals: Sequence[TableGoal], items: Mapping[str, TableObject], far: Collection[str] = ()
) -> str:
    """
    Return the reply: a condition a line, or `none` if some goal is no condition.

    Of `all` objects, those that are *far*, out of reach, do not count, as the prompt states.
    """
    goals = [_in_reach(goal, far) for goal in goals]
    if any(_named(a) & _moved(b) for a, b in itertools.combinations(goals, 2)):
        return NONE  # what one part of the sentence arranges is moved by a later one
    lines: list[str] = []
    for i, goal in enumerate(goals):
        last = i == len(goals) - 1
        if isinstance(goal, Act):
            found = [f'held({_written(goal.items[0])})'] if goal.verb == 'pick' and last else []
        else:
            found = [*_arranged(goal, items)]
        if not found:
            return NONE
        lines += found
    return '\n'.join(dict.fromkeys(lines)) or NONE


def _in_reach(goal: TableGoal, far: Collection[str]) -> TableGoal:
    if isinstance(goal, Act):
        return goal
    items = []
    for item in goal.items:
        near = tuple(name for name in item.names if name not in far)
        items.append(replace(item, names=near) if item.count is None and near else item)
    return replace(goal, items=tuple(items))


def _named(goal: TableGoal) -> set[str]:
    """Return the objects that a goal is about, without those that it may choose from."""
    return _all_of(goal.items)


def _moved(goal: TableGoal) -> set[str]:
    """Return the objects of a goal without the bottom of a tower, which may stay where it is."""
    if isinstance(goal, Arrange) and goal.shape == 'tower' and len(goal.items) > 1:
        return _all_of(goal.items if goal.spots or goal.side else goal.items[1:])
    return _all_of(goal.items)


def _all_of(items: Sequence[Select]) -> set[str]:
    return {name for item in items if item.count in (None, len(item.names)) for name in item.names}


def _arranged(goal: Arrange, entities: Mapping[str, TableObject]) -> Iterator[str]:
    """Yield the conditions of one goal; none where they could not express all of it."""
    items, places = goal.items, [spot for spot in goal.spots if spot in entities]
    if len(places) < len(goal.spots):
        return  # a pose in numbers
    tables = [name for name, entity in entities.items() if entity.kind == 'fixture']
    match goal.shape:
        case 'side':
            yield from (f'side({_written(item)}, {goal.side})' for item in items)
        case 'free':
            yield from (f'on({_written(item)}, {tables[0]})' for item in items if tables)
        case 'spots' if len(items) == len(places):
            for item, place in zip(items, places, strict=True):
                yield f'on({_written(item)}, {place})'
        case 'spots' if len(items) == 1 and items[0].count == len(places):
            yield from (f'on({"|".join(items[0].names)}, {place})' for place in places)
        case 'spots' if len(places) == 1:
            yield from (f'on({_written(item)}, {places[0]})' for item in items)
        case 'tower' if len(items) > 1 and all(item.count == 1 for item in items):
            yield from _somewhere(goal, items[0])
            for below, above in itertools.pairwise(items):
                yield f'on({_written(above)}, {_written(below)})'
        case 'tower' if len(items) == 1 and not goal.spots and not goal.side:
            yield f'tower({_written(items[0])})'
        case 'plus' if len(items) == 1 and not goal.side:
            yield f'plus(5 of {"|".join(items[0].names)})'
        case shape if shape in LINES and len(items) == 1 and not goal.side:
            names = items[0].names
            if goal.by_color and items[0].count is None:
                names = tuple(sorted(names, key=lambda name: entities[name].hue))
                yield f'line({", ".join(names[::-1] if goal.reverse else names)})'
            elif not goal.by_color:
                yield f'line({_written(items[0])})'


def _somewhere(goal: Arrange, bottom: Select) -> Iterator[str]:
    """Yield where the bottom of a tower is to be."""
    if goal.side:
        yield f'side({_written(bottom)}, {goal.side})'
    yield from (f'on({_written(bottom)}, {spot})' for spot in goal.spots)


def _written(select: Select) -> str:
    names = '|'.join(select.names)
    if select.count is None and len(select.names) > 1:
        return f'all of {names}'
    return f'{select.count} of {names}' if (select.count or 1) > 1 else names
