"""Frames that are joined by transforms, and orientations that look alike."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.types import Kind, Pose, Quat
from bbllm.scene.transforms import (
    IDENTITY,
    FrameError,
    TransformTree,
    angle_between,
    compose,
    difference,
    inverse,
    mean,
    multiply,
    nearest_alike,
    normalized,
    rotate,
)
from bbllm.skills.shapes import yaw_pose

METRES = st.floats(-2, 2)
POSES = st.builds(
    lambda p, q: Pose(position_m=p, quat_xyzw=normalized(q)),
    st.tuples(METRES, METRES, METRES),
    st.tuples(METRES, METRES, METRES, METRES).filter(lambda q: sum(p * p for p in q) > 0.01),
)


def at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(position_m=(x, y, z))


def same(a: Pose, b: Pose) -> bool:
    near = math.dist(a.position_m, b.position_m) < 1e-9
    return near and angle_between(a.quat_xyzw, b.quat_xyzw) < 1e-6


@given(POSES, POSES, POSES)
def test_composition_is_associative_and_has_inverses(a: Pose, b: Pose, c: Pose) -> None:
    assert same(compose(compose(a, b), c), compose(a, compose(b, c)))
    assert same(compose(a, inverse(a)), IDENTITY)
    assert same(compose(inverse(a), a), IDENTITY)


@given(st.lists(POSES, min_size=3, max_size=6), st.data())
def test_lookup_between_any_two_frames_of_a_chain_is_the_product_of_its_links(
    poses: list[Pose], data: st.DataObject
) -> None:
    tree = TransformTree()
    frames = [f'f{i}' for i in range(len(poses) + 1)]
    for pose, (parent, child) in zip(poses, pairwise(frames), strict=True):
        tree.add(parent, child, pose, 0.0, True)
    low = data.draw(st.integers(0, len(poses) - 1))
    high = data.draw(st.integers(low, len(poses)))
    product = IDENTITY
    for pose in poses[low:high]:
        product = compose(product, pose)

    assert same(tree.lookup(frames[low], frames[high], 5.0), product)
    assert same(tree.lookup(frames[high], frames[low], 5.0), inverse(product))


def test_moving_link_is_interpolated_at_the_time_that_is_asked_for() -> None:
    tree = TransformTree()
    tree.add('base', 'hand', at(0.0), 10.0, False)
    tree.add('base', 'hand', at(1.0), 11.0, False)

    assert tree.lookup('base', 'hand', 10.25).position_m[0] == pytest.approx(0.25)


def test_turn_is_interpolated_the_short_way_round() -> None:
    tree = TransformTree()
    quarter = Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=normalized((0.0, 0.0, -1.0, -1.0)))
    tree.add('base', 'hand', IDENTITY, 10.0, False)
    tree.add('base', 'hand', quarter, 11.0, False)

    turned = tree.lookup('base', 'hand', 10.5).quat_xyzw

    assert math.degrees(angle_between(turned, IDENTITY.quat_xyzw)) == pytest.approx(45.0)


@pytest.mark.parametrize('stamp_s', [12.0, 9.0])
def test_link_that_is_too_old_or_too_new_is_an_error_that_names_its_frames(stamp_s: float) -> None:
    tree = TransformTree()
    tree.add('base', 'hand', at(0.0), 10.0, False)
    tree.add('base', 'hand', at(1.0), 11.0, False)

    with pytest.raises(FrameError, match=r'hand is in base .* transform is 1\.00 s from it'):
        tree.lookup('base', 'hand', stamp_s)


def test_frames_that_nothing_joins_are_named_with_what_is_missing_and_known() -> None:
    tree = TransformTree()
    tree.add('camera_link', 'camera_optical', at(0.0), 0.0, True)

    with pytest.raises(
        FrameError,
        match=r"'fr3_link0' to 'camera_link' is missing. Known frames: camera_link, camera_o",
    ):
        tree.lookup('fr3_link0', 'camera_optical', 0.0)


def test_frames_that_form_a_loop_are_an_error_that_shows_it() -> None:
    tree = TransformTree()
    for parent, child in (('a', 'b'), ('b', 'c'), ('c', 'a')):
        tree.add(parent, child, at(1.0), 0.0, True)

    with pytest.raises(FrameError, match='form a loop, each in the next: b -> a -> c -> b'):
        tree.lookup('a', 'b', 0.0)


def test_frame_that_gets_a_new_parent_leaves_the_old_one() -> None:
    tree = TransformTree()
    tree.add('base', 'cup', at(1.0), 10.0, False)
    tree.add('hand', 'cup', at(0.0), 11.0, False)

    with pytest.raises(FrameError, match="from 'base' to 'hand' is missing"):
        tree.lookup('base', 'cup', 10.0)


@pytest.mark.parametrize(
    ('parent', 'child', 'pose'),
    [
        ('', 'camera', IDENTITY),
        ('base', 'base', IDENTITY),
        ('base', 'camera', at(math.nan)),
        ('base', 'camera', Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=(0.0, 0.0, 0.0, 0.0))),
    ],
    ids=['no parent', 'its own parent', 'nan', 'no rotation'],
)
def test_transform_that_is_none_is_refused(parent: str, child: str, pose: Pose) -> None:
    with pytest.raises(FrameError, match='transform'):
        TransformTree().add(parent, child, pose, 0.0, True)


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


@given(QUATS, QUATS)
def test_cube_is_never_seen_turned_by_more_than_63_degrees(quat: Quat, reference: Quat) -> None:
    # The largest angle of the fundamental zone of the cubic group is 62.8 degrees.
    assert math.degrees(difference(quat, reference, Kind.CUBE, CUBE)) < 62.9


@given(QUATS, QUATS)
def test_alike_orientation_has_the_same_corners(quat: Quat, reference: Quat) -> None:
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


def test_camera_on_the_hand_is_not_fixed_and_one_on_a_stand_is() -> None:
    tree = TransformTree()
    tree.add('fr3_link0', 'stand', IDENTITY, 0.0, static=True)
    tree.add('stand', 'left', IDENTITY, 0.0, static=True)
    tree.add('fr3_link0', 'fr3_hand', IDENTITY, 1.0, static=False)
    tree.add('fr3_hand', 'right', IDENTITY, 0.0, static=True)

    assert tree.is_fixed('fr3_link0', 'left')
    assert not tree.is_fixed('fr3_link0', 'right')
    assert not tree.is_fixed('left', 'right')
    assert tree.is_fixed('fr3_hand', 'right')
    assert tree.newest_stamp_s == 1.0
