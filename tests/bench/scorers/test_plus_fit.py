"""The plus sign checker: layouts that are one, and layouts that only look like one."""

from __future__ import annotations

import math

import pytest

from bbllm.bench.scorers.plus_fit import check_plus
from bbllm.core.types import Pose

EDGE_M = 0.04
PLUS = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))

Layout = dict[str, Pose]


def layout(points: tuple[tuple[float, float], ...], z: float = 0.02) -> Layout:
    return {f'cube_{i}': Pose(position_m=(0.5 + x, y, z)) for i, (x, y) in enumerate(points)}


def plus(
    pitch_m: float = 0.06, *, turn_deg: float = 0.0, shifts_m: tuple[tuple[float, float], ...] = ()
) -> Layout:
    cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    points = [(pitch_m * (cos * x - sin * y), pitch_m * (sin * x + cos * y)) for x, y in PLUS]
    for index, (dx, dy) in enumerate(shifts_m):
        points[index] = (points[index][0] + dx, points[index][1] + dy)
    return layout(tuple(points))


def with_extra(cubes: Layout, x: float, y: float, z: float = 0.02) -> Layout:
    return {**cubes, 'extra_cube': Pose(position_m=(0.5 + x, y, z))}


PASSING = {
    'exact': plus(),
    'cubes that touch': plus(0.04),
    'arms as far as allowed': plus(0.0999),
    'turned a little': plus(turn_deg=12),
    'turned a little the other way': plus(turn_deg=-14),
    'one arm off by a centimetre': plus(shifts_m=((0, 0), (0.01, 0.005))),
    'every cube off by some millimetres': plus(
        shifts_m=((0.003, 0), (0, 0.004), (-0.004, 0), (0, 0.005), (0.002, -0.003))
    ),
    'others far away': with_extra(plus(), 0.2, 0.2),
    'another more than a pitch away': with_extra(plus(), 0.133, 0.0),
    'named in another order': dict(reversed(plus().items())),
}
FAILING = {
    'four cubes': layout(((0, 0), (0.06, 0), (-0.06, 0), (0, 0.06))),
    'an L': layout(((0, 0), (0.06, 0), (0.12, 0), (0, 0.06), (0, 0.12))),
    'a line': layout(tuple((0.06 * i, 0.0) for i in range(5))),
    'a T': layout(((0, 0), (0.06, 0), (-0.06, 0), (0, 0.06), (0, 0.12))),
    'an X': plus(turn_deg=45),
    'turned too far': plus(turn_deg=20),
    'arms too far out': plus(0.11),
    'one arm too far out': plus(shifts_m=((0, 0), (0.04, 0))),
    'one arm sideways': plus(shifts_m=((0, 0), (0, 0.035))),
    'the centre off': plus(shifts_m=((0.03, 0.0),)),
    'a full square of nine': layout(
        tuple((0.06 * x, 0.06 * y) for x in (-1, 0, 1) for y in (-1, 0, 1))
    ),
    'a cube in a corner': with_extra(plus(), 0.06, 0.06),
    'a sixth cube beyond an arm': with_extra(plus(), 0.12, 0.0),
    'a cube on top': with_extra(plus(), 0.06, 0.0, 0.06),
    'two arms of unlike length': plus(shifts_m=((0, 0), (0.03, 0), (-0.03, 0))),
}


@pytest.mark.parametrize('cubes', PASSING.values(), ids=PASSING.keys())
def test_what_is_a_plus_sign_passes(cubes: Layout) -> None:
    verdict = check_plus(cubes, EDGE_M)

    assert verdict.passed, verdict
    assert verdict.reason == ''
    assert verdict.cubes[0] == 'cube_0'


@pytest.mark.parametrize('cubes', FAILING.values(), ids=FAILING.keys())
def test_what_is_no_plus_sign_fails_with_a_reason(cubes: Layout) -> None:
    verdict = check_plus(cubes, EDGE_M)

    assert not verdict.passed, verdict
    assert verdict.reason.endswith('.')


def test_an_arm_on_another_level_is_no_arm() -> None:
    cubes = plus()
    cubes['cube_1'] = Pose(position_m=(0.56, 0.0, 0.06))

    assert not check_plus(cubes, EDGE_M).passed


def test_residual_pitch_and_turn_are_measured() -> None:
    verdict = check_plus(plus(0.06, turn_deg=10), EDGE_M)

    assert verdict.residual_m == pytest.approx(0.0, abs=1e-9)
    assert verdict.pitch_m == pytest.approx(0.06)
    assert verdict.turn_deg == pytest.approx(10.0)
