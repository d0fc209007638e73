"""Tables to judge: goals with the figures of the suite, and builders of layouts."""

import cmath
import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm_bench.scorers.judging import judge
from bbllm_bench.suites.goals import ColorLine, Goal, LetterL, PlusSign, Triangle
from bbllm_bench.suites.scores import FinalState, Score, Verdict
from bbllm_bench.suites.suite import load_suite

EDGE_M = 0.04
RAINBOW = ('red', 'orange', 'yellow', 'green', 'blue', 'indigo', 'violet')
CUBES = tuple(f'{color}_cube' for color in RAINBOW)
STANDING = {'level_m': 0.01, 'tilt_deg': 18.0}

GOALS = {task.name: task.table_goal for task in load_suite('tabletop').tasks}
CUBES_RIGHT, PAIRS, SEGREGATED = (
    GOALS[name] for name in ('right_side', 'pairs_a_side', 'segregate')
)
LETTER = LetterL(
    kind='letter_l',
    edge_m=EDGE_M,
    pitch_edges=(1.0, 2.5),
    residual_edges=0.3,
    turn_deg=10,
    least_cubes=4,
    least_up=2,
    least_right=1,
    **STANDING,
)
LINE = ColorLine(
    kind='color_line',
    colors=RAINBOW,
    straight_m=0.02,
    centre=(0.5, 0.0),
    centre_m=0.10,
    gap_m=(0.04, 0.10),
    **STANDING,
)
TRIANGLE = Triangle(
    kind='triangle',
    colors=('red', 'crimson', 'pink', 'salmon'),
    side='right',
    margin_m=0.02,
    edge_m=EDGE_M,
    side_edges=(1.5, 6.0),
    angle_deg=25,
    apart_edges=2.0,
    **STANDING,
)
PLUS = PlusSign(
    kind='plus_sign',
    edge_m=EDGE_M,
    pitch_edges=(1.0, 2.5),
    residual_edges=0.3,
    turn_deg=15,
    level_edges=0.3,
    **STANDING,
)
Spot = tuple[float, float] | tuple[float, float, float]
Spots = Mapping[str, Spot]

TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.4, 1.6, 0.04),
)


def entity(name: str, spot: Spot) -> SceneObject:
    """Make what a name says, for example `red_cube` or `location_A`; z may be left out."""
    place = name.startswith('location')
    kind = Kind.LOCATION if place else Kind(name.split('_')[1])
    z = spot[2] if len(spot) == 3 else 0.0 if place else EDGE_M / 2
    return SceneObject(
        name=name,
        kind=kind,
        pose=Pose(position_m=(spot[0], spot[1], z)),
        size_m=(EDGE_M, EDGE_M, 0.0 if place else EDGE_M),
        color='' if place else name.split('_')[0],
    )


def objects(spots: Spots) -> dict[str, SceneObject]:
    return {'table': TABLE, **{name: entity(name, spot) for name, spot in spots.items()}}


def table(spots: Spots, *, start: Spots | None = None, beyond: Collection[str] = ()) -> FinalState:
    """Make a settled table; before, everything lay as `start` says, which may leave things out."""
    now = objects(spots)
    return FinalState(
        objects=now, start={**now, **objects(start or {})}, out_of_reach=frozenset(beyond)
    )


def relaid(spots: Spots, where: Callable[[float, float], Spot]) -> dict[str, Spot]:
    """Return the same things, each where its x and y put it."""
    return {name: where(spot[0], spot[1]) for name, spot in spots.items()}


def moved(spots: Spots, name: str, x: float, y: float, z: float = 0.0) -> dict[str, Spot]:
    """Return the same layout with one thing moved by so much."""
    now = (*spots[name], EDGE_M / 2)[:3]
    return {**spots, name: (now[0] + x, now[1] + y, now[2] + z)}


def leaning(situation: FinalState, name: str, degrees: float, z_m: float = 0.0) -> FinalState:
    """Return a table on which one thing is tipped about x in place, and z higher."""
    item, half = situation.objects[name], math.radians(degrees) / 2
    x, y, z = item.pose.position_m
    pose = Pose(position_m=(x, y, z + z_m), quat_xyzw=(math.sin(half), 0.0, 0.0, math.cos(half)))
    now = {**situation.objects, name: dataclasses.replace(item, pose=pose)}
    return dataclasses.replace(situation, objects=now)


def pattern(
    cells: Sequence[complex],
    pitch_m: float = 0.06,
    *,
    turn_deg: float = 0.0,
    at: complex = 0.5 - 0.1j,
    names: Sequence[str] = CUBES,
) -> dict[str, Spot]:
    """Lay cubes on cells of a grid: 1 is a pitch away from the robot, 1j a pitch to its left."""
    step = cmath.rect(pitch_m, math.radians(turn_deg))
    points = [at + step * cell for cell in cells]
    return {name: (point.real, point.imag) for name, point in zip(names, points, strict=False)}


def judged(goal: Goal, situation: FinalState) -> Score:
    """Judge a table, and check what must be so of every judgement."""
    found = judge(goal, situation)
    texts = [condition.text for condition in found.conditions]
    before = judge(goal, dataclasses.replace(situation, objects=situation.start, held=''))
    assert len(set(texts)) == len(texts), 'GCR keeps conditions by their texts'
    assert texts == [condition.text for condition in before.conditions]
    assert all(one.fault.endswith('.') for one in found.conditions if not one.holds)
    return found


def assert_passes(goal: Goal, situation: FinalState) -> None:
    found = judged(goal, situation)
    assert found.verdict is Verdict.PASSED, found.reason


def assert_fails(goal: Goal, situation: FinalState, about: str = '') -> None:
    """It must fail; the reason must speak of something."""
    found = judged(goal, situation)
    assert found.verdict is Verdict.FAILED, found.reason
    assert about in found.reason


def assert_judged(goal: Goal, situation: FinalState, about: str | None) -> None:
    """It must pass, or fail for a reason that speaks of something."""
    if about is None:
        assert_passes(goal, situation)
    else:
        assert_fails(goal, situation, about)
