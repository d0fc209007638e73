"""A console that prints what stands in a text, and nothing that steers the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from bbllm.core.printable import escape_hidden


class PlainConsole(Console):
    """
    A console for text from outside.

    Markup such as `[bold]` is printed as it stands, unless `markup` is set. Characters that are
    not visible are printed as text, whatever renderable they come in: only rich itself emits
    control sequences.
    """

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, markup: bool = False
    ) -> None:
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=markup, emoji=False
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """Make visible before the layout, so that tables and wrapped lines fit."""
        return super().render_str(escape_hidden(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render, and make visible what a renderable had in it."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_hidden(segment.text), segment.style)
