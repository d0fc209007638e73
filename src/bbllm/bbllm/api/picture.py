"""A scene as a picture."""

from bbllm.core.types import Scene
from bbllm.viz.floor_plan import draw_floor_plan
from bbllm.viz.png import to_png
from bbllm.viz.shapes import Page
from bbllm.viz.table import draw_scene
from bbllm.viz.view import view_of

TABLE_PX = 480.0
HOUSE_PX = 1000.0


class Png(bytes):
    """A PNG file, which notebooks show as a picture."""

    def __repr__(self) -> str:
        return f'<PNG of {len(self)} bytes>'

    def _repr_png_(self) -> bytes:
        return bytes(self)


def picture_of(scene: Scene) -> Png:
    """Draw a table from above, or a house as its rooms."""
    if scene.domain == 'household':
        panel = draw_floor_plan(scene, HOUSE_PX, (0.0, 0.0))
    else:
        panel = draw_scene(scene, view_of([scene], TABLE_PX), (0.0, 0.0))
    page = Page(width=panel.width, height=panel.height, title='The scene', shapes=(panel,))
    return Png(to_png(page, scale=1.0))
