"""
The detector `blocks`: boxes and cylinders by shape, size and colour.

No learned weights: OpenCV, and the catalogue. Colour edges give where faces end, to a fraction of
a pixel; depth gives at which height they are; the catalogue gives their true sizes, so that a fit
has x, y and yaw alone to find. docs/blocks.md has the steps and their figures.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from bbllm.core.text import listed
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm.scene.transforms import compose, inverse, multiply
from bbllm_vision.detectors.colors import lab_of_words
from bbllm_vision.detectors.edge_fit import EdgeFit
from bbllm_vision.detectors.forms import Form, classes_of, forms_of
from bbllm_vision.detectors.regions import ColorRegion, rectangle_of
from bbllm_vision.detectors.search import LEAST_HEIGHT_M, Search

Array = NDArray[np.float64]
Shape = tuple[bool, tuple[float, float], float]
"""Whether a top is round, its extents and its height above the bottom [m]."""

MOST_HEIGHT_M = 0.6
"""Of a face above the table [m]."""
DEPTH_ERROR_M = 0.016
"""Of the mean depth of a face: four times its rms at 1.4 m, where errors are correlated [m]."""
LEAST_RISE = 0.4
"""
Share of the height of a form that the mean of what shows it rises to at least.

The mean over a top and its sides is above half of it. What is flat on the table, such as a marker
of a place, stays below it: for a cube of 4 cm, 0.4 is four times the rms of the mean depth.
"""
SIZE_ERROR_M = 0.010
"""By how much the rectangle around a region may differ from the top of a form [m]."""
MOST_HIDDEN = 0.6
"""Share of a face along a side that may be behind the robot."""
MERGED_BELOW = 0.9
"""Less of an outline is measured where top and sides are of one colour."""
LEAST_MEASURED = 0.5
"""Share of an outline where the face must end, for a detection."""
COLOR_ERROR = 45.0
"""Farthest distance of a colour from the one in the catalogue; black to white is 60."""
SHAPE_MARGIN = 0.25
"""Shapes whose scores are lower by more than this are left out of the choice."""
SHAPE_WEIGHT = 60.0
"""What a score counts beside a distance of colours."""
FOUND = (Kind.CUBE, Kind.CYLINDER)
APART_M = 0.02
"""Middles of two objects are farther apart than this [m]."""
TOP_LEVELS = 4
"""So many objects on top of each other."""
MOST_HEIGHTS = 4
"""So many different heights of objects, the most common ones, are summed for what is below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Face:
    """A top face that was fitted: what may be on the table there."""

    shape: Shape
    fit: EdgeFit
    z_m: float
    """Of the top [m]."""
    forms: tuple[Form, ...]
    """Those with this shape."""

    @property
    def score(self) -> float:
        return _score(self.fit)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """A height that objects on other objects may rest at."""

    z_m: float
    surprise: float
    """Negative logarithm of how common objects of the heights in it are."""

    def unlikely(self, seen_m: float) -> float:
        return 0.5 * ((seen_m - self.z_m) / (DEPTH_ERROR_M / 4)) ** 2 + self.surprise


