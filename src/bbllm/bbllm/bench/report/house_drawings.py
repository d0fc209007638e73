"""Drawings of households as episodes left them: what changed, and how much else there is."""

from __future__ import annotations

from bbllm.bench.report.charts import Drawing, Ground
from bbllm.bench.report.inline_svg import Flat, Inks
from bbllm.core.types import Scene
from bbllm.viz.floor_plan import draw_floor_plan

WIDTH_PX = 340.0
"""Width of a drawing in its own units; cards show it at 300 to 500 px."""
COLUMNS = 2


class HouseDrawings:
    """Draws households; keeps each different one once."""

    grounds: tuple[Ground, ...] = ()
    """Nothing lies beneath: what is not told of a house is not drawn."""

    def __init__(self, inks: Inks, prefix: str = ''):
        """
        Begin without drawings.

        Args:
            inks: The paints, which all drawings of a page share.
            prefix: Begins the ids, so that they differ from those of other drawings.
        """
        self._inks = inks
        self._prefix = prefix
        self._drawings: dict[tuple[Flat, ...], Drawing] = {}

    @property
    def unique(self) -> tuple[Drawing, ...]:
        """All different drawings."""
        return tuple(self._drawings.values())

    def draw(self, scene: Scene, before: Scene | None) -> Drawing:
        """
        Draw a household.

        Args:
            scene: What was known of it in the end.
            before: What was known at the start.
        """
        panel = draw_floor_plan(scene, WIDTH_PX, before=before, columns=COLUMNS, changes_only=True)
        if panel.shapes not in self._drawings:
            self._drawings[panel.shapes] = Drawing(
                id=f'{self._prefix}d{len(self._drawings)}',
                ground='',
                width=WIDTH_PX,
                height=round(panel.height, 1),
                markup=self._inks.draw(panel.shapes),
                away=(),
            )
        return self._drawings[panel.shapes]
