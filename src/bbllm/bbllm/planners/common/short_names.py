"""Short names for the many objects of a house: `lightswitch1` for `lightswitch_216`."""

import re
from collections import Counter
from collections.abc import Iterable

from bbllm.core.naming import class_of, id_of, instance_name
from bbllm.core.types import Scene
from bbllm.planners.common.prompting import one_line
from bbllm.planners.common.scene_graph import HOUSEHOLD, squeezed

MESSAGE_KEPT = 300
"""Maximum length of a message; the rest is cut [characters]."""

_WORLD_FORM = re.compile(r'<([^<>]{1,80})> \(([0-9]{1,9})\)')
"""An object in the messages of a household: `<fridge> (305)`."""


class ShortNames:
    """
    Numbers the objects of each class from 1, in the order in which they were first seen.

    So LLM-State names objects (Chen et al., appendix VI-A), for the whole episode. On a table each
    object keeps its own name.
    """

    def __init__(self) -> None:
        self._short: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def see(self, scene: Scene) -> None:
        """Name the new objects of a scene, in the scene's order."""
        for name in scene.names:
            if name not in self._short:
                numbered = scene.domain == HOUSEHOLD and id_of(name) is not None
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

        return one_line(_WORLD_FORM.sub(replaced, message))[:MESSAGE_KEPT]

    def _next(self, kind: str) -> str:
        while True:
            self._counts[kind] += 1
            short = f'{kind}{self._counts[kind]}'
            # A class may end in a digit: the first `box1` and box number 11 would collide.
            if squeezed(short) not in self._names:
                return short
