"""How the making of a data set is shown: a bar on a terminal, else a line now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbllm.cli.views.bar_view import BarView
from bbllm.cli.views.output import Output

if TYPE_CHECKING:
    from bbllm.bench.finetuning.collected import Collected

EPISODES_A_LINE = 10
"""How often there is a line where nobody watches."""


class PairsView(BarView):
    """
    Shows how many pairs there are.

    Args:
        output: Where words go.
        wanted: How many pairs there shall be.
    """

    def __init__(self, output: Output, wanted: int):
        super().__init__(output, wanted)

    def update(self, found: Collected) -> None:
        """Show that one more episode was played."""
        text = (
            f'{len(found.checked.pairs)} pairs, {found.checked.refused.total()} refused, '
            f'{found.episodes} episodes'
        )
        if self._bar is not None:
            (task,) = self._bar.task_ids
            self._bar.update(task, completed=len(found.checked.pairs), description=text)
        elif found.episodes % EPISODES_A_LINE == 0:
            self._output.say(text)
