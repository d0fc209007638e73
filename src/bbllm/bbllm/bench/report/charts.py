"""
Drawings of final tables and houses that share what they have in common.

Equal drawings are kept once, tables lie on a common ground, and all drawings share the CSS
classes of their paints.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
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
from bbllm.viz.view import view_of

WIDTH_PX = 420.0
"""Width of a drawing in its own units; cards show it at 300 to 500 px."""
HOUSE_PX = 340.0
"""The same of a house."""
HOUSE_COLUMNS = 2
AWAY_M = 1.3
"""What lies further from the robot than this would make the rest too small [m]."""
MOVED_M = 0.01
"""What came to rest further away than this has other facts than before [m]."""
DECIMALS = 3
"""Tables that agree to a millimetre have the same drawing."""
_MARK = f'"{EventKind.SCENE.value}"'.encode()
_SHOWN = frozenset({'reachable', 'on', 'held_by'})
"""Predicates that drawings show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One drawing, as far as it differs from the ground beneath; or such a ground."""

    id: str
    """Equal tables have equal drawings, and so the same id."""
    ground: str = ''
    """Id of what lies beneath; '' where nothing does."""
    width: float
    """In its own units [px]."""
    height: float
    markup: str
    away: tuple[str, ...] = ()
    """Names of objects that came to rest outside of the picture."""


class HouseDrawings:
    """Draws households, with paints that a page shares and ids that begin with *prefix*."""

    def __init__(self, inks: Inks, prefix: str = ''):
        self._inks = inks
        self._prefix = prefix
        self._drawings: dict[Hashable, Drawing] = {}

    @property
    def grounds(self) -> Sequence[Drawing]:
        """What lies beneath the drawings; of a house nothing does."""
        return ()

    @property
    def unique(self) -> Sequence[Drawing]:
        """All different drawings."""
        return tuple(self._drawings.values())

    def draw(self, scene: Scene, before: Scene | None) -> Drawing:
        """Draw the last scene of a household; what changed since the first one stands out."""
        panel = draw_floor_plan(
            scene, HOUSE_PX, before=before, columns=HOUSE_COLUMNS, changes_only=True
        )
        if panel.shapes not in self._drawings:
            self._drawings[panel.shapes] = Drawing(
                id=f'{self._prefix}d{len(self._drawings)}',
                width=HOUSE_PX,
                height=round(panel.height, 1),
                markup=self._inks.draw(panel.shapes),
            )
        return self._drawings[panel.shapes]


class Drawings(HouseDrawings):
    """Draws tables, all of *scenes* at the same scale; keeps each different one once."""

    def __init__(self, scenes: Iterable[Scene], inks: Inks, prefix: str = ''):
        super().__init__(inks, prefix)
        self._view = view_of([_near(scene) for scene in scenes], WIDTH_PX)
        self._width, self._height = round(self._view.width, 1), round(self._view.height, 1)
        self._grounds: dict[Scene, tuple[Drawing, frozenset[Flat]]] = {}

    @property
    def grounds(self) -> Sequence[Drawing]:
        """What lies beneath the drawings: tables, grid, reach and robot."""
        return tuple(ground for ground, _ in self._grounds.values())

    def draw(self, scene: Scene, before: Scene | None) -> Drawing:
        """Draw a table as it came to rest; objects that moved since *before* get a trace."""
        key = (_look(scene), None if before is None else _look(before))
        if key not in self._drawings:
            near = _near(scene)
            names = set(near.names)
            ground, beneath = self._ground(near)
            shapes = self._shapes(near, None if before is None else _near(before))
            self._drawings[key] = Drawing(
                id=f'{self._prefix}d{len(self._drawings)}',
                ground=ground.id,
                width=self._width,
                height=self._height,
                markup=self._inks.draw([shape for shape in shapes if shape not in beneath]),
                away=tuple(
                    item.name
                    for item in scene.objects
                    if item.name not in names and item.kind is not Kind.HAND
                ),
            )
        return self._drawings[key]

    def _ground(self, scene: Scene) -> tuple[Drawing, frozenset[Flat]]:
        bare = Scene(tuple(o for o in scene.objects if o.kind is Kind.FIXTURE), (), (), 0.0)
        if bare not in self._grounds:
            shapes = self._shapes(bare, None)
            name = f'{self._prefix}g{len(self._grounds)}'
            ground = Drawing(
                id=name, width=self._width, height=self._height, markup=self._inks.draw(shapes)
            )
            self._grounds[bare] = ground, frozenset(shapes)
        return self._grounds[bare]

    def _shapes(self, scene: Scene, before: Scene | None) -> tuple[Flat, ...]:
        reach = reach_ring()
        return draw_scene(scene, self._view, (0, 0), reach_m=reach, before=before).shapes


@dataclass(frozen=True, slots=True)
class Scenes:
    """What a journal shows of the table; None where it does not."""

    before: Scene | None = None
    after: Scene | None = None


def read_scenes(path: Path | None) -> Scenes:
    """Read the scenes of a journal; one that is gone or damaged gives none, and no error."""
    try:
        lines = path.read_bytes().splitlines() if path else []
    except OSError:
        lines = []
    found: dict[str, Scene] = {}
    for line in lines:
        # The kind stands at the beginning of a line; most lines are something else.
        if _MARK not in line[:80]:
            continue
        try:
            recorded = read_line(line.decode()).data
        except ValueError:
            continue  # cut off by a crash, or of another version: the picture is drawn without it
        if isinstance(recorded, SceneRecorded):
            found[recorded.moment] = recorded.scene
    return Scenes(found.get('before'), found.get('after'))


def final_scene(settled: tuple[SceneObject, ...], scenes: Scenes) -> Scene:
    """Return the settled table with facts of the journal: out of reach, in the hand."""
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


def _near(scene: Scene) -> Scene:
    objects = tuple(
        item
        for item in scene.objects
        if item.kind is Kind.FIXTURE
        or (item.kind is not Kind.HAND and math.hypot(*item.pose.position_m[:2]) < AWAY_M)
    )
    return replace(scene, objects=objects)


def _look(scene: Scene) -> Hashable:
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
