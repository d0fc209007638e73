"""Short names for the many things of a house: `lightswitch1` for `lightswitch_216`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bbllm.core.instance_names import class_of, id_of, instance_name
from bbllm.core.types import Scene
from bbllm.planners.common.prompting import one_line
from bbllm.planners.common.scene_graph import HOUSEHOLD, squeezed

MESSAGE_KEPT = 300
"""How much of a message is told [characters]."""

_WORLD_FORM = re.compile(r'<([^<>]{1,80})> \(([0-9]{1,9})\)')
"""How a household's messages write a thing: `<fridge> (305)`."""


class ShortNames:
    """
    Numbers the things of each class from 1, in the order in which they were first seen.

    So LLM-State names things (Chen et al., appendix VI-A). What was named once keeps its name for
    the whole episode, also when the scene no longer tells of it. On a table each thing is named
    by what it is already, and keeps that name.
    """

    def __init__(self) -> None:
        self._short: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def see(self, scene: Scene) -> None:
        """Name what is new in a scene, in the scene's order."""
        for name in scene.names:
            if name not in self._short:
                short = self._next(name) if scene.domain == HOUSEHOLD else name
                self._short[name] = short
                self._names[squeezed(short)] = name

    def by_first_sight(self, names: Iterable[str]) -> list[str]:
        """Return names in the order in which they were first seen; those never seen come last."""
        wanted = dict.fromkeys(names)
        return [
            *(name for name in self._short if name in wanted),
            *(name for name in wanted if name not in self._short),
        ]

    def short(self, name: str) -> str:
        """Return what a thing is called in prompts; the name itself where it was never seen."""
        return self._short.get(name, name)

    def name(self, short: str) -> str | None:
        """Return the scene's name for a word of a reply; None where nothing is called so."""
        return short if short in self._short else self._names.get(squeezed(short))

    def in_short(self, message: str) -> str:
        """Return a message of the world in one line, with its things as prompts call them; cut."""
        return one_line(_WORLD_FORM.sub(self._told, message))[:MESSAGE_KEPT]

    def _told(self, found: re.Match[str]) -> str:
        return self.short(instance_name(found[1], int(found[2])))

    def _next(self, name: str) -> str:
        if id_of(name) is None:
            return name
        kind = class_of(name)
        while True:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            short = f'{kind}{self._counts[kind]}'
            # A class may end in a digit: the first `box1` and box number 11 would be one name.
            if squeezed(short) not in self._names:
                return short
