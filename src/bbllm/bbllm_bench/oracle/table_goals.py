"""What an instruction asks for on a table, and the objects that it names, as data."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

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

    verb: Literal['pick', 'reach', 'home', 'open', 'close', 'wait', 'push', 'rotate']
    items: tuple[Select, ...] = ()
    """What to pick, push or rotate."""
    place: str = ''
    """What to reach over: a name, or a pose in numbers."""
    seconds: float = 0.0
    way: str = ''
    """Direction of a push."""
    amount: float = 0.0
    """Of a push [m], of a turn counter-clockwise [deg]."""


TableGoal: TypeAlias = Arrange | Act
