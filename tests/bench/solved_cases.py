"""Puts the things of a case where its goal wants them, by hand: no planner, no physics."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from bbllm.core.types import Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.robots.fr3 import FR3
from bbllm.scene.relations import build_scene
from bbllm.skills.catalog import skills_for
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import half_height
from bbllm.worlds.scene.reaching import ReachCache
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Triangle
from bbllm_bench.suites.scores import FinalState

SPECTRUM = ('red', 'orange', 'yellow', 'green', 'blue', 'indigo', 'violet')
PLUS = ((0, 0), (1, 0), (0, 1), (0, -1), (-1, 0))
LETTER_L = ((2, 0), (1, 0), (0, 0), (0, -1), (0, -2))
TRIANGLE = ((1, 0), (0, 1), (0, -1))


def objects_of(case: Case) -> dict[str, SceneObject]:
    """Everything of a case by name."""
    scene = case.scene
    return {item.name: item for item in (*scene.fixtures, *scene.movables, *scene.places)}


def start_of(case: Case) -> FinalState:
    """The table as it is at the start."""
    now = objects_of(case)
    return FinalState(objects=now, start=now, out_of_reach=frozenset(case.out_of_reach))


def in_reach(case: Case, kind: Kind) -> list[SceneObject]:
    """Things, or locations, within reach."""
    items = (*case.scene.movables, *case.scene.places)
    return [item for item in items if item.kind is kind and item.name not in case.out_of_reach]


def solved(case: Case) -> FinalState:
    """The table as the goal wants it, with things on free locations within reach."""
    start = start_of(case)
    now = dict(start.objects)
    for name, place in MOVES[case.task](case):
        item, (x, y, _) = now[name], place.pose.position_m
        now[name] = replace(item, pose=Pose(position_m=(x, y, half_height(item))))
    return replace(start, objects=now)


Pairs = Iterator[tuple[str, SceneObject]]


def _on_side(items: Sequence[SceneObject], sign: int) -> list[SceneObject]:
    return [item for item in items if sign * item.pose.position_m[1] > 0.02]


def _on(entities: Sequence[SceneObject], places: Sequence[SceneObject]) -> Pairs:
    assert len(places) >= len(entities), 'there are not enough free places'
    return ((item.name, place) for item, place in zip(entities, places, strict=False))


def _pattern(case: Case, steps: Sequence[tuple[int, int]], sign: int = 0) -> list[SceneObject]:
    """Find free locations within reach that lie as a pattern does."""
    places = in_reach(case, Kind.LOCATION)
    if sign:
        places = _on_side(places, sign)
    by_mm = {tuple(round(1000 * v) for v in item.pose.position_m[:2]): item for item in places}
    for (x, y), pitch in itertools.product(by_mm, range(55, 101)):
        i0, j0 = steps[0]
        wanted = [(x + (i - i0) * pitch, y + (j - j0) * pitch) for i, j in steps]
        if all(spot in by_mm for spot in wanted):
            return [by_mm[spot] for spot in wanted]
    raise AssertionError(f'no pattern of {len(steps)} in {case.task}')


def _right_side(case: Case) -> Pairs:
    cubes = _on_side(in_reach(case, Kind.CUBE), 1)
    return _on(cubes, _on_side(in_reach(case, Kind.LOCATION), -1))


def _letter_l(case: Case) -> Pairs:
    return _on(in_reach(case, Kind.CUBE)[:5], _pattern(case, LETTER_L))


def _color_line(case: Case) -> Pairs:
    cubes = sorted(in_reach(case, Kind.CUBE), key=lambda item: SPECTRUM.index(item.color))
    places = _pattern(case, [(0, -i) for i in range(len(cubes) + 1)])
    return _on(cubes, places)


def _pairs_a_side(case: Case) -> Pairs:
    cubes, cylinders = in_reach(case, Kind.CUBE), in_reach(case, Kind.CYLINDER)
    places = in_reach(case, Kind.LOCATION)
    for index, sign in enumerate((1, -1)):
        yield from _on([cubes[index], cylinders[index]], _on_side(places, sign))


def _red_triangle(case: Case) -> Pairs:
    assert isinstance(case.goal, Triangle)
    reds = [item for item in in_reach(case, Kind.CUBE) if item.color in case.goal.colors]
    return _on(reds[:3], _pattern(case, TRIANGLE, sign=-1))


def _plus_sign(case: Case) -> Pairs:
    return _on(in_reach(case, Kind.CUBE)[:5], _pattern(case, PLUS))


def _segregate(case: Case) -> Pairs:
    places = in_reach(case, Kind.LOCATION)
    for kind, sign in ((Kind.CUBE, 1), (Kind.CYLINDER, -1)):
        yield from _on(_on_side(in_reach(case, kind), -sign), _on_side(places, sign))


MOVES: Mapping[str, Callable[[Case], Pairs]] = {
    'right_side': _right_side,
    'letter_l': _letter_l,
    'color_line': _color_line,
    'pairs_a_side': _pairs_a_side,
    'red_triangle': _red_triangle,
    'plus_sign': _plus_sign,
    'segregate': _segregate,
}


def distance(item: SceneObject, other: SceneObject | None = None) -> float:
    """Distance seen from above, from the robot's axis where no other is given [m]."""
    point = other.pose.position_m[:2] if other else (0.0, 0.0)
    return math.dist(item.pose.position_m[:2], point)


HAND = Hand(tcp=Pose(position_m=(0.31, 0.0, 0.49), quat_xyzw=(1.0, 0.0, 0.0, 0.0)), width_m=0.08)
REACH = ReachCache(FR3)


def scene_of(case: Case) -> Scene:
    table = case.table
    objects = (*table.fixtures, *table.movables, *table.places)
    skills = skills_for(objects)
    return build_scene(objects, HAND, skills=skills, stamp_s=0.0, now_s=0.0, reach=REACH)


def plan_of(moves: tuple[tuple[str, str], ...]) -> list[SkillCall]:
    calls = [(SkillCall('pick', (name,)), SkillCall('place', (to,))) for name, to in moves]
    return [*(call for pair in calls for call in pair), SkillCall('return_to_base')]
