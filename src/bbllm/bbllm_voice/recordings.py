"""Recordings that a page sends: one utterance each, while a button is pressed."""

import threading
from collections.abc import Sequence
from functools import cache

from bbllm_voice.sound import read_wav
from bbllm_voice.stop_words import is_spoken_stop
from bbllm_voice.transcribers import Transcriber, Transcript, make_transcriber

_lock = threading.Lock()


def understand(recording: bytes, names: Sequence[str] = ()) -> tuple[Transcript, bool]:
    """
    Return what is said in a WAV file, and whether it is to stop the robot.

    One at a time is transcribed, by the transcriber of `config/llm.yaml`; it is kept. Any thread
    may call it.

    Raises:
        ConfigError: The recording, or the configuration, cannot be used.
        ModelError: A server gave no usable reply.
    """
    sound = read_wav(recording)
    with _lock:
        transcript = _transcriber().transcribe(sound, names)
    return transcript, is_spoken_stop(transcript.text)


@cache
def _transcriber() -> Transcriber:
    return make_transcriber()
