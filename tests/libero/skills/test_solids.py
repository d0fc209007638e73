"""Boxes: overlaps agree with what single axes show, and lines cross where they should."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from bbllm_libero.skills.solids import Solids, crossings, ground, overlaps

LENGTHS = st.floats(0.01, 0.3)
SHIFTS = st.floats(-0.5, 0.5)
ANGLES = st.floats(-np.pi, np.pi)


def _box(centre: tuple[float, ...], half: tuple[float, ...], turn: Rotation) -> Solids:
    return Solids(np.array([centre]), turn.as_matrix()[None], np.array([half]))


@given(
    st.tuples(SHIFTS, SHIFTS, SHIFTS),
    st.tuples(LENGTHS, LENGTHS, LENGTHS),
    st.tuples(LENGTHS, LENGTHS, LENGTHS),
    st.tuples(ANGLES, ANGLES, ANGLES),
)
def test_a_box_with_a_corner_or_the_middle_in_another_overlaps_it(
    shift: tuple[float, ...],
    one: tuple[float, ...],
    other: tuple[float, ...],
    angles: tuple[float, ...],
) -> None:
    turn = Rotation.from_euler('xyz', angles)
    a = _box((0.0, 0.0, 0.0), one, Rotation.identity())
    b = _box(shift, other, turn)

    signs = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T
    inside = (np.abs(signs * other @ turn.as_matrix().T + shift) < np.array(one) - 1e-9).all(1)
    found = bool(overlaps(a, b)[0, 0])

    assert found or not inside.any()
    assert found == bool(overlaps(b, a)[0, 0])
    far = np.linalg.norm(shift) > np.linalg.norm(one) + np.linalg.norm(other)
    assert not (found and far)


def test_a_margin_finds_what_is_near() -> None:
    box = _box((0.0, 0.0, 0.055), (0.05, 0.05, 0.05), Rotation.identity())

    assert not overlaps(box, ground(0.0)).any()
    assert overlaps(box, ground(0.0), 0.006).all()


def test_a_line_crosses_a_box_between_its_faces() -> None:
    box = _box((0.0, 0.2, 0.0), (0.1, 0.03, 0.1), Rotation.identity())

    enter, leave = crossings(np.array([[0.0] * 3, [0.2, 0.0, 0.0]]), np.array([0.0, 1, 0]), box)

    assert np.allclose([enter[0, 0], leave[0, 0]], [0.17, 0.23])
    assert np.isnan(enter[1, 0])
