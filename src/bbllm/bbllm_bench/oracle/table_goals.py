"""What an instruction asks for on a table, as data, and as conditions in the grammar of goals."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bbllm.core.goals import NONE
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject

Side = Literal['left', 'right']
SIDE_MARGIN_M = 0.025
"""How far beyond the middle line counts as left or right [m]."""
COLORS_OF_THE_ARC = {
    'red': 0, 'crimson': 348, 'scarlet': 8, 'maroon': 0, 'salmon': 12, 'coral': 16, 'brown': 25,
    'orange': 30, 'amber': 45, 'gold': 50, 'yellow': 60, 'olive': 62, 'lime': 90, 'green': 120,
    'mint': 150, 'turquoise': 174, 'teal': 178, 'aqua': 180, 'cyan': 180, 'azure': 210,
    'blue': 240, 'navy': 241, 'indigo': 262, 'violet': 275, 'purple': 290, 'lavender': 292,
    'magenta': 300, 'pink': 335, 'rose': 340, 'ruby': 350, 'cherry': 352, 'tomato': 9,
    'vermilion': 10, 'burgundy': 345, 'tan': 34, 'burlywood': 34,
}  # fmt: skip
"""Colour words and their places on the colour circle [deg]."""
COLORS = frozenset(COLORS_OF_THE_ARC) | {
    *('white', 'black', 'grey', 'gray', 'silver', 'beige', 'ivory')
}
MOVABLE_KINDS = frozenset(kind.value for kind in MOVABLE)


class RefusalError(Exception):
    """A task that is not understood, or that cannot be done; the text names what."""


@dataclass(frozen=True)
class TableObject:
    """An object of the scene."""

    name: str
    kind: str
    color: str = ''
    at: tuple[float, float, float] | None = None
    """Centre; None while it is held [m]."""
    height: float = 0.04
    """Extent along z [m]."""

    @property
    def movable(self) -> bool:
        return self.kind in MOVABLE_KINDS

    @property
    def side(self) -> Side | None:
        """The side of the arm's middle line that it is on; None if neither."""
        if self.at is None or abs(self.at[1]) <= SIDE_MARGIN_M:
            return None
        return 'left' if self.at[1] > 0 else 'right'

    @property
    def hue(self) -> float:
        """Place of its colour in the visible spectrum, red first; what has none is last [deg]."""
        hue = COLORS_OF_THE_ARC.get(self.color, 999)
        return hue - 360 if 320 <= hue < 360 else hue


def objects_of(scene: Scene) -> dict[str, TableObject]:
    """Return the objects of a scene by name."""
    return {item.name: _object(item) for item in scene.objects}


def _object(item: SceneObject) -> TableObject:
    words = item.name.lower().split('_')
    color = item.color or next((word for word in words if word in COLORS), '')
    size = item.size_m[2] if item.kind is not Kind.LOCATION and item.size_m[2] else 0.04
    return TableObject(item.name, item.kind.value, color, item.pose.position_m, size)


@dataclass(frozen=True)
class Select:
    """Some objects, by name or by description."""

    words: str
    """The words, for messages."""
    names: tuple[str, ...]
    """All that fit, in the scene's order."""
    count: int | None = 1
    """How many of them are meant; None for as many as possible."""
    counted: bool = False
    """Whether the words give the number: `one cube`, `a cube`."""


@dataclass(frozen=True)
class Arrange:
    """Objects to places, to a side, into a tower or into a pattern."""

    shape: str
    """
    `spots`, `side`, `tower` (bottom first) or `free` (anywhere on the table); plus, triangle,
    square, L, row or column; `parted`: the first items and the others on different sides;
    `per side`: so many of each on both sides, each on a location.
    """
    items: tuple[Select, ...]
    spots: tuple[str, ...] = ()
    """Locations, containers, or one pose in numbers; of a tower, what it stands on."""
    side: Side | None = None
    """Where it is to be; of `parted`, the side of the first items."""
    by_color: bool = False
    """Whether a row goes by colour in the order of the visible spectrum."""
    reverse: bool = False
    """Whether that order goes from right to left."""


@dataclass(frozen=True)
class Act:
    """An action that arranges nothing."""

    verb: Literal['pick', 'reach', 'home', 'open', 'close', 'wait']
    items: tuple[Select, ...] = ()
    """What to pick."""
    place: str = ''
    """What to reach over: a name, or a pose in numbers."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Use:
    """A skill of the table, used with an empty hand on one object where it stands."""

    skill: str
    items: tuple[Select, ...]
    """One of these."""
    values: tuple[str, ...]
    """Its further arguments, as a call has them."""
    words: str
    """The same in the words of a step."""
    shift_m: tuple[float, float] = (0.0, 0.0)
    """How far it moves the object in x and y of the robot's base."""


TableGoal: TypeAlias = Arrange | Act | Use


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
        if isinstance(goal, Arrange):
            found = [*_arranged(goal, items)]
        else:
            held = isinstance(goal, Act) and goal.verb == 'pick' and last
            found = [f'held({_written(goal.items[0])})'] if held else []
        if not found:
            return NONE
        lines += found
    return '\n'.join(dict.fromkeys(lines)) or NONE


def _in_reach(goal: TableGoal, far: Collection[str]) -> TableGoal:
    if not isinstance(goal, Arrange):
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
