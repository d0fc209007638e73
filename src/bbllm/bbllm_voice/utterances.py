"""Cuts a stream of sound into utterances."""

import numpy as np

from bbllm_voice.libraries import library
from bbllm_voice.sound import FRAME_S, RATE_HZ, Sound, pcm

PAUSE_S = 0.5
"""A pause of about this length ends an utterance [s]."""
LONGEST_S = 15.0
"""An utterance without a pause is left out from here on [s]."""


class Utterances:
    """Finds speech by the voice detector of WebRTC, which is part of pocketsphinx."""

    def __init__(self) -> None:
        pocketsphinx = library('pocketsphinx')
        self._endpointer = pocketsphinx.Endpointer(
            window=PAUSE_S,
            ratio=0.9,
            vad_mode=pocketsphinx.Vad.MEDIUM_STRICT,
            sample_rate=RATE_HZ,
            frame_length=FRAME_S,
        )
        self._frames: list[Sound] = []
        self.n_endless = 0
        """How many utterances were left out, as they had no pause within `LONGEST_S`."""

    def feed(self, frame: Sound) -> Sound | None:
        """Take a frame of `FRAME_S`; return the utterance that ended in it, if one did."""
        speech = self._endpointer.process(pcm(frame))
        if speech is None:
            return None
        if len(self._frames) * FRAME_S < LONGEST_S:
            self._frames.append((np.frombuffer(speech, '<i2') / 32768).astype(np.float32))
        if self._endpointer.in_speech:
            return None
        whole, self._frames = self._frames, []
        if len(whole) * FRAME_S >= LONGEST_S:
            self.n_endless += 1
            return None
        return np.concatenate(whole)
