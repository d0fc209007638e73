"""The lines of a conversation of which some are spoken: each is confirmed before it counts."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from bbllm.core.errors import BbllmError
from bbllm_voice.sound import Sound
from bbllm_voice.stop_words import StopSpotter, is_spoken_stop
from bbllm_voice.transcribers import Transcriber, Transcript
from bbllm_voice.utterances import Utterances

ENTER = '\n'
"""What `typed` returns for an empty line."""
POLL_S = 0.05
END_S = 2.0
"""How long the thread that reads the source may take to end, wall clock [s]."""
MOST_WAITING = 4
"""How many utterances wait for the transcriber at most; later ones are left out."""
YES, NO = ('', 'y', 'yes'), ('n', 'no')


class SpokenLines:
    """
    Takes lines that are typed or spoken; used as a context, then called for the next line.

    A spoken line is shown, and counts after Enter; `n` drops it, and another text replaces it. A
    stop word calls *on_stop* at once, in a thread of its own, unconfirmed.

    Args:
        source: Frames of sound; one thread reads them.
        transcriber: What turns an utterance into text.
        typed: Returns a line that was typed, `ENTER` for an empty one, '' where none was yet,
            None after the last one.
        show: Prints a line for the person.
        names: Likely words: names of objects and locations.
        on_stop: Stops the robot; receives the reason.
        is_moving: Whether a stop word within an utterance matters, and is searched for.
        is_shut: Whether spoken lines wait, as during an approval, which is typed.
        is_noisy: Whether this program itself speaks; only a stop counts meanwhile.
        types: Whether a person types at any time. Without, each line that comes from a pipe
            answers one spoken line, or an approval.
    """

    def __init__(
        self,
        source: Iterator[Sound],
        transcriber: Transcriber,
        *,
        typed: Callable[[], str | None],
        show: Callable[[str], object],
        on_stop: Callable[[str], object],
        names: Callable[[], Sequence[str]] = tuple,
        is_moving: Callable[[], bool] = lambda: True,
        is_shut: Callable[[], bool] = lambda: False,
        is_noisy: Callable[[], bool] = lambda: False,
        types: bool = True,
    ):
        self._source, self._transcriber, self._names = source, transcriber, names
        self._typed, self._show, self._on_stop, self._types = typed, show, on_stop, types
        self._is_moving, self._is_shut, self._is_noisy = is_moving, is_shut, is_noisy
        self._utterances, self._spotter = Utterances(), StopSpotter()
        self._transcripts: queue.SimpleQueue[Transcript] = queue.SimpleQueue()
        self._asked: Transcript | None = None
        self._work: list[Future[None]] = []  # changed by the reader alone
        self._closed = threading.Event()
        self._worker = ThreadPoolExecutor(1, 'transcriber')
        self._reader = threading.Thread(target=self._read, name='speech', daemon=True)

    def __enter__(self) -> 'SpokenLines':
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._reader.join(END_S)
        self._worker.shutdown(wait=False, cancel_futures=True)

    def __call__(self) -> str | None:
        """Return the next line, '' where there is none yet, None after the last one."""
        if self._asked is None and not (self._transcripts.empty() or self._is_shut()):
            self._asked = self._transcripts.get()
            self._show(
                f'Understood: “{self._asked.text}” ({self._asked.confidence:.0%} sure). '
                'Enter: yes; n: no; or write what you meant.'
            )
        if self._asked is None and not self._types and not self._is_shut():
            return self._wait()
        line = self._typed()
        if self._asked is None or not line:
            return '' if line == ENTER else line
        asked, self._asked = self._asked.text, None
        answer = line.strip()
        if answer.lower() in YES:
            return asked
        return '' if answer.lower() in NO else answer

    def _wait(self) -> str | None:
        """Wait a moment for speech; None where the source has ended and all is understood."""
        ends = not self._reader.is_alive() and all(work.done() for work in self._work)
        if ends and self._transcripts.empty():
            return None
        self._closed.wait(POLL_S)
        return ''

    def _read(self) -> None:
        for frame in self._source:
            if self._closed.is_set():
                break
            if self._spotter.feed(frame) and self._is_moving():
                self._stop('A stop word was recognized.')
            n_endless = self._utterances.n_endless
            utterance = self._utterances.feed(frame)
            if self._utterances.n_endless > n_endless:
                self._show('Speech without a pause was left out. Speak one sentence at a time.')
            if utterance is None:
                continue
            self._work = [work for work in self._work if not work.done()]
            if len(self._work) >= MOST_WAITING:
                self._show('An utterance was left out: those before it are not transcribed yet.')
                continue
            self._work.append(self._worker.submit(self._understand, utterance))

    def _understand(self, utterance: Sound) -> None:
        try:
            transcript = self._transcriber.transcribe(utterance, self._names())
        except BbllmError as error:
            self._show(f'This was not understood: {error}')
        else:
            if is_spoken_stop(transcript.text):
                self._stop(f'“{transcript.text}” was said.')
            elif transcript.text and not self._is_noisy():
                self._transcripts.put(transcript)

    def _stop(self, reason: str) -> None:
        # Before the line is shown: nothing may delay it.
        try:
            self._on_stop(reason)
        except BbllmError as error:
            self._show(f'{reason} The robot was NOT stopped: {error}')
        else:
            self._show(f'{reason} The robot was stopped.')
