"""Which stream of a camera is missing, and since when."""

import math

import pytest

from bbllm_vision.stream_health import Stream, StreamHealth

TOPICS = {stream: f'/bbllm/left/{stream.value}' for stream in Stream}


def health_of(**ages_s: float) -> StreamHealth:
    """Return what came of streams by now (10 s), each so long ago; stamps are times."""
    health = StreamHealth(TOPICS, silent_after_s=1.0, tolerance_s=0.01)
    for name, age_s in ages_s.items():
        health.take(Stream[name], 10.0 - age_s, 10.0 - age_s)
    return health


FINE = {'COLOR': 0.1, 'DEPTH': 0.1, 'INFO': 0.1}


@pytest.mark.parametrize('stream', list(Stream))
def test_stream_that_never_came_is_named_with_its_remedy(stream: Stream) -> None:
    health = health_of(**{name: age_s for name, age_s in FINE.items() if name != stream.name})

    fault = health.judge(10.0, 9.9)

    assert fault and fault.reason == 'missing'
    assert TOPICS[stream] in fault.text
    assert ('align_depth' in fault.text) is (stream is Stream.DEPTH)


@pytest.mark.parametrize('stream', list(Stream))
def test_stream_that_ends_is_named_with_its_silence(stream: Stream) -> None:
    fault = health_of(**{**FINE, stream.name: 1.3}).judge(10.0, 9.9)

    assert fault and fault.reason == 'silent'
    assert f'nothing on {TOPICS[stream]} for 1.3 s' in fault.text


def test_camera_that_is_unplugged_is_silent_as_a_whole_whichever_stream_was_first() -> None:
    fault = health_of(COLOR=0.95, DEPTH=1.05, INFO=1.0).judge(10.0, 9.0)

    assert fault and f'nothing on {TOPICS[Stream.COLOR]} for' in fault.text
    assert 'cable' in fault.text


@pytest.mark.parametrize('stream', [Stream.COLOR, Stream.DEPTH])
def test_stamps_that_stand_still_are_frozen(stream: Stream) -> None:
    health = health_of(**{**FINE, stream.name: 1.5})
    for now_s in (8.6, 9.0, 9.5, 10.0):
        health.take(stream, 8.5, now_s)

    fault = health.judge(10.0, 9.9)

    assert fault and fault.reason == 'frozen'
    assert 'no stamp later than 8.500 s' in fault.text


def test_camera_info_may_keep_its_stamp() -> None:
    health = health_of(**FINE)
    for now_s in (5.0, 9.9):
        health.take(Stream.INFO, 1.0, now_s)

    assert health.judge(10.0, 9.9) is None


def test_colour_and_depth_of_different_moments_are_no_pairs() -> None:
    fault = health_of(**{**FINE, 'DEPTH': 0.05}).judge(10.0, -math.inf)

    assert fault and fault.reason == 'pairs'
    assert 'differ by 0.050 s, and at most 0.01 s' in fault.text


def test_clock_that_is_set_back_is_no_frozen_stamp() -> None:
    health = health_of(**FINE)
    for stream in (Stream.COLOR, Stream.DEPTH):
        health.take(stream, 99.0, 5.0)
        health.take(stream, 9.9, 9.9)

    assert health.judge(10.0, 9.9) is None
