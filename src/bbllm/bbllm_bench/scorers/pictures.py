"""
What scenes from pictures are worth: their errors, and a judge that has nothing else.

The checker goes by the simulator's state whatever the planner is shown. Beside it the same
conditions are checked on the scene from pictures; on a real table nothing else can be checked.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject
from bbllm.scene.transforms import difference
from bbllm_bench.log.results import PictureResult
from bbllm_bench.suites.scores import Condition, Score

MATCH_M = 0.02
"""An object that a scene shows further from where it is does not count as found [m]."""
DETECTED = MOVABLE | {Kind.CONTAINER}


@dataclass(slots=True)
class PictureErrors:
    """Compares scenes from pictures with the state of the simulator, while an episode goes on."""

    names: Mapping[str, str] = field(default_factory=dict)
    """What pictures call an object, where that is not its name in the simulator."""
    scenes: int = 0
    present: int = 0
    shown: int = 0
    correct: int = 0
    _off_mm: list[float] = field(default_factory=list)
    _turned_deg: list[float] = field(default_factory=list)

    def add(self, seen: Scene, true: Scene) -> None:
        """Take in a scene and the state at the same moment; what is in the hand is left out."""
        true = renamed(true, self.names)
        held = {true.held, seen.held}
        there = {item.name: item for item in _detected(true) if item.name not in held}
        shown = [item for item in _detected(seen) if item.name not in held]
        self.scenes += 1
        self.present += len(there)
        self.shown += len(shown)
        found = {item.name: item for item in shown}
        for name, item in there.items():
            if (other := found.get(name)) and (off_m := _gap_m(item, other)) <= MATCH_M:
                self.correct += 1
                self._off_mm.append(1000 * off_m)
                if other.kind is Kind.CUBE:  # the symmetries of other shapes are not known
                    turned = (other.pose.quat_xyzw, item.pose.quat_xyzw, other.kind, other.size_m)
                    self._turned_deg.append(math.degrees(difference(*turned)))

    def result(self, score: Score, *, pictures: int, wall_s: float) -> PictureResult:
        """
        Return the figures of an episode.

        Args:
            score: Of the judge that goes by pictures.
            pictures: How many pictures were processed.
            wall_s: How long that took, wall clock [s].
        """
        off_mm, turned_deg = self._off_mm, self._turned_deg
        return PictureResult(
            accepted=score.passed,
            reason=score.reason,
            scenes=self.scenes,
            present=self.present,
            shown=self.shown,
            correct=self.correct,
            position_mm=round(median(off_mm), 3) if off_mm else None,
            position_p95_mm=round(float(np.percentile(off_mm, 95)), 3) if off_mm else None,
            turned_deg=round(median(turned_deg), 3) if turned_deg else None,
            pictures=pictures,
            wall_s=round(wall_s, 3),
        )


def bind_names(seen: Scene, true: Scene) -> dict[str, str]:
    """
    Return what a scene from pictures calls objects that only their names distinguish.

    Of objects of one kind, size and colour a camera cannot know the names, so that its own are as
    good: each is that of the nearest one. The result has only names that differ, by those of the
    simulator.
    """
    from scipy.optimize import linear_sum_assignment  # whoever reads a report needs no scipy

    groups: dict[object, list[SceneObject]] = {}
    for item in _detected(true):
        groups.setdefault((item.kind, item.size_m, item.color), []).append(item)
    shown = {item.name: item for item in _detected(seen)}
    bound: dict[str, str] = {}
    for alike in groups.values():
        found = [shown[item.name] for item in alike if item.name in shown]
        if len(alike) < 2 or not found:
            continue
        gaps = np.array([[_gap_m(true, other) for other in found] for true in alike])
        pairs = zip(*(side.tolist() for side in linear_sum_assignment(gaps)), strict=True)
        taken = {alike[row].name: found[column].name for row, column in pairs}
        # The names that no picture uses go to the objects that none shows.
        left = [item.name for item in alike if item.name not in taken.values()]
        hidden = [item.name for item in alike if item.name not in taken]
        bound |= taken | dict(zip(hidden, left, strict=True))
    return {name: other for name, other in bound.items() if name != other}


def renamed(scene: Scene, names: Mapping[str, str]) -> Scene:
    """Return a scene whose objects have other names, in its objects and its facts."""
    if not names:
        return scene

    def called(name: str) -> str:
        return names.get(name, name)

    return replace(
        scene,
        objects=tuple(replace(item, name=called(item.name)) for item in scene.objects),
        facts=tuple(
            replace(fact, subject=called(fact.subject), object=called(fact.object))
            for fact in scene.facts
        ),
    )


def unseen_score(names: Sequence[str]) -> Score:
    """Return the score of a table of which pictures do not show what the goal names."""
    fault = f'No picture showed {", ".join(names)}.'
    return Score((Condition('everything that the goal names was seen', fault),))


def _detected(scene: Scene) -> Iterator[SceneObject]:
    return (item for item in scene.objects if item.kind in DETECTED)


def _gap_m(one: SceneObject, other: SceneObject) -> float:
    return math.dist(one.pose.position_m, other.pose.position_m)
