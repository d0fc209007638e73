"""Stop words in speech; no language model takes part."""

import re
import tempfile
from pathlib import Path

from bbllm.core.stop_words import STOP_WORDS
from bbllm_voice.libraries import library
from bbllm_voice.sound import RATE_HZ, Sound, pcm

NEAR_WORDS = frozenset({'stops', 'stopped', 'top', 'hold', 'holt', 'palt', 'alt', 'para'})
"""What transcribers make of a stop word, and stop words that mean something else in a sentence:
they stop only as the whole utterance."""
SPOTTED = ('stop', 'halt', 'abort', 'freeze')
THRESHOLD = 1e-5
"""Of a keyphrase in pocketsphinx; lower finds more, and more that was not said."""


def is_spoken_stop(text: str) -> bool:
    """
    Return whether what was said is to stop the robot: any word of it is a stop word.

    That includes "do not stop": a stop that was not meant costs less than one that is missed.
    """
    words = set(re.findall(r'\w+', text.lower()))
    return bool(words & STOP_WORDS - NEAR_WORDS) or (len(words) == 1 and bool(words & NEAR_WORDS))


class StopSpotter:
    """
    Finds stop words in a stream, before the utterance ends.

    It misses some and finds some that were not said (docs/voice.md has the figures), so that the
    text of each utterance is searched too.
    """

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._decoder = library('pocketsphinx').Decoder(
            samprate=RATE_HZ, loglevel='FATAL', lm=None
        )
        self._decoder.add_word('stop(2)', 'S T AO P', True)  # as in British English
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'stop.list'
            path.write_text(''.join(f'{word} /{threshold}/\n' for word in SPOTTED))
            self._decoder.add_kws('stop', str(path))
        self._decoder.activate_search('stop')
        self._running = False

    def feed(self, frame: Sound) -> bool:
        """Take the next samples; return whether a stop word was found in what came so far."""
        if not self._running:
            self._decoder.start_utt()
            self._running = True
        self._decoder.process_raw(pcm(frame))
        found = self._decoder.hyp() is not None
        if found:
            self.reset()
        return found

    def reset(self) -> None:
        """Forget the stream so far."""
        if self._running:
            self._decoder.end_utt()
            self._running = False
