"""Drawings of final tables and houses; equal ones are kept once, and all share their paints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bbllm.core.events import EventKind, SceneRecorded
from bbllm.core.journal import read_line
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm.viz.floor_plan import draw_floor_plan
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
_SHOWN = frozenset({'reachable', 'on', 'held_by'})
"""Predicates that drawings show."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One drawing; equal tables have equal drawings, and so the same id."""

    id: str
    width: float
    """In its own units [px]."""
    height: float
    markup: str


class Drawings:
    """The different drawings of a page, with the CSS of their paints."""

    def __init__(self) -> None:
        self._inks = Inks()
        self._by_markup: dict[str, Drawing] = {}

    @property
    def rules(self) -> str:
        """CSS of all paints."""
        return self._inks.rules

    @property
    def unique(self) -> Sequence[Drawing]:
        """All different drawings."""
        return tuple(self._by_markup.values())

    def draw_house(self, scene: Scene, before: Scene | None) -> Drawing:
        """Draw the last scene of a household; what changed since the first one stands out."""
        panel = draw_floor_plan(
            scene, HOUSE_PX, before=before, columns=HOUSE_COLUMNS, changes_only=True
        )
        return self._kept(panel.shapes, HOUSE_PX, panel.height)

    def draw_table(self, scene: Scene, before: Scene | None, view: View) -> Drawing:
        """Draw a table as it came to rest; objects that moved since *before* get a trace."""
        panel = draw_scene(
            without_far(scene),
            view,
            (0, 0),
            before=None if before is None else without_far(before),
        )
        return self._kept(panel.shapes, view.width, view.height)

    def _kept(self, shapes: Sequence[Flat], width: float, height: float) -> Drawing:
        markup = self._inks.draw(shapes)
        new = Drawing(f'd{len(self._by_markup)}', round(width, 1), round(height, 1), markup)
        return self._by_markup.setdefault(markup, new)


def table_view(scenes: Sequence[Scene]) -> View:
    """Return the view that shows all of some tables at the same scale."""
    return view_of([without_far(scene) for scene in scenes], WIDTH_PX)


def without_far(scene: Scene) -> Scene:
    """Return a scene without the hand and without what lies far outside of the table."""
    objects = tuple(item for item in scene.objects if item.kind is not Kind.HAND)
    return replace(scene, objects=tuple(item for item in objects if not is_far(item)))


def is_far(item: SceneObject) -> bool:
    """Whether a thing lies outside of the picture."""
    away_m = math.hypot(*item.pose.position_m[:2])
    return item.kind not in (Kind.FIXTURE, Kind.HAND) and away_m >= AWAY_M


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
