"""
Names of objects that look alike, which stay the same over time.

A detector reports classes; several objects may be of one class. Between it and the
`SightingReader`, each detection of such a class gets the name of one object, in this order:

1. Objects at their last place: detections within the gate, by the least sum of distances.
2. Objects that are not at their last place, although the camera can see it: they have moved.
3. Objects that were never seen: names in the order of the catalogue, detections from left to
   right as seen from the robot's base (y descending, then x ascending).
4. Objects whose last place is hidden, and then the one in the hand: only where no other name of
   the class is left, since what is hidden is most likely where it was.

So two objects that look alike do not swap names while the hand hides one of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from bbllm.core.types import Pose
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import compose
from bbllm.skills.shapes import Vector
from bbllm_vision.detectors.forms import classes_of
from bbllm_vision.detectors.sight import Hidden

GATE_M = 0.03
"""An object within this of its last place has not moved: less than the least object [m]."""


def _nowhere(_: Vector) -> bool:
    return False


class Identities:
    """Gives detections the names of objects; keeps where each object was seen last."""

    def __init__(self, catalogue: Catalogue, *, gate_m: float = GATE_M) -> None:
        self._names = {of.name: of.names for of in classes_of(catalogue)}
        self._gate_m = gate_m
        self._last: dict[str, Vector] = {}

    def named(
        self,
        detections: Sequence[Detection],
        T_world_camera: Pose,
        hidden: Hidden = _nowhere,
        *,
        known: Mapping[str, Vector] | None = None,
        held: str | None = None,
    ) -> tuple[Detection, ...]:
        """
        Return detections with names of objects, in their order; those without one are left out.

        A class has at most as many as the catalogue; detections of unknown classes stay as they
        are.

        Args:
            detections: Of one picture, in the camera's optical frame.
            T_world_camera: Pose of that frame.
            hidden: Whether the camera cannot see a place.
            known: Where objects are by another source, such as where the hand has put them,
                world frame; it counts in place of where they were seen [m].
            held: The object in the hand.
        """
        self._last.update(known or {})
        names: dict[int, str] = {}
        groups: dict[str, list[int]] = {}
        for index, detection in enumerate(detections):
            groups.setdefault(detection.name, []).append(index)
        for of, indices in groups.items():
            own = self._names.get(of)
            if own is None:
                names |= dict.fromkeys(indices, of)
                continue
            surest = sorted(indices, key=lambda index: -detections[index].confidence)[: len(own)]
            placed = {
                index: _placed(detections[index], T_world_camera) for index in sorted(surest)
            }
            names |= self._assigned(placed, own, held, hidden)
        for index, name in names.items():
            if detections[index].name in self._names:
                self._last[name] = _placed(detections[index], T_world_camera)
        return tuple(
            replace(detection, name=names[index])
            for index, detection in enumerate(detections)
            if index in names
        )

    def _assigned(
        self,
        placed: Mapping[int, Vector],
        names: Sequence[str],
        held: str | None,
        hidden: Hidden,
    ) -> dict[int, str]:
        """Return a name for each detection of one class."""
        seen = [name for name in names if name in self._last and name != held]
        found = self._nearest(placed, seen, self._gate_m)
        rest = {index: item for index, item in placed.items() if index not in found}
        missing = [name for name in seen if name not in found.values()]
        covered = [name for name in missing if hidden(self._last[name])]
        moved = self._nearest(rest, [n for n in missing if n not in covered], math.inf)
        found |= moved
        new = [name for name in names if name not in self._last and name != held]
        last = [*new, *covered, *([held] if held in names else [])]
        left = [index for index in rest if index not in moved]
        left.sort(key=lambda i: (-placed[i][1], placed[i][0]))
        return found | dict(zip(left, (name for name in last if name is not None), strict=False))

    def _nearest(
        self, placed: Mapping[int, Vector], names: Sequence[str], gate_m: float
    ) -> dict[int, str]:
        """Assign by the least sum of distances, none of which is beyond the gate."""
        if not placed or not names:
            return {}
        indices = list(placed)
        distance = np.array(
            [[math.dist(placed[index], self._last[name]) for name in names] for index in indices]
        )
        # Beyond the gate everything costs the same, and more than any pairs within it.
        cost = np.where(distance <= gate_m, distance, 1e3)
        rows, columns = linear_sum_assignment(cost)
        return {
            indices[row]: names[column]
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
            if distance[row, column] <= gate_m
        }


def _placed(detection: Detection, T_world_camera: Pose) -> Vector:
    """Return where a detection is in the world [m]."""
    return compose(T_world_camera, Pose(position_m=detection.position_m)).position_m
