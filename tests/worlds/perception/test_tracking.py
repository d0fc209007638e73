"""Tracking: steady while things rest, and quick when they move."""

import math
import random
from collections.abc import Iterable

import pytest

from bbllm.core.types import Pose
from bbllm.skills.shapes import Vector, yaw_pose
from tests.worlds.tracked_tables import HERE, PERIOD_S, THERE, Table


def noisy(rng: random.Random, at: Vector, sigma_m: float) -> Vector:
    x, y, z = (value + rng.gauss(0.0, sigma_m) for value in at)
    return (x, y, z)


def rms(errors: Iterable[float]) -> float:
    squares = [error**2 for error in errors]
    return math.sqrt(sum(squares) / len(squares))


def test_object_is_there_once_some_sightings_agree() -> None:
    table = Table(agreeing=3)

    assert table.show(('cube', HERE), times=2) == ()
    assert table.place('cube') is None
    assert table.show(('cube', HERE)) == ('cube',)
    assert table.place('cube') == pytest.approx(HERE)


def test_noise_of_an_object_that_rests_is_averaged_out() -> None:
    table, rng = Table(), random.Random(1)
    raw, filtered = [], []
    for _ in range(300):
        at = noisy(rng, HERE, 0.002)
        table.show(('cube', at))
        place = table.place('cube')
        if place is not None:
            raw.append(math.dist(at, HERE))
            filtered.append(math.dist(place, HERE))

    assert len(filtered) > 290
    assert rms(filtered) < 0.45 * rms(raw)


def test_single_outlier_is_ignored() -> None:
    table = Table()
    table.show(('cube', HERE), times=5)

    table.show(('cube', THERE))

    assert table.place('cube') == pytest.approx(HERE)
    assert table.tracker.undecided == ('cube',)
    table.show(('cube', HERE))
    assert table.tracker.undecided == ()


@pytest.mark.parametrize('agreeing', [1, 3, 5])
def test_real_move_is_followed_at_once_after_so_many_agreeing_sightings(agreeing: int) -> None:
    table = Table(agreeing=agreeing)
    table.show(('cube', HERE), times=20)

    table.show(('cube', THERE), times=agreeing - 1)
    before = table.place('cube')
    found = table.show(('cube', THERE))

    assert before == pytest.approx(HERE)
    assert found == ('cube',)
    assert table.place('cube') == pytest.approx(THERE)  # all of the way, not a mean of both


def test_turn_beyond_the_gate_is_a_move() -> None:
    table = Table(agreeing=3, gate_rad=math.radians(15.0))
    table.show(('cube', HERE), times=5)

    assert table.show(('cube', HERE), times=3, yaw_deg=40.0) == ('cube',)


def test_cube_that_flips_between_alike_orientations_stays_as_it_is() -> None:
    table = Table()
    table.show(('cube', HERE), times=5, yaw_deg=10.0)

    for quarter in (100.0, 190.0, -80.0, 10.0):
        table.show(('cube', HERE), yaw_deg=quarter)

    pose = table.tracker.tracks['cube'].item.pose
    assert pose.quat_xyzw == pytest.approx(yaw_pose(HERE, math.radians(10.0)).quat_xyzw)
    assert table.tracker.undecided == ()


def test_picture_that_is_not_newer_is_left_out_and_reported_once() -> None:
    table = Table(agreeing=1)
    table.show(('cube', HERE))

    for _ in range(3):
        table.now_s -= PERIOD_S
        table.show(('cube', THERE))

    assert table.place('cube') == pytest.approx(HERE)
    assert table.doubts.counts == {'out of order': 3}
    assert len(table.warnings) == 1


def test_what_was_seen_before_the_hand_moved_an_object_does_not_count() -> None:
    table = Table(agreeing=1)
    table.show(('cube', HERE), times=5)
    table.tracker.put('cube', Pose(position_m=THERE), table.now_s + 1.0)

    table.show(('cube', HERE), times=4)  # pictures that were under way
    assert table.place('cube') == pytest.approx(THERE)
    table.now_s += 1.0
    table.show(('cube', HERE))

    assert table.place('cube') == pytest.approx(HERE)


def test_estimate_of_the_hand_gives_way_to_the_first_sighting_near_it() -> None:
    table = Table()
    table.show(('cube', HERE), times=5)
    table.tracker.put('cube', Pose(position_m=THERE), table.now_s)
    assert table.tracker.tracks['cube'].estimated

    near = (THERE[0] + 0.004, THERE[1], THERE[2])
    table.show(('cube', near))

    assert not table.tracker.tracks['cube'].estimated
    assert table.place('cube') == pytest.approx(near)


def test_object_that_could_be_seen_and_is_not_is_lost_after_a_time() -> None:
    table = Table(lost_after_s=2.0)
    table.show(('cube', HERE), ('other', THERE), times=5)
    seen_s = table.now_s

    table.show(('other', THERE), times=9)
    assert table.lost == []
    table.show(('other', THERE))

    assert table.lost == ['cube']
    assert table.place('cube') is None
    assert table.place('other') is not None
    (lost,) = table.tracker.lost
    assert (lost.position_m, lost.seen_s) == (pytest.approx(HERE), pytest.approx(seen_s))


def test_lost_object_is_back_when_it_is_seen_again() -> None:
    table = Table(agreeing=3)
    table.show(('cube', HERE), times=5)
    table.show(times=10)
    assert table.lost == ['cube']

    table.show(('cube', THERE), times=3)

    assert table.lost == []
    assert table.place('cube') == pytest.approx(THERE)


def test_object_that_is_only_seen_all_over_the_place_is_lost() -> None:
    table, rng = Table(lost_after_s=2.0), random.Random(2)
    table.show(('cube', HERE), times=5)

    for _ in range(12):
        table.show(('cube', (rng.uniform(0.3, 0.7), rng.uniform(-0.4, 0.4), 0.02)))

    assert table.lost == ['cube']


def test_camera_that_never_saw_an_object_shows_nothing_by_not_seeing_it() -> None:
    table = Table(lost_after_s=2.0)
    table.show(('cube', HERE), times=5, source='left')

    for _ in range(30):
        table.show(('cube', HERE), source='left')
        table.show(('other', THERE), source='right')

    assert table.lost == []


def test_pause_of_the_camera_counts_as_a_second_at_most() -> None:
    table = Table(lost_after_s=2.0)
    table.show(('cube', HERE), times=5)

    table.now_s += 60.0
    table.show()

    assert table.lost == []
