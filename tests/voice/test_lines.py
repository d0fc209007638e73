"""Spoken lines: confirmed before they count, except stop, which is not asked about."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from bbllm_voice.sound import RATE_HZ, Sound, frames
from tests.voice.parts import PATIENCE_S, Person, ScriptedTranscriber, noise, spoken

pytest.importorskip('pocketsphinx', reason='the extra `voice` is not installed: make extras')

from bbllm_voice.lines import ENTER, SpokenLines
from bbllm_voice.utterances import LONGEST_S


def lines_of(
    sound: Sound, texts: list[str], person: Person, **options: object
) -> tuple[list[str], ScriptedTranscriber]:
    """Return the lines that count, of a sound whose utterances are understood as *texts*."""
    transcriber = ScriptedTranscriber(texts)
    lines = SpokenLines(
        frames(sound),
        transcriber,
        typed=person.typed,
        show=person.shown.append,
        on_stop=person.stop,
        types=False,
        **options,  # type: ignore[arg-type]
    )
    found, end_s = [], time.monotonic() + PATIENCE_S
    with lines:
        while (line := lines()) is not None:
            assert time.monotonic() < end_s, 'the lines did not end'
            if line:
                found.append(line)
    return found, transcriber


@pytest.mark.parametrize(
    ('answer', 'counts'),
    [
        (ENTER, ['put the red cube away']),
        ('y', ['put the red cube away']),
        ('n', []),
        ('put the RED cube on A', ['put the RED cube on A']),
    ],
)
def test_what_was_understood_counts_as_the_person_answers(answer: str, counts: list[str]) -> None:
    person = Person([answer])

    found, transcriber = lines_of(
        spoken('put the red cube away'),
        ['put the red cube away'],
        person,
        names=lambda: ('red_cube',),
    )

    assert found == counts
    assert transcriber.names == [('red_cube',)]
    assert person.stops == []
    assert '“put the red cube away” (90% sure)' in person.shown[0]


def test_without_an_answer_nothing_that_was_spoken_counts() -> None:
    found, _ = lines_of(spoken('put it back'), ['put it back'], Person([]))

    assert found == []


def test_a_stop_is_not_asked_about_and_is_no_line() -> None:
    person = Person([])

    found, _ = lines_of(spoken('stop'), ['No, stop it.'], person, is_moving=lambda: False)

    assert (found, person.stops) == ([], ['“No, stop it.” was said.'])


def test_a_stop_word_stops_before_the_utterance_has_ended() -> None:
    person = Person([])

    def source() -> Iterator[Sound]:
        sound = spoken('stop')
        yield from frames(sound[: -round(1.0 * RATE_HZ)])
        assert person.stopped.wait(PATIENCE_S), 'the spotter did not find the word'

    transcriber = ScriptedTranscriber([])
    lines = SpokenLines(
        source(), transcriber, typed=person.typed, show=person.shown.append, on_stop=person.stop
    )
    with lines:
        assert person.stopped.wait(PATIENCE_S)

    assert person.stops == ['A stop word was recognized.']


def test_spoken_lines_wait_during_an_approval_and_while_the_program_speaks() -> None:
    person = Person(['y', ENTER])  # the first one answers the approval

    found, _ = lines_of(spoken('yes'), ['yes'], person, is_shut=lambda: len(person.answers) > 1)
    noisy, _ = lines_of(spoken('yes'), ['yes'], Person([ENTER]), is_noisy=lambda: True)

    assert found == ['y', 'yes']
    assert noisy == []


def test_silence_a_cough_and_endless_speech_are_no_lines_and_no_stops() -> None:
    burst = noise(0.1) * np.geomspace(1.0, 0.01, round(0.1 * RATE_HZ)).astype(np.float32)
    silence = np.zeros(2 * RATE_HZ, np.float32)
    endless = spoken('and then the red cube ' * 16)
    assert len(endless) > LONGEST_S * RATE_HZ
    person = Person([ENTER] * 9)

    sound = np.concatenate([silence, burst, silence, endless, silence])
    found, _ = lines_of(sound, [], person, is_moving=lambda: False)

    assert (found, person.stops) == ([], [])
    assert person.shown == ['Speech without a pause was left out. Speak one sentence at a time.']
