"""One picture while objects are searched for: its regions, its light, what a face explains."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.skills.shapes import outline, top_z
from bbllm_vision.detectors.colors import (
    Picture,
    color_distances,
    in_white_light,
    lab_of,
    light_of,
)
from bbllm_vision.detectors.edge_fit import EdgeFit, Outline, fit_outline
from bbllm_vision.detectors.regions import ColorRegion, Segmentation, segment
from bbllm_vision.detectors.views import CameraView

Array = NDArray[np.float64]
LEAST_HEIGHT_M = 0.008
"""Of the mean of what rises above the table: less is flat on it [m]."""
TABLE_CHANGE, LEAST_CHANGE = 28.0, 12.0
"""By how much an object differs from the table there in one colour: in full light, and in any; of
255."""
FULL_LIGHT = 220.0
"""Median of the brightest colour of all pixels in full light, of 255."""
LEAST_EXPLAINED = 0.9
"""
Share of what is in view of a face that has its colour, and of its region that is within it: both
are 1 for all of 475 faces that are where they are reported.
"""
MOST_TABLE = 0.2
"""Share of the sides of an object that may show the table."""
BESIDE_PX = 4
"""What is so near to a region may hide a part of it [px]."""


class Search:
    """One picture while objects are looked for in it."""

    def __init__(
        self,
        fixtures: Sequence[SceneObject],
        image: RgbdImage,
        T_world_camera: Pose,
        ignored: Mask | None,
    ) -> None:
        self.view = CameraView.of(image.intrinsics, T_world_camera)
        self.picture: Picture = np.ascontiguousarray(image.rgb)
        self.heights = self.view.heights(image.depth_m)
        shape = self.heights.shape
        self.ignored = np.zeros(shape, bool) if ignored is None else ignored
        self._above = _above(fixtures, self.view, shape)
        self._strength = _strength(self.picture, self._above)
        self.segmentation: Segmentation = segment(
            self.picture, self.heights, self.ignored | ~self._above, self._strength
        )
        table_color = fixtures[0].color if fixtures else 'burlywood'
        self.light = light_of(self.picture, self.segmentation.table, table_color)

    def fit(
        self, outline_at: Outline, start: tuple[float, float, float], *, turns: bool
    ) -> EdgeFit | None:
        """Fit an outline; see `edge_fit.fit_outline`."""
        return fit_outline(
            self.picture,
            self.ignored,
            self.view,
            outline_at,
            start,
            turns=turns,
            strength=self._strength,
        )

    def explains(
        self, region: ColorRegion, face_m: Array, silhouette_m: Array, color: Array
    ) -> bool:
        """
        Return whether a face that was fitted to a region is what the picture shows there.

        What is in view of the face has its colour, the region is within the face, and where the
        sides of the object would be the table is not. A side of an object whose top is hidden may
        fit as well as a top does, and fails one of these.

        Args:
            region: The region.
            face_m: Points whose convex hull in the picture is the face, shape (n, 3) [m].
            silhouette_m: The same of the face and its sides.
            color: Of the face, shape (3,).
        """
        hulls = [
            cv2.convexHull(self.view.project(points_m)[:, :2].astype(np.float32))[:, 0]
            for points_m in (face_m, silhouette_m)
        ]
        pixels = np.concatenate(hulls)
        left, top, width, height = region.box
        first = np.minimum(pixels.min(axis=0), (left, top)) - BESIDE_PX
        last = np.maximum(pixels.max(axis=0), (left + width, top + height)) + BESIDE_PX
        x0, y0 = np.maximum(first, 0).astype(int)
        x1, y1 = np.minimum(last, self.ignored.shape[::-1]).astype(int)
        used = np.s_[y0:y1, x0:x1]
        kernel = np.ones((3, 3), np.uint8)  # pixels at the rim are mixed
        masks = [np.zeros((y1 - y0, x1 - x0), np.uint8) for _ in hulls]
        for mask, hull in zip(masks, hulls, strict=True):
            cv2.fillConvexPoly(mask, np.rint(hull - (x0, y0)).astype(np.int32), 1)
        in_view = ~self.ignored[used]
        inside = (cv2.erode(masks[0], kernel) > 0) & in_view
        around = cv2.dilate(masks[0], kernel) > 0
        sides = (cv2.erode(masks[1], kernel) > 0) & ~around & in_view
        change = np.linalg.norm(self.picture[used][inside] - color, axis=1)
        same = change < max(LEAST_CHANGE, TABLE_CHANGE * self._strength)
        own = self.segmentation.labels[used] == region.label
        table = self.segmentation.table[used]
        return bool(
            np.count_nonzero(same) >= LEAST_EXPLAINED * max(len(same), 1)
            and np.count_nonzero(own & around) >= LEAST_EXPLAINED * np.count_nonzero(own)
            and np.count_nonzero(sides & table) <= MOST_TABLE * np.count_nonzero(sides)
        )

    def hidden_beside(self, region: ColorRegion, z_m: float) -> Array | None:
        """Return where on a plane what hides a region is, shape (2,) [m]; None: it is all free."""
        left, top, width, height = region.box
        x0, y0 = max(left - BESIDE_PX, 0), max(top - BESIDE_PX, 0)
        part = self.ignored[y0 : top + height + BESIDE_PX, x0 : left + width + BESIDE_PX]
        rows, columns = np.nonzero(part)
        if not len(rows):
            return None
        pixel = np.array([columns.mean() + x0, rows.mean() + y0])
        return self.view.on_plane(pixel, z_m)

    def color_distances_of(self, region: ColorRegion, known_lab: Array) -> Array:
        """Return how far the colour of a region is from known ones, shape (m,)."""
        left, top, width, height = region.box
        own = self.segmentation.labels[top : top + height, left : left + width] == region.label
        color = self.picture[top : top + height, left : left + width][own].mean(axis=0)
        lit = in_white_light(color, self.light, region.middle)
        return np.asarray(color_distances(lab_of(lit[None]), known_lab)[0])

    def color_distances_at(self, fit: EdgeFit, z_m: float, known_lab: Array) -> Array:
        """Return how far the colour of a face is from known ones, shape (m,)."""
        pixel = self.view.project(np.array([fit.x_m, fit.y_m, z_m]))[:2]
        lit = in_white_light(fit.color, self.light, pixel)
        return np.asarray(color_distances(lab_of(lit[None]), known_lab)[0])

    def visible_side_m(self, middle_m: Array, height_m: float) -> float:
        """Return how wide the side of an object looks, on the plane of its top [m]."""
        away_m = float(np.linalg.norm(middle_m - self.view.position_m[:2]))
        return 1.5 * height_m * away_m / max(float(self.view.position_m[2]) - height_m, 0.1)


def _strength(picture: Picture, above: Mask) -> float:
    """Return how bright a picture is, from 0 to 1: the table fills most of it."""
    brightest = picture[::8, ::8].max(axis=2)[above[::8, ::8]]
    return min(float(np.median(brightest)) / FULL_LIGHT, 1.0) if len(brightest) else 1.0


def _above(fixtures: Sequence[SceneObject], view: CameraView, shape: tuple[int, ...]) -> Mask:
    """Return which pixels show tables or what is on them; all of them without tables."""
    mask = np.zeros(shape, np.uint8)
    for table in fixtures:
        corners = np.array([(*corner, top_z(table)) for corner in outline(table)])
        pixels = view.project(corners)[:, :2].astype(np.float32)
        cv2.fillConvexPoly(mask, np.rint(cv2.convexHull(pixels)).astype(np.int32), 1)
    return mask.astype(bool) if fixtures else np.ones(shape, bool)
