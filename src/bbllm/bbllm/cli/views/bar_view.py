"""The bar of long work: on a terminal only, and gone when the work is done."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from bbllm.cli.views.output import Output

_BAR_WIDTH = 30
_View = TypeVar('_View', bound='BarView')


class BarView:
    """
    What views of long work share; to be used with `with`.

    Args:
        output: Where words go.
        total: How much there is to do; None if that is not yet counted.
    """

    def __init__(self, output: Output, total: int | None = None):
        self._output = output
        self._bar: Progress | None = None
        if output.live:
            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(_BAR_WIDTH),
                TextColumn('{task.description}', markup=False),
                console=output.console,
                transient=True,
            )
            self._bar.add_task('beginning ...', total=total)

    def __enter__(self: _View) -> _View:
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

    def show_count(self, done: int, total: int, description: str) -> None:
        """Show how much is done, as in `3 of 9 frames drawn`."""
        if self._bar is not None:
            text = f'{done} of {total} {description}'
            self._bar.update(self._bar.task_ids[0], completed=done, total=total, description=text)
