"""
Fits everyday objects to their silhouette: unions of plain shapes, of `scene.object_models`.

The silhouette of each part is the hull of its points in the picture, so that a union of hulls is
that of the object. x, y and yaw with the greatest overlap (intersection over union) with the
pixels that differ from the table are found from the best of 24 yaws (Nelder and Mead).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from bbllm.core.types import Pose
from bbllm.scene.camera import Mask
from bbllm.scene.object_models import OBJECT_MODELS, ObjectModel
from bbllm.skills.shapes import rotation_of
from bbllm_vision.detectors.forms import AppearanceClass
from bbllm_vision.detectors.solids import Solid, outline_points
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
Pixels = NDArray[np.int32]
ROUND_KINDS = ('plate', 'bowl', 'orange', 'bottle', 'ketchup_bottle', 'can')
"""Kinds of `scene.object_models` that look the same however they are turned about z."""
CONVEX_KINDS = ('plate', 'bowl', 'box')
"""Kinds that look from above as the hull of all of their parts does."""
SCALE = 2
"""Silhouettes are drawn so many times larger than the picture."""
YAWS = 24
FINER = 2
"""So many of the best starts are refined."""
NEARLY = 0.06
"""A start whose overlap is lower than the best one's by more is not refined."""
BASIN_RAD = 1.5 * 2 * math.pi / YAWS
"""Starts with a smaller turn between them lead to the same fit [rad]."""
NEAR_RAD = 0.1
"""How far a fit is turned while it is refined, about [rad]."""
EVALUATIONS = 60
SUBPIXEL_BITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The points of an everyday object, by part, in its own frame."""

    of: AppearanceClass
    turns: bool
    """Whether yaw changes what it looks like."""
    quarter: bool
    """Whether half a turn does not (open boxes)."""
    points_m: Array = field(repr=False)
    """Shape (n, 3) [m]."""
    parts: tuple[tuple[int, int], ...]
    """Which of them are of each part: the first, and the one after the last."""
    colors: tuple[str, ...]
    """Of its parts, its own first."""

    @property
    def base_m(self) -> float:
        """How high its centre is above what it rests on [m]."""
        return self.of.size_m[2] / 2

    def pixels(
        self, view: CameraView, x_m: float, y_m: float, yaw_rad: float, z_m: float
    ) -> Array:
        """Return its points in the picture, shape (n, 2) [px]."""
        c, s = math.cos(yaw_rad), math.sin(yaw_rad)
        turned = self.points_m @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        return view.project(turned + np.array([x_m, y_m, z_m]))[:, :2]

    def points_at(self, pose: Pose) -> Array:
        """Return its points where its own frame has a pose, shape (n, 3) [m]."""
        turned = self.points_m @ np.array(rotation_of(pose)).T
        return np.asarray(turned + np.array(pose.position_m))

    def outermost(self, view: CameraView, near: SilhouetteFit, z_m: float) -> Template:
        """Return it with those points only that are on outlines near a fit."""
        kept: list[set[int]] = [set() for _ in self.parts]
        for yaw_rad in (near.yaw_rad - NEAR_RAD, near.yaw_rad, near.yaw_rad + NEAR_RAD):
            pixels = self.pixels(view, near.x_m, near.y_m, yaw_rad, z_m).astype(np.float32)
            for part, (begin, end) in zip(kept, self.parts, strict=True):
                hull = cv2.convexHull(pixels[begin:end], returnPoints=False)
                part.update((begin + hull[:, 0]).tolist())
        points = [self.points_m[sorted(part)] for part in kept]
        return replace(self, points_m=np.concatenate(points), parts=_bounds(points))


def template_of(of: AppearanceClass) -> Template | None:
    """Return the template of a class; None for boxes and cylinders, which have other fits."""
    if of.model is None:
        return None
    kind = _kind_of(of.model)
    parts = [
        outline_points(
            Solid(
                shape=part.shape,
                half_m=part.half_m,
                rotation=np.array(
                    rotation_of(Pose(position_m=part.at_m, quat_xyzw=part.quat_xyzw))
                ),
                at_m=np.array(part.at_m),
            )
        )
        for part in of.model.parts
    ]
    if kind in CONVEX_KINDS:
        points = np.concatenate(parts)
        parts = [points[ConvexHull(points).vertices]]
    colors = dict.fromkeys((of.color, *(part.color or of.color for part in of.model.parts)))
    return Template(
        of=of,
        turns=kind not in ROUND_KINDS,
        quarter=kind == 'box',
        points_m=np.concatenate(parts),
        parts=_bounds(parts),
        colors=tuple(colors),
    )


def _bounds(parts: Sequence[Array]) -> tuple[tuple[int, int], ...]:
    bounds = np.cumsum([0, *(len(points) for points in parts)]).tolist()
    return tuple(itertools.pairwise(bounds))


def _kind_of(model: ObjectModel) -> str:
    return next(kind for kind, known in OBJECT_MODELS.items() if known is model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Pixels that belong together, cut out of a picture."""

    left_px: int
    top_px: int
    mask: Mask
    """Shape (h, w), with a free rim."""
    hidden: Mask
    """Pixels that cannot tell, such as those of the robot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilhouetteFit:
    """Where a template fits best."""

    overlap: float
    """Intersection over union, from 0 to 1."""
    x_m: float
    y_m: float
    yaw_rad: float


class _Matcher:
    """One template on one blob."""

    def __init__(self, view: CameraView, template: Template, blob: Blob, z_m: float) -> None:
        self._view, self._template, self._z_m = view, template, z_m
        self._origin = np.array([blob.left_px, blob.top_px], dtype=float)
        self._seen = _larger(blob.mask)
        self._counts = _larger(~blob.hidden)
        self._seen_counts = self._seen & self._counts
        self._area = cv2.countNonZero(self._seen_counts)

    def hulls(self, template: Template, x_m: float, y_m: float, yaw_rad: float) -> list[Pixels]:
        """Return the outline of each part in the larger picture, with SUBPIXEL_BITS."""
        pixels = template.pixels(self._view, x_m, y_m, yaw_rad, self._z_m)
        scaled = (pixels - self._origin + 0.5) * SCALE - 0.5
        fixed = np.rint(scaled * (1 << SUBPIXEL_BITS)).astype(np.int32)
        return [cv2.convexHull(fixed[begin:end]) for begin, end in template.parts]

    def draw(self, hulls: Sequence[Pixels]) -> NDArray[np.uint8]:
        mask = np.zeros(self._seen.shape, np.uint8)
        for hull in hulls:
            cv2.fillConvexPoly(mask, hull, 1, cv2.LINE_8, SUBPIXEL_BITS)
        return mask

    def overlap(self, hulls: Sequence[Pixels]) -> float:
        drawn = self.draw(hulls)
        both = cv2.countNonZero(drawn & self._seen_counts)
        either = self._area + cv2.countNonZero(drawn & self._counts) - both
        return both / max(either, 1)

    def on_plane(self, at: Array) -> Array:
        """Return x and y of a larger picture's pixel at the height of the object's centre [m]."""
        pixel = (at + 0.5) / SCALE - 0.5 + self._origin
        return self._view.on_plane(pixel, self._z_m)

    def starts(self) -> list[SilhouetteFit]:
        """Return a fit for each yaw, its centroid on that of the blob, the best first."""
        middle = _centroid(self._seen)
        assert middle is not None  # a blob has pixels
        x, y = self.on_plane(middle)
        yaws = np.arange(YAWS) * (2 * math.pi / YAWS) if self._template.turns else np.zeros(1)
        if self._template.quarter:
            yaws = yaws[: YAWS // 2]
        found = []
        for yaw in yaws.tolist():
            hulls = self.hulls(self._template, x, y, yaw)
            own = _centroid(self.draw(hulls))
            if own is None:
                continue
            off = np.rint((middle - own) * (1 << SUBPIXEL_BITS)).astype(np.int32)
            overlap = self.overlap([hull + off for hull in hulls])
            dx, dy = self.on_plane(middle) - self.on_plane(own)
            found.append(SilhouetteFit(overlap=overlap, x_m=x + dx, y_m=y + dy, yaw_rad=yaw))
        return sorted(found, key=lambda fit: -fit.overlap)

    def refine(self, start: SilhouetteFit) -> SilhouetteFit:
        n = 3 if self._template.turns else 2
        scale = np.array([1e-3, 1e-3, 0.02])[:n]
        first = np.array([start.x_m, start.y_m, start.yaw_rad])[:n]
        outermost = self._template.outermost(self._view, start, self._z_m)

        def place(step: Array) -> list[float]:
            return [*(first + step * scale).tolist(), start.yaw_rad][:3]

        def loss(step: Array) -> float:
            return -self.overlap(self.hulls(outermost, *place(step)))

        simplex = np.vstack([np.zeros(n), 3.0 * np.eye(n)])
        options = {
            'initial_simplex': simplex, 'maxfev': EVALUATIONS, 'xatol': 0.05, 'fatol': 1e-4,
        }  # fmt: skip
        found = minimize(loss, np.zeros(n), method='Nelder-Mead', options=options)
        x, y, yaw = place(found.x)
        return SilhouetteFit(overlap=-float(found.fun), x_m=x, y_m=y, yaw_rad=yaw)


def fit_silhouette(
    view: CameraView, template: Template, blob: Blob, z_m: float, least_overlap: float
) -> SilhouetteFit | None:
    """Return the best fit of a template whose centre is at *z_m*; None where none is near."""
    matcher = _Matcher(view, template, blob, z_m)
    starts = matcher.starts()
    least = max(least_overlap, starts[0].overlap - NEARLY) if starts else 0.0
    starts = [
        fit
        for fit in starts
        if fit.overlap >= least
        and (fit is starts[0] or _turned(fit.yaw_rad - starts[0].yaw_rad) > BASIN_RAD)
    ][:FINER]
    return max((matcher.refine(fit) for fit in starts), key=lambda f: f.overlap, default=None)


def _turned(rad: float) -> float:
    return abs(math.remainder(rad, 2 * math.pi))


def _centroid(mask: NDArray[np.uint8]) -> Array | None:
    """Return the pixel in the middle of a mask, shape (2,); None where it is empty."""
    moments = cv2.moments(mask, True)
    return np.array([moments['m10'], moments['m01']]) / moments['m00'] if moments['m00'] else None


def _larger(mask: Mask) -> NDArray[np.uint8]:
    return mask.repeat(SCALE, axis=0).repeat(SCALE, axis=1).view(np.uint8)
