"""Sentences are spoken by another program, which never delays anything."""

import sys
import time
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_voice.speaker import Speaker, make_speaker

PATIENCE_S = 30.0


def wait_for(path: Path) -> str:
    end_s = time.monotonic() + PATIENCE_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < end_s, f'{path} was not written'
        time.sleep(0.02)
    return path.read_text()


def test_the_program_receives_the_text_and_a_hush_ends_it(tmp_path: Path) -> None:
    out = tmp_path / 'spoken'
    program = 'import sys, time; open(sys.argv[1], "w").write(sys.stdin.read()); time.sleep(600)'
    speaker = Speaker([sys.executable, '-c', program, str(out)])

    speaker.speak('Done: 2 of 2.')

    assert wait_for(out) == 'Done: 2 of 2.'
    assert speaker.is_speaking
    speaker.hush()
    assert not speaker.is_speaking


def test_a_missing_program_is_named_with_what_would_work() -> None:
    with pytest.raises(ConfigError, match=r'no_such_speech is not installed.*espeak-ng'):
        make_speaker('no_such_speech -v en')


def test_a_program_that_ends_at_once_is_no_error() -> None:
    speaker = Speaker(['true'])

    for _ in range(20):
        speaker.speak('x' * 5000)
