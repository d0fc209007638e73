"""What the page can do to a robot: no more than the command line, and nothing in a replay."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bbllm.core.errors import TaskError
from bbllm.core.events import Episode
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.replay.recording import recording_of

REMARK_S = 60.0
"""How long a remark's sender waits for what becomes of it, wall clock [s]."""
REFUSAL = (
    'This page replays an episode on record, and directs no robot. The pages of `bbllm console` '
    'and `bbllm demo --browser` do.'
)


class Desk(Protocol):
    """
    A robot as the page sees and directs it; any thread may call it.

    Every method raises BbllmError, whose text the page shows, where it was not done.
    """

    feed: Feed
    """What the page shows."""

    def begin(self, instruction: str) -> None:
        """Begin a task; it goes on whatever becomes of the browser."""
        ...

    def say(self, text: str) -> str:
        """Send the planner a remark, and return what became of it within `REMARK_S`."""
        ...

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny what waits, by its whole hash, in the name of the person here."""
        ...

    def stop(self) -> None:
        """Stop the arm and the task; the hand keeps its object."""
        ...


class RecordDesk:
    """Shows the journal of an episode, with the motion beside it, and refuses everything else."""

    def __init__(self, episode: Episode, journal: Path, faults: Sequence[str] = ()):
        self.feed = Feed()
        self.feed.set('robot', f'replay of {episode.id}')
        self.feed.set('fault', '\n'.join(faults))
        self.feed.show_record(journal, recording_of(episode, journal))

    def begin(self, instruction: str) -> None:
        """Refuse; see `Desk`."""
        raise TaskError(REFUSAL)

    def say(self, text: str) -> str:
        """Refuse; see `Desk`."""
        raise TaskError(REFUSAL)

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Refuse; see `Desk`."""
        raise TaskError(REFUSAL)

    def stop(self) -> None:
        """Refuse; see `Desk`."""
        raise TaskError(REFUSAL)
