"""
Puzzles in clutter: cuboids that stand too close together for the fingers.

What has to leave, in which order, and at which yaw a cube fits in between, follow from outlines
of neighbours, fingers and palm. Solutions are computed as the skills compute them (skills.grasps,
skills.placing, arm.motion), while prompts have two numbers for it.
"""

import heapq
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from bbllm.arm.motion.motion_planner import GraspPlanner
from bbllm.core.text import listed
from bbllm.core.types import Kind, SceneObject
from bbllm.robots.registry import load_robot
from bbllm.skills.grasps import Hand, grips_for, tool_pose
from bbllm.skills.placing import PlaceTarget, place_grips
from bbllm.skills.shapes import outline, polygon_gap, yaw_pose
from bbllm_bench.scene_sampling.dry_run import can_pick, scene_of, with_margin
from bbllm_bench.scene_sampling.placement import Dice, NoRoomError, Point
from bbllm_bench.scene_sampling.puzzle_table import Draft, PuzzleTable, pose_text, put_aside

CUBE_M = 0.04
WIDTHS_M, HEIGHTS_M = (0.032, 0.040, 0.048, 0.056), (0.030, 0.038, 0.046, 0.054)
"""Edges of a cuboid [m]; all are lower than what the hand grips lower down (grasps.TALL_M)."""
GAP_M = 0.004
"""Least gap between two cuboids of a heap [m]."""
HEAP_M = 0.16
"""How far from the middle of a heap its cuboids are drawn, along x and y [m]."""
DRAWS = 400
"""How often a place is drawn for a cuboid; the one nearest to the middle is taken."""
HEAPS = 40
"""How often cuboids are drawn around a place."""
HARDEST = 6
"""From so many cuboids, those that most others stand in the way of, the targets are drawn."""
ASIDE_M = 0.1
"""Distance from everything else of what is put aside [m]."""
PLACES_M = 0.26
"""Distance between two places with cuboids around [m]."""
FITTING_DEG = (4, 12)
"""How many of 90 yaws a cube may have where it is to be put, with a margin, least and most."""

Removable = Callable[[str, frozenset[str]], bool]
"""Whether the hand has room at a cuboid when some others are gone."""


def retrieve(draft: Draft) -> None:
    """Take cuboids out of a heap with the fewest moves; what stands in the way goes anywhere."""
    table, dice, recipe = draft.table, draft.dice, draft.recipe
    middle = (dice.between(0.46, 0.50), dice.between(-0.10, 0.10))
    heap = _stand(table, _heap(dice, middle, recipe.n))
    # For the fingers alone, which is quickly found out, fewer moves may do than for the arm.
    fingers, arm = _removable(heap, None), _removable(heap, GraspPlanner(load_robot()))
    loose = _removed(heap, fingers)
    # In the heap's order, since that of a set is another one in each process.
    alone = {name: len(fewest_removed(heap, {name}, fingers)) for name in heap if name in loose}
    hardest = sorted(alone, key=lambda name: -alone[name])[:HARDEST]
    for targets in dice.shuffled([*itertools.combinations(hardest, recipe.places)]):
        if recipe.least <= len(fewest_removed(heap, {*targets}, fingers)) <= recipe.least + 1:
            removed = fewest_removed(heap, {*targets}, arm)
            break
    else:
        raise NoRoomError('it takes too few or too many moves')
    on = {name: table.location(table.spot(apart_m=0.12)) for name in targets}
    for name in removed:
        if name in on:
            draft.moves.append((name, on[name]))
        else:
            put_aside(draft, name, ASIDE_M)
    draft.goal |= {'on': on}
    draft.words |= {'targets': listed([f'{name} on {place}' for name, place in on.items()])}


def insert(draft: Draft) -> None:
    """Put cubes where they fit in at few yaws, between cuboids that stay."""
    table, recipe = draft.table, draft.recipe
    each = recipe.n // recipe.places - 1
    still, turns = list[str](), dict[Point, float]()
    for _ in range(recipe.places):
        spot = table.spot(apart_m=PLACES_M, box=(0.36, 0.58, -0.42, 0.42))
        around, turns[spot] = _fitting(draft.dice, spot, each)
        still += _stand(table, around)
    on = {}
    for spot, turn in turns.items():
        name = table.add('cube', table.colors('cube')[0], table.spot(apart_m=ASIDE_M))
        on[name] = table.location(spot)
        draft.moves.append((name, pose_text(spot, CUBE_M / 2, turn)))
    draft.goal |= {'on': on, 'still': tuple(still), 'untouched': tuple(still)}
    draft.words |= {'targets': listed([f'{name} on {place}' for name, place in on.items()])}


# --- heaps --------------------------------------------------------------------------------------


def _heap(
    dice: Dice, middle: Point, n: int, around: Sequence[SceneObject] = ()
) -> list[SceneObject]:
    """Draw cuboids as near to a point as they come."""
    heap: list[SceneObject] = []
    for _ in range(n):
        size_m = (dice.one_of(WIDTHS_M), dice.one_of(WIDTHS_M), dice.one_of(HEIGHTS_M))
        yaw = float(dice.number((0, 89)) - 45)
        taken = [outline(item) for item in (*around, *heap)]
        nearest: SceneObject | None = None
        least_m = math.inf
        for _ in range(DRAWS):
            x, y = (m + dice.between(-HEAP_M, HEAP_M) for m in middle)
            item = _cuboid((round(x, 3), round(y, 3)), size_m, yaw)
            away_m = math.dist(item.pose.position_m[:2], middle)
            if away_m < least_m and all(
                polygon_gap(outline(item), other) >= GAP_M for other in taken
            ):
                nearest, least_m = item, away_m
        if nearest is None:
            raise NoRoomError('no room in the heap')
        heap.append(nearest)
    return heap


