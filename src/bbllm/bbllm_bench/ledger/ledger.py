"""The failures of all journals below a folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.journal import read_damaged
from bbllm_bench.ledger.failures import FailureRow, failures_of
from bbllm_bench.log.store import EPISODES, SETTINGS, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What the journals of a folder have."""

    journals: int
    failures: tuple[FailureRow, ...]
    """Oldest first."""
    faults: tuple[str, ...]
    """Why journals were skipped, a sentence each."""

    def chosen(self, planner: str, brain: str, code: str) -> tuple[FailureRow, ...]:
        """
        Return the failures of a planner, a Brain and a code; '' stands for any.

        *planner* is a name, which includes all of its options, or a name with options.
        """
        return tuple(
            row
            for row in self.failures
            if (not planner or row.planner == planner or row.planner.startswith(f'{planner}:'))
            and brain in ('', row.brain)
            and code in ('', row.code)
        )


def read_ledger(
    folder: Path, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Ledger:
    """
    Read the journals of a folder: those in folders named `episodes`. A damaged one is skipped.

    *on_progress* is called with the number of journals that are read, and of all.

    Raises:
        ConfigError: There is no journal.
    """
    folder = folder.resolve()
    own = folder.glob('*.jsonl') if folder.name == EPISODES else ()
    journals = sorted({*own, *folder.glob(f'**/{EPISODES}/*.jsonl')})
    if not journals:
        raise ConfigError(
            f'There is no journal in {folder}. Name the folder of a run of the bench, what its '
            '--out named, or a folder above such folders.'
        )
    verdicts = _Verdicts()
    failures, faults = list[FailureRow](), list[str]()
    for done, journal in enumerate(journals, start=1):
        try:
            verdict = verdicts.of(journal)
            episode, damage = read_damaged(journal)
        except ConfigError as error:
            damage = (str(error),)
        if damage:
            faults.append(f'{journal} is skipped: {damage[0]}')
        else:
            failures += failures_of(episode, verdict, str(journal))
        on_progress(done, len(journals))
    failures.sort(key=lambda row: (row.stamp_s, row.episode, row.number))
    return Ledger(journals=len(journals), failures=tuple(failures), faults=tuple(faults))


class _Verdicts:
    """What a bench found of its episodes; each run is read once."""

    def __init__(self) -> None:
        self._by_run: dict[Path, dict[str, str] | ConfigError] = {}

    def of(self, journal: Path) -> str:
        """Return the verdict on an episode, '' if no bench judged it; raises ConfigError."""
        run = journal.parent.parent
        if run not in self._by_run:
            try:
                results = read_run(run).results if (run / SETTINGS).is_file() else ()
                self._by_run[run] = {item.key.name: item.verdict for item in results}
            except ConfigError as error:
                self._by_run[run] = error
        found = self._by_run[run]
        if isinstance(found, ConfigError):
            raise found
        return found.get(journal.stem, '')
