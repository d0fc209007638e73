"""One try to play an episode, where everything that can go wrong becomes an answer."""

import traceback
from dataclasses import dataclass

from bbllm.core.errors import ConfigError
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, Play
from bbllm_bench.log.results import EpisodeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Nothing came back but a reason."""

    key: EpisodeKey
    reason: str
    error: str
    """Type of the error."""
    again: bool = False
    """Whether it may go well another time: its process died, the program has no fault."""
    trace: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No episode of this run can be played, and why."""

    key: EpisodeKey
    reason: str


Answer = EpisodeRecord | Failed | Refused


def attempt(play: Play, job: EpisodeSpec) -> Answer:
    try:
        return play(job)
    except ConfigError as error:
        return Refused(key=job.key, reason=str(error))
    except Exception as error:  # a fault in one episode must not take the others with it
        # It is told, with its traceback, and the episode counts as one that was lost.
        kind = type(error).__name__
        return Failed(
            key=job.key,
            reason=f'Fault in the program: {kind}: {error}',
            error=kind,
            trace=traceback.format_exc(),
        )
