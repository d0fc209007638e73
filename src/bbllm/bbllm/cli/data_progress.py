"""How the making of a data set is shown: a bar on a terminal, else a line now and then."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from bbllm.cli.output import Output

if TYPE_CHECKING:
    from bbllm.bench.data.collecting import Collected

EPISODES_A_LINE = 10
"""How often there is a line where nobody watches."""


class PairsView:
    """
    Shows how many pairs there are.

    Args:
        output: Where words go.
        wanted: How many pairs there shall be.
    """

    def __init__(self, output: Output, wanted: int):
        self._output = output
        self._bar: Progress | None = None
        if output.live:
            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(30),
                TextColumn('{task.description}'),
                console=output.console,
                transient=True,
            )
            self._bar.add_task('beginning ...', total=wanted)

    def __enter__(self) -> PairsView:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

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
