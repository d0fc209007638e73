"""
Drawings of final tables and houses that share what they have in common.

Equal drawings are kept once, tables lie on a common ground, and all drawings share the CSS
classes of their paints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bbllm.core.events import EventKind, SceneRecorded
from bbllm.core.journal import read_line
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm.viz.floor_plan import draw_floor_plan
from bbllm.viz.reach import reach_ring
from bbllm.viz.shapes import Flat
from bbllm.viz.svg import Inks
from bbllm.viz.table import draw_scene
from bbllm.viz.view import View, view_of

WIDTH_PX = 420.0
"""Width of a drawing in its own units; cards show it at 300 to 500 px."""
HOUSE_PX = 340.0
"""The same of a house."""
HOUSE_COLUMNS = 2
AWAY_M = 1.3
"""What lies further from the robot than this would make the rest too small [m]."""
MOVED_M = 0.01
"""What came to rest further away than this has other facts than before [m]."""
_MARK = f'"{EventKind.SCENE.value}"'.encode()
DECIMALS = 3
"""Tables that agree to a millimetre have the same drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One drawing, as far as it differs from the ground beneath."""

    id: str
    """Equal tables have equal drawings, and so the same id."""
    ground: str
    """Id of what lies beneath; '' where nothing does."""
    width: float
    """In its own units [px]."""
    height: float
    markup: str
    away: tuple[str, ...]
    """Names of objects that came to rest outside of the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What lies beneath drawings: tables, grid, reach and robot."""

    id: str
    width: float
    height: float
    shapes: frozenset[Flat]
    markup: str


class Drawings:
    """Draws tables; keeps each different one once."""

    def __init__(self, scenes: Iterable[Scene], inks: Inks, prefix: str = ''):
        """
        Choose the view that shows all of them at the same scale.

        Args:
            scenes: All that will be drawn.
            inks: The paints, which all drawings of a page share.
            prefix: Begins the ids, so that they differ from those of other drawings.
        """
        self._view: View = view_of([_near(scene) for scene in scenes], WIDTH_PX)
        self._inks = inks
        self._prefix = prefix
        self._grounds: dict[Scene, Ground] = {}
        self._drawings: dict[object, Drawing] = {}

    @property
    def width(self) -> float:
        """Of each drawing [px]."""
        return round(self._view.width, 1)

    @property
    def height(self) -> float:
        """Of each drawing [px]."""
        return round(self._view.height, 1)

    @property
    def grounds(self) -> tuple[Ground, ...]:
        """What lies beneath the drawings."""
        return tuple(self._grounds.values())

    @property
    def unique(self) -> tuple[Drawing, ...]:
        """All different drawings."""
        return tuple(self._drawings.values())

    def draw(self, scene: Scene, before: Scene | None) -> Drawing:
        """
        Draw a table.

        Args:
            scene: The table as it came to rest.
            before: The scene before; objects that moved get a faint trace.
        """
        key = (_look(scene), None if before is None else _look(before))
        if key not in self._drawings:
            self._drawings[key] = self._new(scene, before)
        return self._drawings[key]

    def _new(self, scene: Scene, before: Scene | None) -> Drawing:
        near = _near(scene)
        names = set(near.names)
        old = None if before is None else _near(before)
        ground = self._ground(near)
        own = [shape for shape in self._shapes(near, old) if shape not in ground.shapes]
        return Drawing(
            id=f'{self._prefix}d{len(self._drawings)}',
            ground=ground.id,
            width=self.width,
            height=self.height,
            markup=self._inks.draw(own),
            away=tuple(
                o.name for o in scene.objects if o.name not in names and o.kind is not Kind.HAND
            ),
        )

    def _ground(self, scene: Scene) -> Ground:
        bare = Scene(tuple(o for o in scene.objects if o.kind is Kind.FIXTURE), (), (), 0.0)
        if bare not in self._grounds:
            shapes = self._shapes(bare, None)
            self._grounds[bare] = Ground(
                id=f'{self._prefix}g{len(self._grounds)}',
                width=self.width,
                height=self.height,
                shapes=frozenset(shapes),
                markup=self._inks.draw(shapes),
            )
        return self._grounds[bare]

    def _shapes(self, scene: Scene, before: Scene | None) -> tuple[Flat, ...]:
        reach = reach_ring()
        return draw_scene(scene, self._view, (0, 0), reach_m=reach, before=before).shapes


class HouseDrawings:
    """Draws households; keeps each different one once."""

    grounds: tuple[Ground, ...] = ()
    """None: only what a scene has of a house is drawn."""

    def __init__(self, inks: Inks, prefix: str = ''):
        """
        Begin without drawings.

        Args:
            inks: The paints, which all drawings of a page share.
            prefix: Begins the ids, so that they differ from those of other drawings.
        """
        self._inks = inks
        self._prefix = prefix
        self._drawings: dict[tuple[Flat, ...], Drawing] = {}

    @property
    def unique(self) -> tuple[Drawing, ...]:
        """All different drawings."""
        return tuple(self._drawings.values())

    def draw(self, scene: Scene, before: Scene | None) -> Drawing:
        """
        Draw a household.

        Args:
            scene: The last scene.
            before: The first scene.
        """
        panel = draw_floor_plan(
            scene, HOUSE_PX, before=before, columns=HOUSE_COLUMNS, changes_only=True
        )
        if panel.shapes not in self._drawings:
            self._drawings[panel.shapes] = Drawing(
                id=f'{self._prefix}d{len(self._drawings)}',
                ground='',
                width=HOUSE_PX,
                height=round(panel.height, 1),
                markup=self._inks.draw(panel.shapes),
                away=(),
            )
        return self._drawings[panel.shapes]


@dataclass(frozen=True, slots=True)
class Scenes:
    """What a journal shows of the table; None where it does not."""

    before: Scene | None = None
    after: Scene | None = None


def read_scenes(path: Path | None) -> Scenes:
    """
    Read the scenes of a journal.

    Pictures only gain by them, so a journal that is gone or damaged gives none and no error.
    """
    if path is None:
        return Scenes()
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return Scenes()
    found: dict[str, Scene] = {}
    for line in lines:
        # The kind stands at the beginning of a line; most lines are something else.
        if _MARK in line[:80]:
            _take(line, found)
    return Scenes(found.get('before'), found.get('after'))


def _take(line: bytes, found: dict[str, Scene]) -> None:
    try:
        recorded = read_line(line.decode()).data
        if isinstance(recorded, SceneRecorded):
            found[recorded.moment] = recorded.scene
    except ValueError:
        return  # cut off by a crash, or of another version: the picture is drawn without it


def final_scene(settled: tuple[SceneObject, ...], scenes: Scenes) -> Scene:
    """
    Return the settled table with facts of the journal: out of reach, in the hand.

    Args:
        settled: Where everything came to rest.
        scenes: The journal's.
    """
    return Scene(settled, (), (*_facts(settled, scenes.after), *_facts(settled, scenes.before)), 0)


def _facts(settled: tuple[SceneObject, ...], scene: Scene | None) -> tuple[Fact, ...]:
    """Return the facts of a scene about what still is where it was then."""
    if scene is None:
        return ()
    known = {item.name: item.pose.position_m for item in scene.objects}
    still = {
        item.name
        for item in settled
        if item.name in known and math.dist(known[item.name], item.pose.position_m) < MOVED_M
    }
    return tuple(f for f in scene.facts if f.subject in still and f.predicate in _SHOWN)


_SHOWN = frozenset({'reachable', 'on', 'held_by'})
"""Predicates that drawings show."""


def _near(scene: Scene) -> Scene:
    objects = tuple(
        item
        for item in scene.objects
        if item.kind is Kind.FIXTURE
        or (item.kind is not Kind.HAND and math.hypot(*item.pose.position_m[:2]) < AWAY_M)
    )
    return replace(scene, objects=objects)


def _look(scene: Scene) -> object:
    """Return all of a scene that a drawing shows, rounded."""
    return (
        tuple(
            (
                item.name,
                item.kind,
                item.color,
                item.size_m,
                tuple(round(value, DECIMALS) for value in item.pose.position_m),
                # Both signs of a quaternion are the same turn.
                tuple(round(abs(value), 2) for value in item.pose.quat_xyzw),
                item.pose.quat_xyzw[2] * item.pose.quat_xyzw[3] > 0,
            )
            for item in scene.objects
            if item.kind is not Kind.HAND
        ),
        tuple(fact for fact in scene.facts if fact.predicate in _SHOWN),
    )
