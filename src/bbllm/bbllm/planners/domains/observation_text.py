"""
The text of a scene for LLM-State and Inner Monologue: short names in lists, and no states.

Source: Chen et al., LLM-State, section III-A and appendix VI-A. The planner has to track states
such as open. On a table the text is that of the other planners. Constant parts come first, so that
a server can cache the beginning: lists are in the order of first sight, furniture first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.naming import class_of, id_of, instance_name
from bbllm.core.text import escape_line, untagged
from bbllm.core.types import Scene
from bbllm.planners.domains.scene_graph import squeezed

WORLD_FORM = re.compile(r'<([^<>]{1,80})> \(([0-9]{1,9})\)')
"""An object in the messages of a household: `<fridge> (305)`."""
MESSAGE_KEPT = 300
"""Maximum length of a message; the rest is cut [characters]."""


class ShortNames:
    """
    Numbers the objects of each class from 1, in the order in which they were first seen.

    So LLM-State names objects (appendix VI-A). On a table each object keeps its own name.
    """

    def __init__(self) -> None:
        self._short: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def see(self, scene: Scene) -> None:
        for name in scene.names:
            if name not in self._short:
                numbered = scene.is_symbolic and id_of(name) is not None
                short = self._next(class_of(name)) if numbered else name
                self._short[name] = short
                self._names[squeezed(short)] = name

    def by_first_sight(self, names: Iterable[str]) -> list[str]:
        """Return names in the order in which they were first seen, those never seen last."""
        wanted = dict.fromkeys(names)
        return [
            *(name for name in self._short if name in wanted),
            *(name for name in wanted if name not in self._short),
        ]

    def short(self, name: str) -> str:
        """Return the name in prompts; the name itself if the object was never seen."""
        return self._short.get(name, name)

    def name(self, short: str) -> str | None:
        """Return the scene's name for a word of a reply, None if there is none."""
        return short if short in self._short else self._names.get(squeezed(short))

    def in_short(self, message: str) -> str:
        """Return a message of the world on one line, with the names of prompts, cut."""

        def replaced(found: re.Match[str]) -> str:
            return self.short(instance_name(found[1], int(found[2])))

        return untagged(escape_line(WORLD_FORM.sub(replaced, message)))[:MESSAGE_KEPT]

    def _next(self, kind: str) -> str:
        while True:
            self._counts[kind] += 1
            short = f'{kind}{self._counts[kind]}'
            # A class may end in a digit: the first `box1` and box number 11 would collide.
            if squeezed(short) not in self._names:
                return short


Observation = Mapping[str, Sequence[str]]
"""Lists by their labels, in the order of the text; on a table its lines, under ''."""

NOTHING_NEW = 'nothing new'
GONE = 'No longer seen'
ROOM = 'Current Room'
HELD = 'Current Holding'
CLOSE = 'You are close to'
ROOMS = 'Room List'
MOVABLE_LISTS = ('Container List', 'Surface List', 'Object List')


def text_of(seen: Observation) -> str:
    """Return a line for each list, such as `Room List: [kitchen1, bedroom1]`."""
    return '\n'.join(_line(label, items) for label, items in seen.items())


def _line(label: str, items: Sequence[str]) -> str:
    if not label:
        return '\n'.join(items)
    return f'{label}: {items[0]}' if label == ROOM else f'{label}: [{", ".join(items)}]'


def changes(before: Observation, after: Observation) -> str:
    """Return what is new in an observation, and which objects are gone from the same room."""
    lines: list[str] = []
    for label, items in after.items():
        known = before.get(label, ())
        new = [item for item in items if item not in known]
        if label.startswith(('Current', 'You')):  # hands and near objects are listed as a whole
            lines += [_line(label, items)] if set(items) != set(known) else []
        elif new:
            lines += [_line(label, new)] if label else new
    if before.get(ROOM) == after.get(ROOM):
        there = _objects(after)
        if lost := [name for name in _objects(before) if name not in there]:
            lines.append(_line(GONE, lost))
    return '; '.join(lines) or NOTHING_NEW


def _objects(seen: Observation) -> dict[str, None]:
    """
    Return the objects in sight or in a hand: `salmon1` of `salmon1 IN fridge1`.

    Close objects are ignored: walls and lamps stay visible when the robot goes away.
    """
    named = (seen.get(label, ()) for label in (*MOVABLE_LISTS, HELD))
    return {item.partition(' ')[0]: None for items in named for item in items}
