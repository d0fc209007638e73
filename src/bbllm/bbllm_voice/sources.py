"""Where sound comes from, frame by frame: a microphone, or files in its place."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bbllm.core.errors import ConfigError
from bbllm_voice.libraries import library
from bbllm_voice.sound import FRAME, RATE_HZ, Sound, frames, read_wav

MICROPHONE = 'microphone'
PAUSE_S = 0.9
"""Silence after each file [s]; it ends an utterance."""


def open_source(name: str) -> Iterator[Sound]:
    """
    Return the frames of the microphone, a WAV file, or all WAV files of a folder by name.

    Files come as fast as they are taken.

    Raises:
        ConfigError: There is no such source.
    """
    if name == MICROPHONE:
        return _microphone()
    path = Path(name).expanduser()
    files = sorted(path.glob('*.wav')) if path.is_dir() else [path]
    if not files:
        raise ConfigError(f'{name} has no .wav files. Name a WAV file, or {MICROPHONE}.')
    return _from_files([read_wav(file) for file in files])


def _from_files(sounds: list[Sound]) -> Iterator[Sound]:
    silence = np.zeros(round(PAUSE_S * RATE_HZ), np.float32)
    for sound in sounds:
        yield from frames(np.concatenate([sound, silence]))


def _microphone() -> Iterator[Sound]:
    sounddevice = library('sounddevice')
    try:
        stream = sounddevice.InputStream(
            samplerate=RATE_HZ, channels=1, dtype='float32', blocksize=FRAME
        )
        stream.start()
    except sounddevice.PortAudioError as error:
        raise ConfigError(
            f'The microphone cannot be opened: {error}. Connect one, or name a WAV file in its '
            'place; `python -m sounddevice` lists the devices.'
        ) from None
    return _read(stream)


def _read(stream: object) -> Iterator[Sound]:
    with stream:  # type: ignore[attr-defined]
        while True:
            data, _ = stream.read(FRAME)  # type: ignore[attr-defined]
            yield data[:, 0].copy()
