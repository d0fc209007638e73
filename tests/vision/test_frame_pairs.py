"""Colour and depth are paired by their stamps, and only the newest pair waits."""

import pytest

from bbllm_vision.frame_pairs import FramePairs


def test_frames_of_one_stamp_are_a_pair_whichever_comes_first() -> None:
    pairs = FramePairs[str, str](0.0)

    assert not pairs.add_color(1.0, 'red')
    assert pairs.add_depth(1.0, 'near')
    first = pairs.take()
    assert not pairs.add_depth(2.0, 'far')
    assert pairs.add_color(2.0, 'blue')
    second = pairs.take()

    assert first and (first.color, first.depth, first.stamp_s) == ('red', 'near', 1.0)
    assert second and (second.color, second.depth, second.stamp_s) == ('blue', 'far', 2.0)
    assert pairs.take() is None
    assert pairs.dropped == 0


def test_slow_reader_gets_the_newest_pair_and_the_others_are_dropped() -> None:
    pairs = FramePairs[int, int](0.0)
    for i in range(5):
        pairs.add_color(float(i), i)
        pairs.add_depth(float(i), i)

    pair = pairs.take()

    assert pair and (pair.color, pair.depth) == (4, 4)
    assert pairs.dropped == 4
    assert pairs.take() is None


@pytest.mark.parametrize(('gap_s', 'paired'), [(0.009, True), (0.011, False)])
def test_stamps_may_differ_by_the_tolerance(gap_s: float, paired: bool) -> None:
    pairs = FramePairs[str, str](0.01)
    pairs.add_color(1.0, 'red')

    assert pairs.add_depth(1.0 + gap_s, 'near') is paired


def test_depth_that_lags_is_paired_with_the_colour_of_its_moment() -> None:
    pairs = FramePairs[int, int](0.001)
    for i in range(4):
        pairs.add_color(i / 30, i)

    assert pairs.add_depth(1 / 30, 1)
    pair = pairs.take()

    assert pair and pair.color == 1


def test_frames_that_are_not_newer_than_the_last_pair_make_none() -> None:
    pairs = FramePairs[str, str](0.0)
    pairs.add_color(2.0, 'red')
    pairs.add_depth(2.0, 'near')

    assert not pairs.add_color(2.0, 'red')
    assert not pairs.add_depth(1.0, 'old')
    assert not pairs.add_color(1.0, 'old')


def test_clock_that_is_set_back_begins_anew() -> None:
    pairs = FramePairs[str, str](0.0)
    pairs.add_color(30.0, 'red')
    pairs.add_depth(30.0, 'near')

    pairs.add_color(2.0, 'blue')

    assert pairs.add_depth(2.0, 'far')
    pair = pairs.take()
    assert pair and (pair.color, pair.stamp_s) == ('blue', 2.0)
