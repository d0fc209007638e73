"""What a description of a scene says that an earlier one did not; see `observation_text`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

NOTHING_NEW = 'nothing new'
GONE = 'No longer seen'
ROOM = 'Current Room'
HELD = 'Current Holding'
ROOMS = 'Room List'

_LISTED = re.compile(r'(?P<label>[^:\[\]]+): \[(?P<items>[^\[\]]*)\]')


def changes(before: str, after: str) -> str:
    """
    Return what one description of a scene says that an earlier one did not, and what is gone.

    What is out of sight since the robot is in another room is not told to be gone.
    """
    known, now = _lists(before), _lists(after)
    told = []
    for line in after.split('\n'):
        label, items = _items(line)
        new = [item for item in items if item not in known.get(label, ())]
        gone = set(known.get(label, ())).difference(items)
        if label and label.startswith(('Current', 'You')) and (new or gone):
            told.append(line)  # what is held or near is told in whole
        elif new:
            told.append(f'{label}: [{", ".join(new)}]' if label else line)
    if known.get(ROOM) == now.get(ROOM):
        there = _things(now)
        gone_things = [name for name in _things(known) if name not in there]
        told += [f'{GONE}: [{", ".join(gone_things)}]'] * bool(gone_things)
    return '; '.join(told) or NOTHING_NEW


def _lists(text: str) -> dict[str, list[str]]:
    """Return what a description lists, by label."""
    found: dict[str, list[str]] = {}
    for label, items in map(_items, text.split('\n')):
        found.setdefault(label, []).extend(items)
    return found


def _things(lists: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """
    Return the things that are seen or held, each once: `salmon1` of `salmon1 IN fridge1`.

    What the robot is close to says nothing of it: walls and lamps stand in that list alone, and
    who goes away from them still sees them.
    """
    whole = (label for label in lists if label.endswith(' List') and label != ROOMS)
    named = (lists[label] for label in (*whole, HELD) if label in lists)
    return {item.partition(' ')[0]: None for items in named for item in items}


def _items(line: str) -> tuple[str, list[str]]:
    """Return the label of a list and what is in it; any other line is one item of its own."""
    found = _LISTED.fullmatch(line)
    if found:
        return found['label'], [item for item in found['items'].split(', ') if item]
    label, colon, rest = line.partition(': ')
    return (label, [rest]) if colon and label.startswith('Current') else ('', [line])
