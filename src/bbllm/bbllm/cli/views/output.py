"""A console that prints what stands in a text, and nothing that steers the terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.segment import Segment
from rich.text import Text

from bbllm.cli.views import StdoutError
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.rich_view import LiveView
from bbllm.core.text import escape_hidden, escape_line, json_text


class PlainConsole(Console):
    """
    A console for text from outside.

    Markup such as `[bold]` is printed as it stands, unless `markup` is set. Characters that are
    not visible are printed as text, whatever renderable they come in: only rich itself emits
    control sequences. Raises BrokenPipeError where the reader has gone away.
    """

    def __init__(self, *, stderr: bool = False, markup: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=markup, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make visible before the layout, so that tables and wrapped lines fit."""
        return super().render_str(escape_hidden(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_hidden(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Leave it to the command what happens."""
        raise BrokenPipeError


@contextmanager
def _unwritten() -> Iterator[None]:
    """Go on where words cannot be written, as on a full disk: the work and its result count."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise


class Output:
    """The two streams of one verb; with *json*, stdout carries exactly one JSON object."""

    def __init__(self, json: bool = False):
        self.json = json
        self.console = PlainConsole(stderr=json)
        """For people; wide without a terminal, so that lines are not broken."""
        self.live = self.console.is_terminal and not self.console.is_dumb_terminal
        """Whether a person watches on a terminal that can move its cursor."""
        self.console.soft_wrap = not self.live

    def print(self, text: str = '', style: str = '') -> None:
        with _unwritten():
            self.console.print(text, style=style or None)

    def print_line(self, text: str) -> None:
        """Print one line, however long: for programs that read the last one."""
        with _unwritten():
            self.console.print(text, soft_wrap=True)

    def print_item(self, text: str) -> None:
        """Print one line of a list; where it is wrapped, the rest is marked as such."""
        console, text = self.console, escape_line(text)
        if not self.live:
            self.print_line(f'  {text}')
            return
        for i, part in enumerate(Text(text).wrap(console, max(20, console.width - 8))):
            console.print(f'{"    ↳ " if i else "  "}{part.plain.rstrip()}', soft_wrap=True)

    def print_path(self, word: str, path: Path) -> None:
        """Print where something lies; in one piece, so that it can be clicked and copied."""
        self.print_line(f'  {word:<8} {path}')

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """State work that takes seconds: as a line that goes with the work, or that stays."""
        if not self.live:
            with suppress(BrokenPipeError):  # the work counts, also without a reader
                self.print(f'  {what} ...')
        with self.console.status(f'{what} ...') if self.live else nullcontext():
            yield

    @contextmanager
    def bar(self, total: int | None = None) -> Iterator[Callable[..., None]]:
        """
        Show a bar of long work on a terminal, gone when the work is done; elsewhere nothing.

        Yields what is called with `completed`, a `description` and, once it is known, `total`.
        """
        words = TextColumn('{task.description}', markup=False)
        progress = Progress(
            SpinnerColumn(), BarColumn(30), words, console=self.console, transient=True
        )
        with progress if self.live else nullcontext():
            yield partial(progress.update, progress.add_task('beginning ...', total=total))

    def view(self, clock: Callable[[], float] | None = None) -> LineView | LiveView:
        """Return what shows an episode: live on a terminal, else plain lines."""
        if self.live:
            return LiveView(self.console, clock)
        return LineView(sys.stderr if self.json else sys.stdout)

    def result(self, data: Mapping[str, object]) -> None:
        """Print the one object; does nothing where people read stdout."""
        if self.json:
            try:
                print(json_text(data), flush=True)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise StdoutError(error.errno, error.strerror) from error
