"""Sound as samples: 16 kHz, one channel, float32 from -1 to 1."""

import io
import wave
from collections.abc import Iterator
from math import gcd
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import ConfigError

RATE_HZ = 16_000
FRAME_S = 0.03
"""Duration of the frames in which a stream comes [s]."""
FRAME = round(RATE_HZ * FRAME_S)
LONGEST_S = 60.0
"""A longer file is refused [s]."""
_RATES_HZ = (8_000, 192_000)

Sound: TypeAlias = NDArray[np.float32]
"""Samples, shape (n,)."""


def read_wav(source: Path | bytes) -> Sound:
    """
    Read a WAV file, or its bytes: 16-bit PCM of any rate, channels averaged.

    Raises:
        ConfigError: It is no such file, or lasts longer than `LONGEST_S`.
    """
    name = str(source) if isinstance(source, Path) else 'The recording'
    try:
        opened = io.BytesIO(source) if isinstance(source, bytes) else source.open('rb')
        with opened, wave.open(opened) as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            usable = width == 2 and channels and _RATES_HZ[0] <= rate <= _RATES_HZ[1]
            data = file.readframes(int(LONGEST_S * rate) + 1) if usable else b''
    except OSError as error:
        raise ConfigError(f'Cannot read {name}: {error.strerror}.') from None
    except (wave.Error, EOFError):
        usable, data, rate, channels = False, b'', RATE_HZ, 1
    if not usable:
        raise ConfigError(
            f'{name} is no WAV file of 16-bit PCM. Convert it: ffmpeg -i FILE -ar 16000 -ac 1 '
            '-c:a pcm_s16le OUT.wav.'
        )
    samples = np.frombuffer(data[: len(data) // (2 * channels) * 2 * channels], '<i2')
    sound = samples.reshape(-1, channels).mean(axis=1) / 32768.0
    if len(sound) > LONGEST_S * rate:
        raise ConfigError(f'{name} lasts longer than {LONGEST_S:g} s. Cut it into sentences.')
    return resample(sound.astype(np.float32), rate)


def resample(sound: Sound, rate_hz: int) -> Sound:
    """Return a sound of another rate at 16 kHz."""
    from scipy.signal import resample_poly

    if rate_hz == RATE_HZ or not len(sound):
        return sound
    common = gcd(RATE_HZ, rate_hz)
    return np.asarray(resample_poly(sound, RATE_HZ // common, rate_hz // common), np.float32)


def pcm(sound: Sound) -> bytes:
    """Return the samples as 16-bit little-endian PCM."""
    return (np.clip(sound, -1.0, 1.0) * 32767).astype('<i2').tobytes()


def wav(sound: Sound) -> bytes:
    """Return the content of a WAV file."""
    file = io.BytesIO()
    with wave.open(file, 'wb') as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE_HZ)
        out.writeframes(pcm(sound))
    return file.getvalue()


def frames(sound: Sound) -> Iterator[Sound]:
    """Yield a sound in frames of `FRAME_S`; the last one is filled with silence."""
    for start in range(0, len(sound), FRAME):
        frame = sound[start : start + FRAME]
        yield np.pad(frame, (0, FRAME - len(frame)))
