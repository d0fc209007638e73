"""Where things lay when something came to be believed of them, so that a move is noticed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from bbllm.core.types import Scene

MOVED_M = 0.02
"""A thing that is so far from where it lay has been moved [m]: half a cube, and ten times the
noise of a pose (docs/perception.md)."""


class Resting:
    """Keeps where things lay when something came to be believed of them."""

    def __init__(self) -> None:
        self._lay: dict[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {}

    def moved(
        self,
        attributes: Mapping[str, tuple[str, ...]],
        scene: Scene,
        busy: Collection[str] = (),
    ) -> frozenset[str]:
        """
        Return what lies elsewhere than when the words on it were first told of it.

        It makes no difference who moved it: what the robot has lifted is believed to be fixed no
        more, and what it has pushed aside is not fixed either.

        Args:
            attributes: What is believed of each thing.
            scene: What is there now.
            busy: What the robot works with right now; it is looked at when that is over.
        """
        found = set()
        lies = {item.name: item.pose.position_m for item in scene.objects}
        for name in self._lay.keys() - attributes.keys():
            del self._lay[name]
        for name, words in attributes.items():
            if name in busy:
                continue
            if not words or name not in lies or name == scene.held:
                self._lay.pop(name, None)
                continue
            told, lay = self._lay.get(name, (words, lies[name]))
            far = math.dist(lay, lies[name]) > MOVED_M
            if told == words and far:
                found.add(name)
            if told != words or far or name not in self._lay:
                self._lay[name] = (words, lies[name])
        return frozenset(found)
