"""What the history of an episode has shown: what was felt, what rose, what did not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean

from bbllm.core.observation import Observed
from bbllm.llm.expert.sight import Deed, Sight

READING_SD_N = 0.06
"""What one reading of a force at rest may be off [N]: 0.2 N on each sample of the sensor, of which
a reading is the mean of 20, and a little more for what the hand does to it. What the sensor is off
in all of an episode makes no difference between two blocks."""
CERTAIN_SDS = 3.0
"""Two weights differ when their means do by so many deviations."""
MOST_READINGS = 9
"""So many of one block have to do: with the first and two rounds of more, one of four is left."""
HELD_ASIDE_M = 0.025
"""How far a held block may be from the middle between the fingers [m]."""
OPEN_M = 0.079
"""Fingers as far apart hold nothing [m]."""
NOT_RISEN = 'did not rise'
"""Words of the result of a pick of what is fixed; other failures tell nothing of the block."""


@dataclass(frozen=True)
class Belief:
    """All that is known of the blocks beside where they are."""

    forces_n: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Vertical force while a block was held, by block, a reading each [N]."""
    rose: frozenset[str] = frozenset()
    """Blocks that were lifted."""
    stuck: frozenset[str] = frozenset()
    """Blocks that were tried and did not rise."""

    def force_n(self, name: str) -> float:
        """Return the mean of a block's readings: the heavier, the less; 0 without any [N]."""
        return fmean(self.forces_n.get(name) or (0.0,))

    def alike(self, a: str, b: str) -> bool:
        """Tell whether the readings leave open which of two blocks is heavier."""
        na, nb = len(self.forces_n[a]), len(self.forces_n[b])
        doubt_n = CERTAIN_SDS * READING_SD_N * math.sqrt(1 / na + 1 / nb)
        return abs(self.force_n(a) - self.force_n(b)) < doubt_n

    def unsure(self, names: tuple[str, ...], *, only_heaviest: bool) -> tuple[str, ...]:
        """Return the blocks that have to be weighed again to be put in order."""
        order = sorted(names, key=self.force_n)
        pairs = [(order[0], other) for other in order[1:]] if only_heaviest else []
        pairs = pairs or list(combinations(order, 2))
        doubtful = {name for pair in pairs if self.alike(*pair) for name in pair}
        return tuple(
            name for name in names if name in doubtful and len(self.forces_n[name]) < MOST_READINGS
        )


def learn(sight: Sight) -> Belief:
    """Return what a history has shown."""
    forces: dict[str, list[float]] = {}
    rose: set[str] = set()
    stuck: set[str] = set()
    held: str | None = None
    for deed in sight.deeds:
        if not deed.tried:
            continue
        held = _held_after(deed, held, sight)
        name = deed.move.name
        if held is not None:
            rose.add(held)
            stuck.discard(held)
            force_n = _force_of(deed)
            # A hand that moves feels its own motion too; it stands still after these.
            if force_n is not None and deed.done is not False:
                forces.setdefault(held, []).append(force_n)
        elif deed.move.verb == 'pick' and name in sight.names and _shows_stuck(deed):
            stuck.add(name)
    return Belief(
        {name: tuple(values) for name, values in forces.items()},
        frozenset(rose),
        frozenset(stuck - rose),
    )


def held_now(sight: Sight) -> str | None:
    """Return the block that is in the hand."""
    if sight.now.eef is not None and sight.now.fingers_m is not None:
        return held_in(sight.now, sight)
    held: str | None = None
    for deed in sight.deeds:
        held = _held_after(deed, held, sight) if deed.tried else held
    return held


def held_in(look: Observed, sight: Sight) -> str | None:
    """Return the block that is between closed fingers, as far as an observation shows it."""
    if look.eef is None or look.fingers_m is None or sum(look.fingers_m) >= OPEN_M:
        return None
    x, y, z = look.eef[:3]
    for name, pose in look.blocks.items():
        aside_m = math.hypot(pose[0] - x, pose[1] - y)
        if aside_m <= HELD_ASIDE_M and abs(pose[2] - z) <= sight.half_m(name) + 0.005:
            return name
    return None


def _held_after(deed: Deed, held: str | None, sight: Sight) -> str | None:
    """Return what is in the hand after a deed: as it was seen, else as its result says."""
    if deed.seen is not None and deed.seen.eef is not None and deed.seen.fingers_m is not None:
        return held_in(deed.seen, sight)
    if deed.done and deed.move.verb == 'pick':
        return deed.move.name
    return None if deed.done and deed.move.verb == 'place' else held


def _force_of(deed: Deed) -> float | None:
    if deed.seen is not None and deed.seen.force_n is not None:
        return deed.seen.force_n[2]
    return deed.force_z_n


def _shows_stuck(deed: Deed) -> bool:
    # Prompts that tell no results only show that the block stayed where it was.
    return deed.done is None or (not deed.done and NOT_RISEN in deed.message)
