"""Synthesises speech with espeak-ng or Piper, and adds noise."""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bbllm.core.errors import ConfigError
from bbllm_voice.sound import RATE_HZ, Sound, read_wav

LEAD_S, TAIL_S = 0.5, 1.2
"""Silence before and after the speech [s]."""
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice of espeak-ng, or a model of Piper (a path that ends with .onnx)."""

    name: str
    words_per_minute: int = 165

    def speech(self, text: str) -> Sound:
        """Return the text as speech, without the silence at its ends; raises ConfigError."""
        piper = self.name.endswith('.onnx')
        program = 'piper' if piper else 'espeak-ng'
        if shutil.which(program) is None:
            raise ConfigError(
                f'{program} is not installed, which speaks the sentences. Install it: '
                f'{"pip install piper-tts" if piper else "sudo apt install espeak-ng"}.'
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'speech.wav'
            voice = ['-m', self.name, '-f'] if piper else ['-v', self.name, '-w']
            speed = [] if piper else ['-s', str(self.words_per_minute)]
            ran = subprocess.run(
                [program, *voice, str(path), *speed],
                input=text.encode(),
                capture_output=True,
                timeout=TIMEOUT_S,
            )
            if ran.returncode or not path.exists():
                raise ConfigError(
                    f'{program} failed: {ran.stderr.decode(errors="replace")[-300:]}'
                )
            sound = read_wav(path)
        loud = np.flatnonzero(np.abs(sound) > 0.01)
        return sound[loud[0] : loud[-1] + 1] if len(loud) else sound


VOICES = (
    Voice('en-us', 140),
    Voice('en-gb', 165),
    Voice('en-us+f3', 165),
    Voice('en-gb-scotland+m3', 190),
)


def in_noise(speech: Sound, snr_db: float, rng: np.random.Generator) -> Sound:
    """
    Return speech between silences, with white noise over all of it.

    *snr_db* is the ratio of the mean powers of speech and noise [dB].
    """
    lead, tail = (np.zeros(round(s * RATE_HZ), np.float32) for s in (LEAD_S, TAIL_S))
    sound = np.concatenate([lead, speech, tail])
    level = float(np.sqrt((speech.astype(float) ** 2).mean())) * 10 ** (-snr_db / 20)
    return np.asarray(sound + rng.normal(0.0, level, len(sound)), np.float32)


def cough(rng: np.random.Generator) -> Sound:
    """Return two bursts of noise that fade, at full level."""
    burst = rng.normal(0.0, 0.4, round(0.25 * RATE_HZ)) * np.geomspace(1.0, 0.01, 4000)
    pause = np.zeros(round(0.2 * RATE_HZ))
    return np.concatenate([pause, burst, pause, burst, np.zeros(RATE_HZ)]).astype(np.float32)
