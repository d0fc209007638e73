"""What tests of speech share: synthesised speech, and parts that follow a script."""

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from bbllm_bench.benchmarks.voice.speech import LEAD_S, TAIL_S, Voice
from bbllm_voice.sound import RATE_HZ, Sound
from bbllm_voice.transcribers import Transcript

PATIENCE_S = 60.0


def spoken(text: str, voice: str = 'en-us') -> Sound:
    """Return speech between silences; skips where espeak-ng is missing."""
    if shutil.which('espeak-ng') is None:
        pytest.skip('espeak-ng is not installed: apt install espeak-ng')
    lead, tail = (np.zeros(round(s * RATE_HZ), np.float32) for s in (LEAD_S, TAIL_S))
    rng = np.random.default_rng(0)
    sound = np.concatenate([lead, Voice(voice, 150).speech(text), tail])
    return (sound + rng.normal(0.0, 1e-3, len(sound))).astype(np.float32)


def noise(seconds: float, level: float = 0.2) -> Sound:
    rng = np.random.default_rng(0)
    return rng.normal(0.0, level, round(seconds * RATE_HZ)).astype(np.float32)


@dataclass
class ScriptedTranscriber:
    """Returns its texts in order, one for each utterance."""

    texts: list[str]
    label: str = 'script'
    names: list[Sequence[str]] = field(default_factory=list)

    def transcribe(self, sound: Sound, names: Sequence[str] = ()) -> Transcript:
        self.names.append(names)
        return Transcript(self.texts.pop(0), 0.9)


@dataclass
class Person:
    """Types lines; notes what is shown."""

    answers: list[str]
    shown: list[str] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def typed(self) -> str | None:
        return self.answers.pop(0) if self.answers else None

    def stop(self, reason: str) -> None:
        self.stops.append(reason)
        self.stopped.set()
