"""Orientations of things that look alike from several sides."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.types import Kind, Quat
from bbllm.skills.shapes import yaw_pose
from bbllm.worlds.scene.transforms import (
    _box_turns,
    angle_between,
    difference,
    mean,
    multiply,
    nearest_alike,
    normalized,
    rotate,
)

CUBE = (0.04, 0.04, 0.04)
PARTS = st.floats(-1, 1)
QUATS = (
    st.tuples(PARTS, PARTS, PARTS, PARTS)
    .filter(lambda q: sum(part * part for part in q) > 0.01)
    .map(normalized)
)
UPSIDE_DOWN: Quat = (1.0, 0.0, 0.0, 0.0)


def yaw(deg: float) -> Quat:
    return yaw_pose((0.0, 0.0, 0.0), math.radians(deg)).quat_xyzw


@pytest.mark.parametrize(
    ('equal', 'count'),
    [((True, True, True), 24), ((False, False, True), 8), ((False, False, False), 4)],
    ids=['cube', 'square rod', 'brick'],
)
def test_box_has_as_many_alike_orientations_as_its_shape(
    equal: tuple[bool, bool, bool], count: int
) -> None:
    assert len(_box_turns(equal)) == count


@given(QUATS, QUATS)
def test_cube_is_never_seen_turned_by_more_than_63_degrees(quat: Quat, reference: Quat) -> None:
    # The largest angle of the fundamental zone of the cubic group is 62.8 degrees.
    assert math.degrees(difference(quat, reference, Kind.CUBE, CUBE)) < 62.9


@given(QUATS, QUATS)
def test_alike_orientation_looks_the_same(quat: Quat, reference: Quat) -> None:
    alike = nearest_alike(quat, reference, Kind.CUBE, CUBE)

    axes = [rotate(quat, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        turned = rotate(alike, axis)
        cosines = [abs(sum(p * q for p, q in zip(turned, other, strict=True))) for other in axes]
        assert max(cosines) == pytest.approx(1.0, abs=1e-6)


def test_brick_turned_by_a_quarter_has() -> None:
    brick = (0.08, 0.04, 0.02)

    assert math.degrees(difference(yaw(90.0), yaw(0.0), Kind.CUBE, brick)) == pytest.approx(90.0)
    assert difference(yaw(180.0), yaw(0.0), Kind.CUBE, brick) == pytest.approx(0.0, abs=1e-6)


@given(st.floats(-180, 180))
def test_cylinder_may_spin_and_stand_on_its_head(deg: float) -> None:
    size = (0.04, 0.04, 0.08)

    for quat in (yaw(deg), multiply(yaw(deg), UPSIDE_DOWN)):
        assert difference(quat, yaw(0.0), Kind.CYLINDER, size) == pytest.approx(0.0, abs=1e-5)


def test_mean_of_orientations_does_not_mind_their_signs() -> None:
    x, y, z, w = yaw(20.0)

    middle = mean([yaw(10.0), (-x, -y, -z, -w), yaw(30.0)])

    assert angle_between(middle, yaw(20.0)) == pytest.approx(0.0, abs=1e-6)
