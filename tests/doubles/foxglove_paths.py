"""A parser of the paths by which a layout of Foxglove names topics and fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bbllm.core.constants import NAMESPACE
from bbllm.core.paths import config_dir

LAYOUT: dict[str, Any] = json.loads((config_dir() / 'foxglove' / 'bbllm.json').read_text())
NAMED = f'/{NAMESPACE}/'
FIELD = re.compile(r'\.(\w+)(\[-?\d*(?::-?\d*)?\])?')


@dataclass(frozen=True)
class MessagePath:
    """A topic, and the way to a value in its messages."""

    topic: str
    fields: tuple[tuple[str, bool], ...]
    """Each name, and whether an index or a slice follows it."""

    @staticmethod
    def parse(text: str) -> MessagePath:
        """Read a path, `/topic.field[0].field`; ValueError where it is none."""
        match = re.fullmatch(rf'((?:/\w+)+)((?:{FIELD.pattern})*)', text)
        if match is None:
            raise ValueError(f'{text!r} is no path of a message')
        steps = FIELD.findall(match[2])
        return MessagePath(match[1], tuple((name, bool(index)) for name, index in steps))


def paths_of(layout: Any) -> Iterator[MessagePath]:
    """Yield every path in a layout: keys and values that begin as topics do."""
    if isinstance(layout, dict):
        for key, value in layout.items():
            yield from paths_of(key)
            yield from paths_of(value)
    elif isinstance(layout, list):
        for value in layout:
            yield from paths_of(value)
    elif isinstance(layout, str) and layout.startswith('/'):
        yield MessagePath.parse(layout)
