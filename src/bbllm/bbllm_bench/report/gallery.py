"""One card for each episode: how its table or house was left, and why that passed or not."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from bbllm.core.events import EventKind, SceneRecorded
from bbllm.core.journal import read_line
from bbllm.core.types import Fact, Kind, Scene, SceneObject
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.log.run_settings import TaskSettings
from bbllm_bench.log.store import EPISODES, SavedRun
from bbllm_bench.report import words
from bbllm_viewer.viz.floor_plan import draw_floor_plan
from bbllm_viewer.viz.shapes import Flat
from bbllm_viewer.viz.svg import Inks
from bbllm_viewer.viz.table import draw_scene
from bbllm_viewer.viz.view import View, view_of

VERDICTS = ('passed', 'failed', 'lost')
WIDTH_PX = 420.0
"""Width of a drawing in its own units; cards show it at 300 to 500 px."""
HOUSE_PX = 340.0
"""The same of a house."""
HOUSE_COLUMNS = 2
WHOLE_HOUSE_PX = 1000.0
"""The same of a house with all that is in it."""
AWAY_M = 1.3
"""What lies further from the robot than this would make the rest too small [m]."""
MOVED_M = 0.01
"""What came to rest further away than this has other facts than before [m]."""
_MARK = f'"{EventKind.SCENE.value}"'.encode()
_SHOWN = frozenset({'reachable', 'on', 'held_by'})
"""Predicates that drawings show."""


# --- drawings: equal ones are kept once, and all share their paints -----------------------------


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
        return self._inks.rules

    @property
    def unique(self) -> Sequence[Drawing]:
        return tuple(self._by_markup.values())

    def draw_house(self, scene: Scene, before: Scene | None) -> Drawing:
        """Draw what changed in the last scene of a household, in its rooms."""
        panel = draw_floor_plan(
            scene, HOUSE_PX, before=before, columns=HOUSE_COLUMNS, changes_only=True
        )
        return self._kept(panel.shapes, HOUSE_PX, panel.height)

    def draw_whole_house(self, scene: Scene, before: Scene | None) -> Drawing:
        """Draw a household with all that is in it; what changed stands out."""
        panel = draw_floor_plan(scene, WHOLE_HOUSE_PX, before=before)
        return self._kept(panel.shapes, WHOLE_HOUSE_PX, panel.height)

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


def read_scenes(path: Path | None) -> dict[str, Scene]:
    """Read the scenes of a journal by moment; one that is gone or damaged gives none."""
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
    return found


def final_scene(settled: tuple[SceneObject, ...], scenes: Mapping[str, Scene]) -> Scene:
    """Return the settled table with facts of the journal: out of reach, in the hand."""
    seen = [scenes[moment] for moment in ('after', 'before') if moment in scenes]
    return Scene(settled, (), tuple(fact for scene in seen for fact in _facts(settled, scene)), 0)


def _facts(settled: tuple[SceneObject, ...], scene: Scene) -> list[Fact]:
    """Return the facts of a scene about what still is where it was then."""
    known = {item.name: item.pose.position_m for item in scene.objects}
    still = {
        item.name
        for item in settled
        if item.name in known and math.dist(known[item.name], item.pose.position_m) < MOVED_M
    }
    return [f for f in scene.facts if f.subject in still and f.predicate in _SHOWN]


# --- cards ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the gallery shows of one episode, beside its result."""

    result: EpisodeResult
    page: str
    """Relative address of its page, or of a journal that none could be made of; '' without one."""
    drawing: Drawing | None
    away: tuple[str, ...] = ()
    """Names of objects that came to rest outside of the picture."""


@dataclass(frozen=True, slots=True)
class CardGroup:
    """The cards of one task, drawn at one scale."""

    task: TaskSettings
    cards: tuple[Card, ...]
    tally: str
    """How many of each verdict, in words."""


@dataclass(frozen=True, slots=True)
class Gallery:
    """All cards."""

    groups: tuple[CardGroup, ...]
    drawings: Drawings
    in_houses: bool


def make_gallery(run: SavedRun) -> Gallery:
    """Return a card with a drawing for every episode of a run."""
    drawings, in_houses = Drawings(), run.settings.world == 'household'
    groups = []
    for task in run.settings.tasks:
        results = [result for result in run.results if result.key.task == task.name]
        cards = (_houses if in_houses else _tables)(run, results, drawings)
        counts = Counter(result.verdict for result in results)
        tally = words.listed([f'{counts[name]} {name}' for name in VERDICTS if counts[name]])
        if cards:
            groups.append(CardGroup(task, tuple(cards), tally))
    return Gallery(tuple(groups), drawings, in_houses)


def _houses(run: SavedRun, results: list[EpisodeResult], drawings: Drawings) -> list[Card]:
    cards = []
    for result in results:
        scenes = read_scenes(run.journal(result.key))
        after, before = scenes.get('after'), scenes.get('before')
        drawing = drawings.draw_house(after, before) if after else None
        cards.append(Card(result=result, page=_address(run, result), drawing=drawing))
    return cards


def _tables(run: SavedRun, results: list[EpisodeResult], drawings: Drawings) -> list[Card]:
    shown: dict[EpisodeKey, tuple[Scene, Scene | None]] = {}
    for result in results:
        if result.settled:
            scenes = read_scenes(run.journal(result.key))
            shown[result.key] = final_scene(result.settled, scenes), scenes.get('before')
    view = table_view([scene for both in shown.values() for scene in both if scene])
    return [
        Card(
            result=result,
            page=_address(run, result),
            drawing=drawings.draw_table(*shown[result.key], view) if result.key in shown else None,
            away=tuple(item.name for item in result.settled if is_far(item)),
        )
        for result in results
    ]


def _address(run: SavedRun, result: EpisodeResult) -> str:
    journal = run.journal(result.key)
    if journal is None:
        return ''
    page = run.page(result.key)
    return f'{EPISODES}/{quote((page if page.is_file() else journal).name)}'


def information_of(result: EpisodeResult) -> str:
    """Return whether what had to be found out was, and why; '' where nothing had to be."""
    if result.informed is None:
        return ''
    text = f'{"Informed" if result.informed else "Not informed"}: {result.information}'
    text = text.rstrip(': .') + '.'
    return f'{text} The planner ended as if it was done.' if result.false_success else text


def figures_of(result: EpisodeResult, *, timed: bool) -> str:
    """Return loops, steps, calls and times in one line."""
    parts = [
        f'{words.plural(result.loops, "loop")} (least {result.least_loops})',
        f'{result.executable} of {words.plural(result.attempted, "step")} carried out',
        words.plural(result.model_calls, 'model call'),
        words.plural(result.tokens, 'token'),
    ]
    if timed:
        parts.append(f'{words.duration(result.robot_s)} of robot time')
    if result.passes:
        parts.append(f'{words.plural(result.passes, "step")} passed over')
    if result.unsafe:
        parts.append(words.plural(result.unsafe, 'unsafe command'))
    return ' · '.join(parts)
