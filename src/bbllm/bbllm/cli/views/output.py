"""Where words go: people read stdout; with --json, a program does, and people read stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from bbllm.cli.views.console import PlainConsole
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.rich_view import LiveView
from bbllm.cli.views.stdout_error import StdoutError
from bbllm.core.printable import escape_line, json_text


class PipeConsole(PlainConsole):
    """Leaves it to the command what happens when the reader goes away."""

    def on_broken_pipe(self) -> None:
        """Say so, instead of ending the process."""
        raise BrokenPipeError


@contextmanager
def _unwritten() -> Iterator[None]:
    """Go on where words cannot be written, as on a full disk: the work and its result count."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError:
        return


@dataclass(frozen=True)
class Output:
    """The two streams of one verb."""

    json: bool = False
    """Whether stdout carries exactly one JSON object."""

    @property
    def console(self) -> PipeConsole:
        """For words to people; wide where nobody looks, so that lines are not broken."""
        plain = not self.live
        return PipeConsole(stderr=self.json, soft_wrap=plain)

    @property
    def live(self) -> bool:
        """Whether a person watches on a terminal that can move its cursor."""
        console = PlainConsole(stderr=self.json)
        return console.is_terminal and not console.is_dumb_terminal

    def say(self, text: str = '', style: str = '') -> None:
        """Print one sentence to people."""
        with _unwritten():
            self.console.print(text, style=style or None)

    def say_line(self, text: str) -> None:
        """Print one line, however long: for programs that read the last one."""
        with _unwritten():
            self.console.print(text, soft_wrap=True)

    def say_item(self, text: str) -> None:
        """Print one line of a list; where it is wrapped, the rest is marked as such."""
        console, text = self.console, escape_line(text)
        if not self.live:
            self.say_line(f'  {text}')
            return
        for i, part in enumerate(Text(text).wrap(console, max(20, console.width - 8))):
            console.print(f'{"    ↳ " if i else "  "}{part.plain.rstrip()}', soft_wrap=True)

    def say_path(self, word: str, path: Path) -> None:
        """Print where something lies; in one piece, so that it can be clicked and copied."""
        self.say_line(f'  {word:<8} {path}')

    def view(self, clock: Callable[[], float] | None = None) -> LineView | LiveView:
        """Return what shows an episode: live on a terminal, else plain lines."""
        if self.live:
            return LiveView(self.console, clock)
        return LineView(sys.stderr if self.json else sys.stdout)

    def result(self, data: Mapping[str, object]) -> None:
        """Print the one object; does nothing where people read stdout."""
        if self.json:
            try:
                sys.stdout.write(json_text(data) + '\n')
                sys.stdout.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise StdoutError(error.errno, error.strerror) from error
