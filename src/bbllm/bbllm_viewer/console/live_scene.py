"""The arm and the objects as the page draws them: once what they are, then where."""

from collections.abc import Iterable, Sequence

from bbllm.core.types import SceneObject
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.view3d.drawn_scene import DrawnScene, plain_row

PERIOD_S = 0.05
"""Between two pictures, wall clock [s]."""


class LiveScene:
    """Shows where the arm and the objects are; of one thread."""

    def __init__(self, feed: Feed):
        self._feed = feed
        self._kinds: tuple[object, ...] = ()
        """What there is to draw, apart from where it is."""
        self._drawn: DrawnScene | None = None

    def show(
        self, objects: Iterable[SceneObject], joints_rad: Sequence[float], width_m: float
    ) -> None:
        """Show objects, in the frame of the base, and the arm, with joints of shape (7,)."""
        objects = tuple(objects)
        kinds = tuple((item.name, item.kind, item.color, item.size_m) for item in objects)
        if self._drawn is None or kinds != self._kinds:
            self._kinds, self._drawn = kinds, DrawnScene(objects)
            self._feed.set('drawn', self._drawn.description)
        poses = {item.name: item.pose for item in objects}
        self._feed.set('qpos', plain_row(self._drawn.qpos(joints_rad, width_m, poses)))
