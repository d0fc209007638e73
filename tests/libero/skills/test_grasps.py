"""Grasps from geometry: bodies, walls, what is too wide, and what leaves no room."""

import numpy as np
import pytest

from bbllm_libero.skills.grasps import free_way, grasps_on, ordered
from bbllm_libero.skills.pick import find_grasps
from bbllm_libero.skills.reach import top_down
from bbllm_libero.skills.solids import ground, shape_of
from tests.libero.skills.still_panda import Part, StillPanda

BOX: tuple[Part, ...] = (((0.0, 0.0, 0.04), (0.05, 0.025, 0.04)),)
WIDE: tuple[Part, ...] = (((0.0, 0.0, 0.04), (0.05, 0.05, 0.04)),)
TROUGH: tuple[Part, ...] = (
    ((0.0, 0.0, 0.003), (0.06, 0.06, 0.003)),
    ((0.0, 0.06, 0.03), (0.06, 0.003, 0.03)),
    ((0.0, -0.06, 0.03), (0.06, 0.003, 0.03)),
)
FLAT: tuple[Part, ...] = (((0.0, 0.0, 0.009), (0.04, 0.021, 0.009)),)
AT = (0.5, 0.0, 0.0)


def test_a_box_is_gripped_across_its_narrow_side_at_its_middle() -> None:
    panda = StillPanda({'box_1': (AT, BOX)})

    (best, *_), _ = find_grasps(panda, panda.state, 'box_1', ())

    assert best.kind == 'body'
    assert abs(best.T[1, 1]) > 0.99  # the fingers close along y
    assert best.width_m == pytest.approx(0.05, abs=0.003)
    assert np.hypot(*(best.T[:2, 3] - AT[:2])) < 0.01
    assert 0.0 < best.T[2, 3] < 0.07


def test_a_flat_box_is_gripped_above_the_table() -> None:
    panda = StillPanda({'flat_1': (AT, FLAT)})

    (best, *_), _ = find_grasps(panda, panda.state, 'flat_1', ())

    assert best.width_m == pytest.approx(0.042, abs=0.003)
    assert 0.002 < best.T[2, 3] < 0.006


def test_a_trough_that_is_too_wide_is_gripped_by_a_wall() -> None:
    panda = StillPanda({'trough_1': (AT, TROUGH)})

    (best, *_), _ = find_grasps(panda, panda.state, 'trough_1', ())

    assert best.kind == 'wall'
    assert best.width_m == pytest.approx(0.006, abs=0.002)
    assert abs(best.T[1, 3]) == pytest.approx(0.06, abs=0.003)


def test_what_is_wider_than_the_hand_opens_has_no_grasp() -> None:
    panda = StillPanda({'wide_1': (AT, WIDE)})

    assert find_grasps(panda, panda.state, 'wide_1', ()) == ([], False)


def test_a_neighbour_takes_the_grasps_that_it_leaves_no_room_for() -> None:
    wall: tuple[Part, ...] = (((0.0, 0.0, 0.1), (0.3, 0.01, 0.1)),)
    panda = StillPanda(
        {
            'box_1': (AT, BOX),
            'left_1': ((0.5, 0.04, 0.0), wall),
            'right_1': ((0.5, -0.04, 0.0), wall),
        }
    )

    assert find_grasps(panda, panda.state, 'box_1', ()) == ([], True)


def test_no_finger_goes_into_the_table() -> None:
    panda = StillPanda({'box_1': (AT, BOX)})
    body = shape_of(panda, 'box_1', panda.state)
    grasps = ordered(list(grasps_on(body, top_down(body.middle_m, 0.0)[:3, :3], body.middle_m)))

    kept = [grasp for grasp in grasps if free_way(grasp.T, ground(0.0), way_m=0.1)]

    assert kept
    assert all(grasp.T[2, 3] > 0.001 for grasp in kept)
