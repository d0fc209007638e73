"""Which part of the table a picture shows, and where its points lie in it."""

from collections.abc import Iterable
from dataclasses import dataclass

from bbllm.core.types import Kind, Scene
from bbllm.skills.shapes import outline
from bbllm_viewer.viz.shapes import Point

MARGIN_M = 0.09
BASE_M = 0.075
"""Radius of the robot's foot in the picture [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What part of the table a panel shows, and how large."""

    x_min: float
    """In the world frame [m]."""
    x_max: float
    y_min: float
    y_max: float
    scale: float
    """Pixels for a metre."""

    @property
    def width(self) -> float:
        """Of the panel [px]."""
        return (self.y_max - self.y_min) * self.scale

    @property
    def height(self) -> float:
        """Of the panel [px]."""
        return (self.x_max - self.x_min) * self.scale

    def at(self, x: float, y: float) -> Point:
        """Return where a point of the world frame lies in the panel [m] -> [px]."""
        return ((self.y_max - y) * self.scale, (self.x_max - x) * self.scale)


def view_of(scenes: Iterable[Scene], width: float) -> View:
    """Return a view of a given width [px] that shows the robot and all objects of all scenes."""
    points = [(-BASE_M, 0.0), (0.5, -0.4), (0.5, 0.4)]
    for item in (item for scene in scenes for item in scene.objects):
        if item.kind is not Kind.FIXTURE:
            points.append(item.pose.position_m[:2])
        if item.kind is Kind.CONTAINER:
            # What is wider than a hand would reach over the margin.
            points += outline(item)
    xs, ys = zip(*points, strict=True)
    y_min, y_max = min(ys) - MARGIN_M, max(ys) + MARGIN_M
    return View(
        x_min=min(xs) - 0.06,
        x_max=max(xs) + MARGIN_M,
        y_min=y_min,
        y_max=y_max,
        scale=width / (y_max - y_min),
    )
