"""What an episode is shown of earlier ones, and where what it leaves is kept."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bbllm.core.constants import EXPERIENCE, NO_EXPERIENCE
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.planners.common.experience.entry import Entry, entry_of
from bbllm.planners.common.experience.recall import Recall
from bbllm.planners.common.experience.store import ExperienceFile, experience_path


def file_of(wanted: str) -> ExperienceFile | None:
    """Return the file of an option `experience`: that of this user, another one, or none."""
    if wanted == NO_EXPERIENCE:
        return None
    return ExperienceFile(experience_path() if wanted == EXPERIENCE else Path(wanted))


@dataclass(frozen=True, slots=True)
class Memory:
    """Entries that an episode may be shown, and the file that keeps what it leaves."""

    recall: Recall = field(default_factory=lambda: Recall(()))
    faults: tuple[str, ...] = ()
    """Which lines of the file were left out, and why."""
    file: ExperienceFile | None = None
    """None where nothing is kept."""

    @classmethod
    def of(cls, wanted: str) -> 'Memory':
        """Return that of an option `experience`; raises ConfigError where it cannot be read."""
        file = file_of(wanted)
        if file is None:
            return cls()
        entries, faults = file.read()
        return cls(Recall(entries), faults, file)

    @classmethod
    def fixed(cls, entries: Iterable[Entry]) -> 'Memory':
        """Return one that keeps nothing."""
        return cls(Recall(entries))

    def keep(self, episode: Episode) -> None:
        """Keep what an episode leaves, if anything; a file that cannot be written is logged."""
        if self.file is None or (entry := entry_of(episode, met=episode.goal == 'met')) is None:
            return
        try:
            self.file.add([entry])
        except ConfigError as error:  # the episode has ended, and well
            logging.getLogger('bbllm').warning('%s', error)