def _cuboid(at: Point, size_m: tuple[float, float, float], yaw_deg: float) -> SceneObject:
    pose = yaw_pose((*at, size_m[2] / 2), math.radians(yaw_deg))
    return SceneObject(name='cuboid', kind=Kind.CUBE, pose=pose, size_m=size_m)


def _stand(table: PuzzleTable, heap: Sequence[SceneObject]) -> dict[str, SceneObject]:
    """Put cuboids on the table; return them by the names they get."""
    named = {}
    for item in heap:
        x, y, _ = item.pose.position_m
        yaw = round(math.degrees(2 * math.asin(item.pose.quat_xyzw[2])))
        table.points.append((x, y))
        color = table.colors('cube')[0]
        name = table.add('cube', color, (x, y), size=item.size_m, yaw=float(yaw))
        named[name] = replace(item, name=name)
    return named


# --- what can be taken out ----------------------------------------------------------------------


def _removable(heap: Mapping[str, SceneObject], planner: GraspPlanner | None) -> Removable:
    """Return a test that remembers its answers; without a planner, of the fingers alone."""
    known: dict[tuple[str, frozenset[str]], bool] = {}

    def removable(name: str, gone: frozenset[str]) -> bool:
        key = name, gone
        if key not in known:
            others = [_as_if(item, other in gone) for other, item in heap.items() if other != name]
            known[key] = can_pick(heap[name], others, planner)
        return known[key]

    return removable


def _as_if(item: SceneObject, gone: bool) -> SceneObject:
    """Return an object with its margin; one that is gone is far away, so that all are there."""
    return with_margin(item) if not gone else replace(item, pose=yaw_pose((-9.0, 0.0, 1.0), 0.0))


def _removed(heap: Mapping[str, SceneObject], removable: Removable) -> frozenset[str]:
    """Return what can be taken away at all: what is removable stays so when others leave."""
    gone = frozenset[str]()
    while more := {name for name in heap if name not in gone and removable(name, gone)}:
        gone |= more
    return gone


def fewest_removed(
    names: Collection[str], targets: set[str], removable: Removable
) -> tuple[str, ...]:
    """
    Return the fewest objects to take away, in order, until the targets are: A* over sets.

    Raises:
        NoRoomError: A target can never be taken away.
    """
    order = itertools.count()
    queue = [(len(targets), 0, next(order), frozenset[str](), tuple[str, ...]())]
    seen = set[frozenset[str]]()
    while queue:
        _, _, _, gone, way = heapq.heappop(queue)
        if targets <= gone:
            return way
        if gone in seen:
            continue
        seen.add(gone)
        for name in names:
            if name not in gone and removable(name, gone):
                after = gone | {name}
                cost = len(after) + len(targets - after)
                heapq.heappush(queue, (cost, -len(after), next(order), after, (*way, name)))
    raise NoRoomError('a target can never be taken away')


# --- where a cube fits in -----------------------------------------------------------------------


def _fitting(dice: Dice, at: Point, n: int) -> tuple[list[SceneObject], float]:
    """Draw cuboids around a point, between which a cube has few yaws; return the middle [deg]."""
    for _ in range(HEAPS):
        cube = _cuboid(at, (CUBE_M, CUBE_M, CUBE_M), float(dice.number((0, 89)) - 45))
        around = _heap(dice, at, n, [cube])
        wider = [with_margin(item) for item in around]
        fits = [_fits(at, float(yaw), wider) for yaw in range(90)]
        starts = [yaw for yaw in range(90) if fits[yaw] and not fits[yaw - 1]]
        # Yaw 0 is what a target without a yaw has.
        if len(starts) == 1 and FITTING_DEG[0] <= sum(fits) <= FITTING_DEG[1] and not fits[0]:
            middle = starts[0] + sum(fits) // 2
            return around, float(middle if middle <= 45 else middle - 90)
    raise NoRoomError('a cube fits in at too few or too many yaws')


def _fits(at: Point, yaw_deg: float, neighbours: Sequence[SceneObject]) -> bool:
    """Return whether a cube has room there, and the fingers that let it go."""
    cube = replace(_cuboid(at, (CUBE_M, CUBE_M, CUBE_M), yaw_deg), name='cube')
    if any(polygon_gap(outline(cube), outline(item)) < 0.0 for item in neighbours):
        return False
    grips = grips_for(cube, ())
    assert isinstance(grips, tuple)  # alone on the table
    hand = Hand(tcp=tool_pose(grips[0]), width_m=CUBE_M)
    target = PlaceTarget(label='', centre_m=cube.pose.position_m, yaw_rad=math.radians(yaw_deg))
    return isinstance(place_grips(cube, target, scene_of((cube, *neighbours)), hand), tuple)
