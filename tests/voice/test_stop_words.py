"""Which texts stop, and what the spotter finds."""

import pytest

from bbllm_voice.stop_words import is_spoken_stop


@pytest.mark.parametrize(
    'text',
    ['Stop.', 'No, no, stop!', 'please STOP the arm', 'Halt', 'Do not stop', 'Hold.', 'stopp'],
)
def test_any_stop_word_stops(text: str) -> None:
    assert is_spoken_stop(text)


@pytest.mark.parametrize('text', ['', 'put it on top', 'hold the cube', 'stack the cubes', '...'])
def test_other_sentences_do_not(text: str) -> None:
    assert not is_spoken_stop(text)