class BlocksDetector:
    """
    Finds the objects of a catalogue in a picture with depth; see `Detector`.

    Args:
        catalogue: What may be there; entries of equal kind, size and colour are one class, and
            those of other kinds than box and cylinder are left out (`others_of`).
        fixtures: Tables. Objects are looked for above them, and their colour, as the scene file
            has it, is the reference for all other colours.
    """

    name = 'blocks'

    def __init__(self, catalogue: Catalogue, fixtures: Sequence[SceneObject]) -> None:
        self._classes = tuple(of for of in classes_of(catalogue) if of.kind in FOUND)
        self._fixtures = tuple(fixtures)
        self._shapes: dict[Shape, list[Form]] = {}
        for form in forms_of(self._classes):
            self._shapes.setdefault((form.round, form.top_m, form.height_m), []).append(form)
        self._known_lab = lab_of_words([of.color for of in self._classes])
        self._levels = _levels([of.size_m[2] for of in self._classes for _ in of.names])

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        """
        Return what the picture shows, each pose in the picture's optical frame.

        Args:
            image: The picture.
            T_world_camera: Pose of its optical frame.
            ignored: Whether a pixel shows something else, such as the robot
                (`arm_mask.arm_mask`), shape (height, width).
        """
        search = Search(self._fixtures, image, T_world_camera, ignored)
        spots: list[tuple[_Face, ...]] = []
        for region in search.segmentation.regions:
            if LEAST_HEIGHT_M < region.height_m < MOST_HEIGHT_M:
                faces = self._faces(search, region)
                if faces:
                    spots.append(faces)
        kept: list[tuple[_Face, ...]] = []
        for faces in sorted(spots, key=lambda faces: -faces[0].score):
            if all(_apart(faces[0], others[0]) for others in kept):
                kept.append(faces)
        T_camera_world = inverse(T_world_camera)
        return tuple(
            Detection(
                name=form.of.name,
                position_m=pose.position_m,
                quat_xyzw=pose.quat_xyzw,
                confidence=float(min(1.0, face.fit.measured)),
            )
            for face, form in self._named(search, kept)
            for pose in (compose(T_camera_world, _pose(face, form)),)
        )

    def _faces(self, search: Search, region: ColorRegion) -> tuple[_Face, ...]:
        """Return the shapes that fit a region about equally well, the best first."""
        near = search.color_distances_of(region, self._known_lab) < COLOR_ERROR
        found: list[_Face] = []
        for merged in (False, True):
            for shape, forms in self._shapes.items():
                likely = [form for form in forms if near[self._classes.index(form.of)]]
                face = self._face(search, region, shape, likely, merged) if likely else None
                if face is not None:
                    found.append(face)
            if any(face.fit.measured >= MERGED_BELOW for face in found):
                break
        found.sort(key=lambda face: -face.score)
        return tuple(face for face in found if face.score > found[0].score - SHAPE_MARGIN)

    def _face(
        self, search: Search, region: ColorRegion, shape: Shape, forms: list[Form], merged: bool
    ) -> _Face | None:
        """
        Fit a shape to a region; None where it is none of that shape.

        *merged*: top and sides are of one colour, as those of what is black are.
        """
        is_round, (a, b), height_m = shape
        if region.height_m < LEAST_RISE * height_m:
            return None
        z_m = height_m
        if region.height_m > height_m + DEPTH_ERROR_M:
            z_m = self._snapped(region.height_m, height_m)
        labels = search.segmentation.labels
        middle, sides, yaw = rectangle_of(region, labels, search.view, z_m)
        wide, narrow = max(sides), min(sides)
        turn = yaw if sides[0] >= sides[1] else yaw + math.pi / 2  # its longer side is along x
        lacks = (max(a - wide, 0.0), max(b - narrow, 0.0))
        if max(lacks) > SIZE_ERROR_M:
            toward = search.hidden_beside(region, z_m)
            if toward is None or max(a - wide, b - narrow) > MOST_HIDDEN * min(a, b):
                return None
            middle = _shifted(middle, turn, lacks, toward - middle)
        side_m = search.visible_side_m(middle, height_m)
        if wide > max(a, b) + SIZE_ERROR_M + side_m or narrow > min(a, b) + SIZE_ERROR_M + side_m:
            return None
        is_top = wide < max(a, b) + SIZE_ERROR_M and narrow < min(a, b) + SIZE_ERROR_M
        if not merged and not (is_top and region.height_m > height_m - DEPTH_ERROR_M):
            return None
        outline = forms[0].silhouette if merged else forms[0].corners
        start = (float(middle[0]), float(middle[1]), 0.0 if is_round else turn)
        fit = search.fit(
            lambda x_m, y_m, yaw_rad: outline(x_m, y_m, yaw_rad, z_m), start, turns=not is_round
        )
        if fit is None or fit.measured < LEAST_MEASURED:
            return None
        at = (fit.x_m, fit.y_m, fit.yaw_rad, z_m)
        if fit.measured < MERGED_BELOW and not search.explains(
            region, outline(*at), forms[0].silhouette(*at), fit.color
        ):
            return None
        return _Face(shape=shape, fit=fit, z_m=z_m, forms=tuple(forms))

    def _snapped(self, seen_m: float, height_m: float) -> float:
        """Return the height of a top on other objects: what depth gives, or heights in sum."""
        likely = min(
            self._levels, key=lambda level: level.unlikely(seen_m - height_m), default=None
        )
        if likely is None or abs(likely.z_m + height_m - seen_m) > DEPTH_ERROR_M:
            return seen_m
        return likely.z_m + height_m

    def _named(self, search: Search, spots: Sequence[Sequence[_Face]]) -> list[tuple[_Face, Form]]:
        """
        Give each spot the class with the nearest colour and shape.

        All spots are decided together, and each class is given as often as it is there.
        """
        if not spots:
            return []
        slots = [index for index, of in enumerate(self._classes) for _ in of.names]
        cost = np.full((len(spots), len(slots)), 2 * COLOR_ERROR)
        chosen: dict[tuple[int, int], tuple[_Face, Form]] = {}
        for row, faces in enumerate(spots):
            for face in faces:
                shape_cost = SHAPE_WEIGHT * (faces[0].score - face.score)
                distance = search.color_distances_at(face.fit, face.z_m, self._known_lab)
                for column, index in enumerate(slots):
                    form = next((f for f in face.forms if f.of is self._classes[index]), None)
                    if form is None or distance[index] > COLOR_ERROR:
                        continue
                    if distance[index] + shape_cost < cost[row, column]:
                        cost[row, column] = distance[index] + shape_cost
                        chosen[row, index] = (face, form)
        return [
            chosen[row, slots[column]]
            for row, column in zip(*linear_sum_assignment(cost), strict=True)
            if cost[row, column] < 2 * COLOR_ERROR
        ]


