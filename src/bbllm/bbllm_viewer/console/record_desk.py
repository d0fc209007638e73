"""An episode on record, as the page replays it: nothing can be directed."""

from collections.abc import Sequence
from pathlib import Path

from bbllm.core.errors import TaskError
from bbllm.core.events import Episode
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.replay.recording import recording_of

REFUSAL = (
    'This page replays an episode on record, and directs no robot. The pages of `bbllm console` '
    'and `bbllm demo --browser` do.'
)


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
