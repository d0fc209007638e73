"""Cuts a stream of sound into utterances."""

from collections import deque

import numpy as np

from bbllm_voice.libraries import library
from bbllm_voice.sound import FRAME_S, RATE_HZ, Sound, pcm

PAUSE_S = 0.5
"""A pause of this length ends an utterance [s]."""
LONGEST_S = 15.0
"""An utterance without a pause is left out from here on [s]."""
WINDOW = 8
"""Frames in which speech is searched for; they belong to the utterance."""
LEAST = 4
"""Frames of speech among them that begin an utterance: short words have few."""


class Utterances:
    """
    Finds speech by the voice detector of WebRTC, which is part of pocketsphinx.

    pocketsphinx' own `Endpointer` needs speech in nearly all frames of a window as long as the
    pause, and so drops single words such as "stop".
    """

    def __init__(self) -> None:
        pocketsphinx = library('pocketsphinx')
        self._vad = pocketsphinx.Vad(pocketsphinx.Vad.STRICT, RATE_HZ, FRAME_S)
        self._before: deque[tuple[Sound, bool]] = deque(maxlen=WINDOW)
        self._frames: list[Sound] = []
        self._quiet_s = 0.0
        self.n_endless = 0
        """How many utterances were left out, as they had no pause within `LONGEST_S`."""

    def feed(self, frame: Sound) -> Sound | None:
        """Take a frame of `FRAME_S`; return the utterance that ended in it, if one did."""
        is_speech = self._vad.is_speech(pcm(frame))
        if not self._frames:
            self._before.append((frame, is_speech))
            if sum(voiced for _, voiced in self._before) >= LEAST:
                self._frames = [sound for sound, _ in self._before]
                self._before.clear()
                self._quiet_s = 0.0
            return None
        if len(self._frames) * FRAME_S < LONGEST_S:
            self._frames.append(frame)
        self._quiet_s = 0.0 if is_speech else self._quiet_s + FRAME_S
        if self._quiet_s < PAUSE_S:
            return None
        whole, self._frames = self._frames, []
        if len(whole) * FRAME_S >= LONGEST_S:
            self.n_endless += 1
            return None
        return np.concatenate(whole)
