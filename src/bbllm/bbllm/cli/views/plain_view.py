"""An episode as plain lines, one event a line, for logs, pipes and grep."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TextIO

from bbllm.core.events import EpisodeEnded, Event, ModelCall, ModelReplied, describe
from bbllm.core.observation import Observed
from bbllm.core.progress import Progress, counts_text
from bbllm.core.text import escape_line, escape_texts


class LineView:
    """
    Prints events as they come: the time, a word, the rest.

    The time is that since the start by the clock, or the simulated one where more of it passed.

        12.4 s  repair    1 at step 4: aqua_cube is out of the workspace of the robot.

    Falls silent where it cannot write any more.
    """

    paused = nullcontext
    """Lines never stand in the way of a question."""

    def __init__(self, file: TextIO):
        self._file = file
        self._writable = True
        self._errors: list[str] = []
        """Sentences of calls of models that failed, as they were printed."""
        self.progress = Progress()

    def __call__(self, event: Event) -> None:
        """Print one event; what was sensed and most replies of models are left to the journal."""
        self.progress.take(event)
        detail = isinstance(event.data, (ModelReplied, Observed))
        if isinstance(event.data, ModelCall):
            detail = event.data.role != 'brain'
        rows = [] if detail else describe(escape_texts(event.data))
        if not isinstance(event.data, EpisodeEnded):
            rows = [(word, self._once(text)) for word, text in rows]
        if isinstance(event.data, ModelCall) and rows and event.data.error:
            self._errors.append(event.data.error.partition(': ')[2] or event.data.error)
        if isinstance(event.data, EpisodeEnded):
            episode = self.progress.episode
            rows.append(('total', counts_text(episode, episode.robot_s, episode.wall_s)))
        # One event stays one line, whatever is in its texts.
        time_s = max(self.progress.wall_s, self.progress.robot_s)
        lines = [f'{time_s:7.1f} s  {word:<8}  {escape_line(text)}\n' for word, text in rows]
        if self._writable:
            try:
                self._file.write(''.join(lines))
                self._file.flush()
            except OSError:
                # The reader went away or the disk is full; the arm's work goes on, and on record.
                self._writable = False

    def _once(self, text: str) -> str:
        """Leave out the sentence of an error that a line above has; the last line repeats it."""
        for error in self._errors:
            text = text.replace(error, 'as above.')
        return text

    def __enter__(self) -> LineView:
        return self

    def __exit__(self, *error: object) -> None:
        return
