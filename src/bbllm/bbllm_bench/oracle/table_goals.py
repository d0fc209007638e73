"""What an instruction asks for on a table, as data, and as conditions in the grammar of goals."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bbllm.core.goals import NONE
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject
from bbllm.skills.shapes import yaw_of

Side = Literal['left', 'right', 'near', 'far']
OPPOSITE: Mapping[Side, Side] = {'left': 'right', 'right': 'left', 'near': 'far', 'far': 'near'}
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
Point = tuple[float, float, float]
MOVABLE_KINDS = frozenset(kind.value for kind in MOVABLE)


MIDDLE_X_M = 0.45
"""Where the near half of a table ends where no other table is known [m]."""


def beyond_middle(at: Point, side: Side) -> float:
    """Return how far a point is on a side of the table, below 0 on the other [m]."""
    x, y, _ = at
    ways = {'left': y, 'right': -y, 'near': MIDDLE_X_M - x, 'far': x - MIDDLE_X_M}
    return ways[side]


class RefusalError(Exception):
    """A task that is not understood, or that cannot be done; the text names what."""


class AskError(RefusalError):
    """A task with several readings; the text is a question."""

    def __init__(self, question: str, options: Sequence[str]):
        super().__init__(question)
        self.options = tuple(options)


@dataclass(frozen=True)
class TableObject:
    """An object of the scene."""

    name: str
    kind: str
    color: str = ''
    at: Point | None = None
    """Centre; None while it is held [m]."""
    height: float = 0.04
    """Extent along z [m]."""
    below: tuple[str, ...] = ()
    """What it is on or in."""
    yaw_deg: float = 0.0
    """How its edges are turned [deg]."""
    in_reach: bool | None = None
    """Whether the arm reaches it; None where that is not known."""

    @property
    def movable(self) -> bool:
        return self.kind in MOVABLE_KINDS

    def is_on(self, side: Side | None) -> bool:
        """Whether it is on a side, and not on the line."""
        return self.at is not None and (
            side is None or beyond_middle(self.at, side) > SIDE_MARGIN_M
        )

    @property
    def hue(self) -> float:
        """Place of its colour in the visible spectrum, red first; what has none is last [deg]."""
        hue = COLORS_OF_THE_ARC.get(self.color, 999)
        return hue - 360 if 320 <= hue < 360 else hue


def objects_of(scene: Scene) -> dict[str, TableObject]:
    """Return the objects of a scene by name."""
    below: dict[str, list[str]] = {}
    for fact in scene.facts:
        if fact.predicate in ('on', 'in'):
            below.setdefault(fact.subject, []).append(fact.object)
    reach = {f.subject: f.object == 'yes' for f in scene.facts if f.predicate == 'reachable'}
    return {
        item.name: replace(
            _object(item), below=(*below.get(item.name, ()),), in_reach=reach.get(item.name)
        )
        for item in scene.objects
    }


def _object(item: SceneObject) -> TableObject:
    words = item.name.lower().split('_')
    color = item.color or next((word for word in words if word in COLORS), '')
    size = item.size_m[2] if item.kind is not Kind.LOCATION and item.size_m[2] else 0.04
    yaw = yaw_of(item)
    yaw_deg = yaw[0] if yaw else 0.0
    at = item.pose.position_m
    return TableObject(item.name, item.kind.value, color, at, size, yaw_deg=yaw_deg)


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
    vague: bool = False
    """Whether it is one certain object, and the words do not state which: `the cube`."""


@dataclass(frozen=True)
class Arrange:
    """Objects to places, to a side, into a tower or into a pattern."""

    shape: str
    """
    `spots`, `side`, `tower` (bottom first) or `free` (anywhere on the table); plus, triangle,
    square, L, row or column; `parted`: the first items and the others on different sides;
    `per side`: so many of each on both sides, each on a location; or a relation to `spots`, such
    as `behind` or `between`.
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
    stated: tuple[str, ...] = ()
    """Conditions that state it, where those of its shape do not."""


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
    stated: str
    """The condition that states it."""
    shift_m: tuple[float, float] = (0.0, 0.0)
    """How far it moves the object in x and y of the robot's base."""
    instead: str = ''
    """The pose to place it at where the skill is not offered; empty where none will do."""


TableGoal: TypeAlias = Arrange | Act | Use


LINES = ('row', 'column')
RELATED = {
    **{'behind': 'farther', 'infront': 'nearer', 'leftof': 'left_of', 'rightof': 'right_of'},
    **{'beside': 'beside', 'between': 'between'},
}
"""Where one object is to another, as seen from the arm, with the conditions that state it."""
BESIDE_M = 0.08
"""Up to here the middles of two cubes are beside each other [m]."""
CLEAR_M = 0.06
"""So far apart, no cube reaches beyond the edge of another, however they are turned [m]."""
OFF_LINE_M = 0.015
"""So far from their line something is between two others [m]."""
LEVEL_M = 0.025
"""Middles that differ in height by less are level [m]."""


def stands(relation: str, at: Point, refs: Sequence[Point]) -> bool:
    """Return whether a point is so related to one or two others."""
    (x, y, z), (rx, ry, _) = at, refs[0]
    if any(abs(z - ref[2]) > LEVEL_M for ref in refs):
        return False
    if relation == 'between':
        (sx, sy, _) = refs[1]
        way, off = complex(sx - rx, sy - ry), complex(x - rx, y - ry)
        part = off / way if way else 0j
        return 0 < part.real < 1 and abs(part.imag) * abs(way) <= OFF_LINE_M
    dx, dy = x - rx, y - ry
    if relation == 'beside':
        return math.hypot(dx, dy) <= BESIDE_M
    along = {'behind': dx, 'infront': -dx, 'leftof': dy, 'rightof': -dy}[relation]
    return along >= CLEAR_M and along >= math.hypot(dx, dy) * math.sqrt(0.5)


def conditions_text(
    goals: Sequence[TableGoal], items: Mapping[str, TableObject], far: Collection[str] = ()
) -> str:
    """
    Return the reply: a condition a line, or `none` if some goal is no condition.

    Of `all` objects, those that are *far*, out of reach, do not count, as the prompt states.
    """
    goals = [all_in_reach(goal, far) for goal in goals]
    goals = [goal for i, goal in enumerate(goals) if not _is_undone(goal, goals[i + 1 :])]
    if any(_named(a) & _moved(b) for a, b in itertools.combinations(goals, 2)):
        return NONE  # what one part of the sentence arranges is moved by a later one
    lines: list[str] = []
    for i, goal in enumerate(goals):
        last = i == len(goals) - 1
        if isinstance(goal, Arrange):
            found = [*_arranged(goal, items)]
        elif isinstance(goal, Use):
            found = [goal.stated]
        else:
            held = goal.verb == 'pick' and last
            found = [f'held({_written(goal.items[0])})'] if held else []
        if not found:
            return NONE
        lines += found
    return '\n'.join(dict.fromkeys(lines)) or NONE


def _is_undone(goal: TableGoal, later: Sequence[TableGoal]) -> bool:
    """Whether an object is picked that a later part places."""
    if not isinstance(goal, Act) or goal.verb != 'pick':
        return False
    return any(isinstance(one, Arrange) and one.items == goal.items for one in later)


def all_in_reach(goal: TableGoal, far: Collection[str]) -> TableGoal:
    """Return a goal in which all of some objects are all but those that are out of reach."""
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
    if goal.stated:
        yield from goal.stated
        return
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
        case shape if shape in RELATED:
            form = f'{RELATED[shape]}({{}}, {", ".join(places)})'
            yield from (form.format(_written(item)) for item in items)
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
