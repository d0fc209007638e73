"""Which lines stop the robot without a model."""

import pytest

from bbllm.core.stop_words import is_stop


@pytest.mark.parametrize(
    'text',
    [
        'stop',
        'STOP!',
        ' Stop, stop. ',
        'para',
        '¡Para!',
        'emergency stop',
        'Stopp',
        'please stop!',
    ],
)
def test_a_line_that_is_a_stop_word_stops(text: str) -> None:
    assert is_stop(text)


@pytest.mark.parametrize(
    'text',
    [
        'pon el cubo rojo en A para mí',
        'para que sirve esto?',
        'stop, use the green one',
        'do not stop',
        'put the red cube on the stop',
        '',
        '!',
    ],
)
def test_a_sentence_with_a_stop_word_is_left_to_the_planner(text: str) -> None:
    assert not is_stop(text)
