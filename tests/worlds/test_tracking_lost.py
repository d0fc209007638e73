"""Tracking things that are gone: what is lost, when, and what is only hidden or out of view."""

from __future__ import annotations

import random

import pytest
from tracked_tables import HERE, THERE, Table


def test_thing_that_could_be_seen_and_is_not_is_lost_after_a_time() -> None:
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


def test_lost_thing_is_back_when_it_is_seen_again() -> None:
    table = Table(agreeing=3)
    table.show(('cube', HERE), times=5)
    table.show(times=10)
    assert table.lost == ['cube']

    table.show(('cube', THERE), times=3)

    assert table.lost == []
    assert table.place('cube') == pytest.approx(THERE)


def test_thing_that_blinks_is_not_lost() -> None:
    table = Table(lost_after_s=2.0)
    table.show(('cube', HERE), times=5)

    for _ in range(10):
        table.show(times=8)
        table.show(('cube', HERE))

    assert table.lost == []


def test_hidden_thing_is_not_lost_however_long_it_is_hidden() -> None:
    table = Table(lost_after_s=2.0)
    table.show(('cube', HERE), times=5)

    table.show(times=100, hidden=lambda item: item.name == 'cube')

    assert table.lost == []
    assert table.place('cube') == pytest.approx(HERE)


def test_thing_that_is_only_seen_all_over_the_place_is_lost() -> None:
    table, rng = Table(lost_after_s=2.0), random.Random(2)
    table.show(('cube', HERE), times=5)

    for _ in range(12):
        table.show(('cube', (rng.uniform(0.3, 0.7), rng.uniform(-0.4, 0.4), 0.02)))

    assert table.lost == ['cube']


def test_zero_patience_means_that_nothing_is_ever_lost() -> None:
    table = Table(lost_after_s=0.0)
    table.show(('cube', HERE), times=5)

    table.show(times=200)

    assert table.lost == []


def test_camera_that_never_saw_a_thing_says_nothing_by_not_seeing_it() -> None:
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