def others_of(catalogue: Catalogue) -> str:
    """Return which objects of a catalogue `blocks` does not find, as a sentence; '' for none."""
    others = [entry.name for entry in catalogue.entries if entry.kind not in FOUND]
    if not others:
        return ''
    return f'The detector blocks finds cubes and cylinders alone, and not {listed(others)}.'


def _levels(heights_m: Sequence[float]) -> tuple[_Level, ...]:
    """Return sums of the heights of a few objects, which others may stand on [m]."""
    counts = Counter(round(height, 4) for height in heights_m)
    common = counts.most_common(MOST_HEIGHTS)
    sums: dict[float, float] = {}
    for number in range(1, TOP_LEVELS):
        for chosen in itertools.combinations_with_replacement(common, number):
            z_m = round(sum(height for height, _ in chosen), 4)
            surprise = -sum(math.log(count / len(heights_m)) for _, count in chosen)
            sums[z_m] = min(surprise, sums.get(z_m, math.inf))
    return tuple(_Level(z_m=z_m, surprise=surprise) for z_m, surprise in sums.items())


def _shifted(middle: Array, turn_rad: float, lacks_m: tuple[float, float], toward: Array) -> Array:
    """Return the middle of a rectangle that is longer by *lacks_m*, on the side of a direction."""
    along = np.array([math.cos(turn_rad), math.sin(turn_rad)])
    across = np.array([-along[1], along[0]])
    for axis, lack_m in ((along, lacks_m[0]), (across, lacks_m[1])):
        middle = middle + 0.5 * lack_m * np.sign(toward @ axis) * axis
    return middle


def _score(fit: EdgeFit) -> float:
    return fit.measured - fit.rms_px


def _apart(one: _Face, other: _Face) -> bool:
    gap_m = math.hypot(one.fit.x_m - other.fit.x_m, one.fit.y_m - other.fit.y_m)
    return gap_m > APART_M or abs(one.z_m - other.z_m) > APART_M


def _pose(face: _Face, form: Form) -> Pose:
    """Return the pose of an object whose top is a face, world frame."""
    half = face.fit.yaw_rad / 2
    return Pose(
        position_m=(float(face.fit.x_m), float(face.fit.y_m), face.z_m - form.height_m / 2),
        quat_xyzw=multiply((0.0, 0.0, math.sin(half), math.cos(half)), form.quat_xyzw),
    )
