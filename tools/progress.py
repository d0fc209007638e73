"""What a set-up prints while it works: one line that changes, or plain lines in a log."""

from __future__ import annotations

import sys
import time


class Progress:
    """
    The line of one stage.

    Args:
        title: What the line begins with.
    """

    def __init__(self, title: str):
        self._title = title
        self._live = sys.stdout.isatty()
        self._started = time.monotonic()
        self._has_items = False
        print(f'{title} ...', end='', flush=True)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def update(self, text: str = '') -> None:
        """Show what goes on, where a line can change."""
        if self._live:
            separator = ', ' if text else ''
            print(
                f'\r\x1b[K{self._title}: {text}{separator}{self.elapsed_s:.0f} s',
                end='',
                flush=True,
            )

    def item(self, text: str) -> None:
        """Print that a part is done, where a line cannot change."""
        if not self._live:
            print('' if self._has_items else '\n', end='')
            print(f'      {text}', flush=True)
            self._has_items = True

    def note(self, text: str) -> None:
        """Print a line that stays."""
        if self._live:
            print(f'\r\x1b[K{text}', flush=True)
        else:
            self.item(text)

    def end(self, text: str = '') -> None:
        """Close the line, with the seconds that it took if nothing else is to be read."""
        text = text or f'{self.elapsed_s:.1f} s'
        start = f'\r\x1b[K{self._title} ...' if self._live else ''
        print(f'{start}     ' if self._has_items else start, end='')
        print(f' {text}', flush=True)
