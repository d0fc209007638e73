"""
The prompts of an episode, kept once by hash in `<episode>.prompts` beside its journal.

Planners send most of what they know anew with each call, usually in one message, so a file of
whole messages would grow with the square of an episode. Each message is therefore kept as the
lines that no earlier one has, and as references to those that one has. A line of the file is

    {"hash": "9f86d081884c7d65", "text": ["new lines", [12, 40], "more new lines"]}

where [12, 40] means 40 lines from line 12 on, counted from 0 over all texts so far. A picture is
a line {"hash": "...", "image": "the PNG or JPEG file in base64"}.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from bbllm.core.events import PromptText, hash_of, hash_of_text
from bbllm.core.protocols import media_type
from bbllm.core.text import json_text

SUFFIX = '.prompts'
MOST_LINES = 5_000_000
"""More are not read: a few lines of a damaged file could stand for any number."""


def prompts_path(journal: Path) -> Path:
    """Return where the prompts of a journal are, if they are kept."""
    return journal.with_suffix(SUFFIX)


class PromptEncoder:
    """Writes the texts and pictures of one episode, each once, as lines of its file."""

    def __init__(self) -> None:
        self._hashes: set[str] = set()
        self._lines: list[str] = []
        self._last: dict[str, int] = {}
        """Of each line, where it was last."""

    def add(self, prompt: Iterable[PromptText]) -> str:
        """Return the lines for those parts of a prompt that are new; '' where none is."""
        rows = []
        for item in prompt:
            if (item.text or item.picture) and item.hash not in self._hashes:
                self._hashes.add(item.hash)
                row: dict[str, object] = {'hash': item.hash}
                if item.picture:
                    row['image'] = base64.b64encode(item.picture).decode()
                else:
                    row['text'] = list(self._parts(item.text))
                rows.append(f'{json_text(row)}\n')
        return ''.join(rows)

    def _parts(self, text: str) -> Iterator[str | tuple[int, int]]:
        """Yield lines that are new, as one string, and (start, count) of those that are known."""
        new: list[str] = []
        start = end = 0  # of the run of known lines that the last ones are
        known = len(self._lines)
        for line in text.split('\n'):
            if not (start < end < known and self._lines[end] == line):
                if start < end:
                    yield start, end - start
                start = end = self._last.get(line, -1)
                known = len(self._lines)
            if end < 0:
                new.append(line)
            else:
                if new:
                    yield '\n'.join(new)
                new, end = [], end + 1
            self._last[line] = len(self._lines)
            self._lines.append(line)
        if start < end:
            yield start, end - start
        if new:
            yield '\n'.join(new)


def read_prompts(path: Path) -> dict[str, str]:
    """Return the texts of a file, which need not be there, as `decode_prompts` does."""
    return decode_prompts(_rows_of(path))


def read_pictures(path: Path) -> dict[str, bytes]:
    """Return the pictures of a file, which need not be there, as `decode_pictures` does."""
    return decode_pictures(_rows_of(path))


def _rows_of(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors='replace')
    except OSError:
        return ''


def decode_prompts(rows: str) -> dict[str, str]:
    """Return the texts that an encoder wrote by hash, without those that are lost or damaged."""
    found = {hash_of_text(''): ''}
    lines: list[str] = []
    for row in rows.split('\n')[:-1]:  # what follows the last line break was cut by a crash
        begin = len(lines)
        try:
            data = json.loads(row)
            for part in data['text']:
                lines += part.split('\n') if isinstance(part, str) else _run(lines, *part)
            text = '\n'.join(lines[begin:])
            if hash_of_text(text) == data['hash']:
                found[data['hash']] = text
        except (ValueError, TypeError, LookupError):
            continue  # what refers to it fails the test of its hash
    return found


def decode_pictures(rows: str) -> dict[str, bytes]:
    """Return the pictures that an encoder wrote by hash, without those that are damaged."""
    found: dict[str, bytes] = {}
    for row in rows.split('\n')[:-1]:
        if '"image"' not in row:
            continue  # a text, which may be long
        try:
            data = json.loads(row)
            picture = base64.b64decode(data['image'], validate=True)
            media_type(picture)
            if hash_of(picture) == data['hash']:
                found[data['hash']] = picture
        except (ValueError, TypeError, LookupError):
            continue
    return found


def _run(lines: list[str], start: int, count: int) -> list[str]:
    if not 0 <= start < start + count <= len(lines) <= MOST_LINES:
        raise ValueError('There are no such lines.')
    return lines[start : start + count]
