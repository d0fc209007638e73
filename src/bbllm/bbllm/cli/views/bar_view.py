"""The bar of long work: on a terminal only, and gone when the work is done."""

from __future__ import annotations

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from bbllm.cli.views.output import Output

_BAR_WIDTH = 30


class BarView:
    """
    A bar that is shown within `with`, and the words beside it.

    Args:
        output: Where words go.
        total: How much there is to do; None if that is not yet counted.
    """

    def __init__(self, output: Output, total: int | None = None):
        self.live = output.live
        self._output = output
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(_BAR_WIDTH),
            TextColumn('{task.description}', markup=False),
            console=output.console,
            transient=True,
            disable=not self.live,
        )
        self._task = self._bar.add_task('beginning ...', total=total)

    def __enter__(self) -> BarView:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.live:
            self._bar.stop()

    def show(self, done: int, text: str, total: int | None = None) -> None:
        """Show how much is done, in words too; *total* where it has become known."""
        self._bar.update(self._task, completed=done, total=total, description=text)

    def print(self, text: str, style: str = '') -> None:
        if self.live:
            self._bar.console.print(text, style=style or None)
        else:
            self._output.print(text, style)
