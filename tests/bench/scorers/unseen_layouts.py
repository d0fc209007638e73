"""Blocks of hidden weights on the small table of the suite `partial`, and its goals."""

import dataclasses
from collections.abc import Collection

from layouts import STANDING, Spots, table

from bbllm.bench.suites.goals import Corners, Hold, Tower
from bbllm.bench.suites.scores import FinalState
from bbllm.core.types import Pose

NAMES = ('red_cube', 'green_cube', 'blue_cube')
"""From the heaviest to the lightest."""
MASSES_KG = {'red_cube': 0.15, 'green_cube': 0.1, 'blue_cube': 0.06}
TWO = Tower(kind='tower', height=2, order='any', near_m=0.02, still_m=0.01, **STANDING)
ON_FIXED = TWO.model_copy(update={'order': 'on_fixed'})
LIGHTER_UP = TWO.model_copy(update={'order': 'lighter_up'})
BY_WEIGHT = LIGHTER_UP.model_copy(update={'height': 3})
CORNERS = Corners(kind='corners', which='all', corner_m=0.08, still_m=0.01, **STANDING)
MOVABLE_CORNERS = CORNERS.model_copy(update={'which': 'movable'})
HEAVIEST = Hold(kind='hold', which='heaviest', raised_m=0.05, **STANDING)


def small_table(spots: Spots, *, start: Spots | None = None) -> FinalState:
    """A table of 36 by 60 cm, whose corners are within reach."""
    found = table(spots, start=start)
    top = dataclasses.replace(
        found.objects['table'], pose=Pose(position_m=(0.5, 0.0, -0.02)), size_m=(0.36, 0.6, 0.04)
    )
    return dataclasses.replace(
        found, objects={**found.objects, 'table': top}, start={**found.start, 'table': top}
    )


def weighing(situation: FinalState, *, held: str = '', fixed: Collection[str] = ()) -> FinalState:
    """The same table, with weights, and with what is in the hand or fixed."""
    return dataclasses.replace(situation, mass_kg=MASSES_KG, held=held, fixed=frozenset(fixed))
