"""Finds room for objects of different sizes: containers first, since they need the most."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.bench.scene_sampling.placement import Dice, NoRoomError, Point
from bbllm.bench.suites.scene_recipe import Group, Recipe
from bbllm.core.types import Kind
from bbllm.sim.object_models import OBJECT_MODELS
from bbllm.sim.scene_file import ObjectSpec

DRAWS = 80
"""Positions that are tried for one object before the whole scene is drawn anew."""
LEAST_X_M = 0.12
"""Nothing stands beside or behind the robot's base [m]."""
GAP_M = 0.03
"""Room for the fingers between two objects [m]."""
TALL_M = 0.05
"""What is taller than this is in the way of the palm when its neighbour is gripped [m]."""
PALM_M = 0.05
"""How much more room there is beside what is tall [m]."""
CONTAINERS_M = (0.36, 0.60)
"""How near to and far from the robot's axis containers may be: their rims are in reach too [m]."""

Laid = tuple[str, Point]


def lay_goods(recipe: Recipe, dice: Dice) -> list[tuple[Group, ObjectSpec]]:
    """
    Draw which goods there are, and a place for each.

    Raises:
        NoRoomError: One did not fit; the text names it.
    """
    chosen: list[tuple[Group, str]] = []
    for wanted in recipe.things:
        known = {kind for _, kind in chosen}
        kinds = [kind for kind in wanted.kinds if kind not in known]
        if wanted.count is not None:
            kinds = dice.shuffled(kinds)[: dice.number(wanted.count)]
        chosen += [(wanted, kind) for kind in kinds]
    chosen.sort(key=lambda item: -_radius_m(item[1]))
    laid: list[Laid] = []
    found: list[tuple[Group, ObjectSpec]] = []
    for group, kind in chosen:
        xy = _spot(kind, group, recipe, laid, dice)
        laid.append((kind, xy))
        # A container keeps to the axes of the table; the rest lies any way.
        yaw = (
            0.0
            if OBJECT_MODELS[kind].kind is Kind.CONTAINER
            else float(dice.number((0, 359)) - 180)
        )
        spec = {'name': kind, 'kind': kind, 'xy': xy, 'yaw_deg': yaw}
        found.append((group, ObjectSpec.model_validate(spec)))
    return found


def _spot(kind: str, group: Group, recipe: Recipe, laid: Sequence[Laid], dice: Dice) -> Point:
    least, most = recipe.reach_m if group.reach else recipe.beyond_m
    if OBJECT_MODELS[kind].kind is Kind.CONTAINER and group.reach:
        least, most = CONTAINERS_M
    (x, y), (a, b) = recipe.table.xy, recipe.table.size
    edge = _radius_m(kind)
    x0, x1, y0, y1 = x - a / 2 + edge, x + a / 2 - edge, y - b / 2 + edge, y + b / 2 - edge
    if isinstance(group.area, tuple):
        ax0, ax1, ay0, ay1 = group.area
        x0, x1, y0, y1 = max(x0, ax0), min(x1, ax1), max(y0, ay0), min(y1, ay1)
    elif group.area != 'anywhere':
        y0, y1 = (
            (max(y0, recipe.middle_m), y1)
            if group.area == 'left'
            else (y0, min(y1, -recipe.middle_m))
        )
    x0, x1 = max(x0, LEAST_X_M + edge), min(x1, most)
    y0, y1 = max(y0, -most), min(y1, most)
    for _ in range(DRAWS if x0 < x1 and y0 < y1 else 0):
        point = (dice.between(x0, x1), dice.between(y0, y1))
        if least**2 <= point[0] ** 2 + point[1] ** 2 <= most**2 and all(
            (point[0] - at[0]) ** 2 + (point[1] - at[1]) ** 2 >= _apart_m(kind, other) ** 2
            for other, at in laid
        ):
            return point
    raise NoRoomError(f'no free place for the {kind}')


def _apart_m(one: str, other: str) -> float:
    tall = any(OBJECT_MODELS[kind].size_m[2] > TALL_M for kind in (one, other))
    return _radius_m(one) + _radius_m(other) + GAP_M + (PALM_M if tall else 0.0)


def _radius_m(kind: str) -> float:
    """Return half the diagonal of a kind's box seen from above, however it is turned [m]."""
    x, y, _ = OBJECT_MODELS[kind].size_m
    return float((x * x + y * y) ** 0.5 / 2)
