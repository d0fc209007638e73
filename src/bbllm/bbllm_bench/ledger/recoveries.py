"""Which error does which planner and model recover from, and at what cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from bbllm_bench.ledger.failures import FailureRow
from bbllm_bench.log.intervals import Estimate, rate_of


@dataclass(frozen=True, slots=True, order=True)
class Configuration:
    """What played."""

    planner: str
    brain: str
    k: int
    """Feedback loops; -1 where the journal does not state them."""

    def __str__(self) -> str:
        loops = f', K = {self.k}' if self.k >= 0 else ''
        return f'{self.planner}, {self.brain}{loops}'


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRate:
    """The failures with one error of one configuration."""

    error: str
    """As in `FailureRow`."""
    configuration: Configuration
    failures: tuple[FailureRow, ...]
    episodes: int
    """In how many episodes they were."""
    recovered: Estimate
    """Share of the failures, with Wilson's interval."""
    requests: float | None
    """Median over the failures that were recovered, None without any; as the next two."""
    tokens: float | None
    arm_s: float | None
    """[s]."""


def recoveries(failures: Iterable[FailureRow]) -> tuple[RecoveryRate, ...]:
    """Return a row for each error and configuration, sorted by these."""
    groups: dict[tuple[str, Configuration], list[FailureRow]] = {}
    for each in failures:
        k = -1 if each.k is None else each.k
        key = each.error, Configuration(each.planner, each.brain, k)
        groups.setdefault(key, []).append(each)
    return tuple(_recovery(*key, groups[key]) for key in sorted(groups))


def episodes_of(failures: Iterable[FailureRow]) -> int:
    """Return in how many episodes failures were."""
    return len({(each.journal, each.episode) for each in failures})


def _recovery(
    error: str, configuration: Configuration, failures: list[FailureRow]
) -> RecoveryRate:
    worked = [each for each in failures if each.recovered]
    return RecoveryRate(
        error=error,
        configuration=configuration,
        failures=tuple(failures),
        episodes=episodes_of(failures),
        recovered=rate_of(len(worked), len(failures)),
        requests=median(each.requests for each in worked) if worked else None,
        tokens=median(each.tokens for each in worked) if worked else None,
        arm_s=median(each.arm_s for each in worked) if worked else None,
    )
