"""Progress of a run, and the interface of its observer."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from bbllm_bench.log.results import EpisodeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Where a run stands."""

    total: int
    """Episodes of the whole run."""
    done: int
    """Episodes on record, those of earlier sessions included."""
    played: int
    """Episodes of this session."""
    passed: int
    lost: int
    requests: int = 0
    """How often models were asked in the episodes on record."""
    wall_s: float
    """How long this session has taken [s]."""

    @classmethod
    def of(
        cls, results: Collection[EpisodeResult], total: int, played: int = 0, wall_s: float = 0.0
    ) -> 'RunProgress':
        """Count the episodes that are on record."""
        return cls(
            total=total,
            done=len(results),
            played=played,
            passed=sum(result.passed for result in results),
            lost=sum(result.lost for result in results),
            requests=sum(result.model_calls for result in results),
            wall_s=wall_s,
        )

    @property
    def per_minute(self) -> float:
        """Episodes a minute in this session; 0 before the first."""
        return 60.0 * self.played / self.wall_s if self.played and self.wall_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """How long the rest will take at this rate [s]; None before the first episode."""
        rate = self.per_minute
        return 60.0 * (self.total - self.done) / rate if rate else None


class Watch(Protocol):
    """Observes a run, and may end it."""

    def began(self, progress: RunProgress) -> None:
        """Take where the run stands before this session's first episode."""
        ...

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        """Take one episode that is on record now."""
        ...

    def warned(self, text: str) -> None: ...

    def wants_end(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a session of a run ended."""

    progress: RunProgress
    reason: str = ''
    """Why it ended early; empty where all episodes are on record."""
    interrupted: bool = False
    """Whether the observer ended it."""
    problem: str = ''
    """What is wrong with tables that could not be made; empty where all could."""
