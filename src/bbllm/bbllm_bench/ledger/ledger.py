"""
The ledger of failures: one SQLite file, brought up to date from journals.

Table `failures` has a row for each `FailureRow`, with its fields as columns.
Table `journals` has a row for each journal that was read, with its `fault` if it is damaged. Both
can be made again from the journals, so a file of another version is emptied first.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import get_type_hints

from bbllm.core.errors import ConfigError
from bbllm.core.events import hash_of_text
from bbllm.core.journal import read_damaged
from bbllm.core.protocols import EarlierFailure, FailureMemory
from bbllm.core.records import canonical, to_json
from bbllm_bench.ledger.failures import BY_CALL, FailureRow, failures_of
from bbllm_bench.log.store import EPISODES, SETTINGS, read_run

LEDGER = 'failures.sqlite'
"""Name of the file where none is given."""
APPLICATION, VERSION = 0x62626C66, 1
"""Marks of the file's header (sqlite.org/pragma.html#pragma_application_id): `bblf`, and the
version of the tables."""
WORKED = 6
"""Calls that worked after a failure, in a memory."""
BUSY_S = 10.0
"""How long another process may have the file [s]."""
_TYPES = {str: 'TEXT', int: 'INTEGER', float: 'REAL', int | None: 'INTEGER'}
COLUMNS = {name: _TYPES[kind] for name, kind in get_type_hints(FailureRow).items()}
_TABLES = f"""
DROP TABLE IF EXISTS failures;
DROP TABLE IF EXISTS journals;
CREATE TABLE journals (path TEXT PRIMARY KEY, version TEXT NOT NULL, fault TEXT NOT NULL);
CREATE TABLE failures ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())});
CREATE INDEX by_journal ON failures (journal);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerUpdate:
    """What bringing a ledger up to date came to."""

    journals: int
    """How many lie in the folder."""
    read: int
    """How many of them were new or had changed."""
    faults: tuple[str, ...]
    """Why others were skipped, a sentence each."""


def update_ledger(
    path: Path,
    folder: Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> LedgerUpdate:
    """
    Bring a ledger up to date with the journals of a folder: those in folders named `episodes`.

    Only journals that are new or have changed, or were judged since, are read. A damaged one is
    skipped. Rows of journals that no longer exist are removed. What was read stays if this is
    interrupted. *on_progress* is called with the number of journals that are done, and of all.

    Raises:
        ConfigError: There is no journal, or the file cannot be written or is no ledger.
    """
    journals = _journals(folder)
    if not journals:
        raise ConfigError(
            f'There is no journal in {folder}. Name the folder of a run of the bench, what its '
            '--out named, or a folder above such folders.'
        )
    with _opened(path, write=True) as ledger:
        known = dict(ledger.execute('SELECT path, version FROM journals'))
        for gone in [name for name in known if not Path(name).is_file()]:
            _forget(ledger, gone)
        verdicts = _Verdicts()
        read = 0
        for done, journal in enumerate(journals, start=1):
            (verdict, fault), state = verdicts.of(journal), journal.stat()
            version = f'{state.st_mtime_ns} {state.st_size} {verdict}{fault}'
            if known.get(str(journal)) != version:
                read += 1
                _forget(ledger, str(journal))
                fault = fault or _add(ledger, journal, verdict)
                # Last: a journal without this row is read again.
                row = (str(journal), version, fault)
                ledger.execute('INSERT INTO journals VALUES (?, ?, ?)', row)
            on_progress(done, len(journals))
        faults = ledger.execute("SELECT path, fault FROM journals WHERE fault != '' ORDER BY path")
        skipped = tuple(f'{name} is skipped: {fault}' for name, fault in faults)
    return LedgerUpdate(journals=len(journals), read=read, faults=skipped)


def read_failures(
    path: Path, *, planner: str = '', brain: str = '', code: str = ''
) -> tuple[FailureRow, ...]:
    """
    Return the failures of a ledger, oldest first; without a filter, all.

    *planner* is a name, which includes all of its options, or a name with options.

    Raises:
        ConfigError: The file cannot be read or is no ledger.
    """
    wanted = {
        "(planner = :planner OR planner LIKE :planner || ':%')": planner,
        'brain = :brain': brain,
        'code = :code': code,
    }
    where = ' AND '.join(['1', *(text for text, value in wanted.items() if value)])
    values = {'planner': planner, 'brain': brain, 'code': code}
    return _select(path, where, values)


def read_memory(
    path: Path, brain: str, *, without: tuple[str, int] | None = None
) -> FailureMemory:
    """
    Return the failed calls of a Brain's episodes, as memory for later ones.

    Equal failures of the same task are one, with their number: of those that were recovered, else
    of all, the newest. *without* leaves out the cases of a suite with a seed.

    Raises:
        ConfigError: The file cannot be read or is no ledger, or nothing is left.
    """
    if not path.is_file():
        raise ConfigError(f'There is no ledger {path}. {HOW_TO_MAKE}')
    suite, seed = without or ('', -1)
    values = {'brain': brain, 'suite': suite, 'seed': seed}
    all_of_brain = "brain = :brain AND call != ''"
    rows = _select(path, f'{all_of_brain} AND NOT (suite = :suite AND seed IS :seed)', values)
    if not rows:
        left_out = len(_select(path, all_of_brain, values))
        why = f'; its {left_out} failures are of the cases that are played' if left_out else ''
        raise ConfigError(
            f'{path} has no failed call of the Brain {brain} to remember{why}. Leave `memory=yes` '
            f'and --memory out for a cold start, or name another ledger. {HOW_TO_MAKE}'
        )
    groups: dict[tuple[str, ...], list[FailureRow]] = {}
    for row in rows:
        key = (row.domain, row.task, row.skill, row.kinds, row.error)
        groups.setdefault(key, []).append(row)
    newest = [
        (max(group, key=lambda row: (row.recovered != '', row.stamp_s)), len(group))
        for group in groups.values()
    ]
    newest.sort(key=lambda item: item[0].stamp_s)
    failures = tuple(_remembered(row, times) for row, times in newest)
    return FailureMemory(failures, hash_of_text(canonical(to_json(failures))))


HOW_TO_MAKE = '`bbllm show --failures FOLDER --out FILE` makes one of the journals in FOLDER.'


def _remembered(row: FailureRow, times: int) -> EarlierFailure:
    worked = row.worked.split('\n') if row.worked else []
    return EarlierFailure(
        domain=row.domain,
        task=row.task,
        call=row.call,
        skill=row.skill,
        kinds=tuple(row.kinds.split(',')) if row.kinds else (),
        error=row.error,
        sentence=row.sentence,
        worked=tuple(worked[-WORKED:] if row.recovered == BY_CALL else worked[:WORKED]),
        times=times,
    )


def _journals(folder: Path) -> list[Path]:
    folder = folder.expanduser().resolve()
    own = folder.glob('*.jsonl') if folder.name == EPISODES else ()
    return sorted({*own, *folder.glob(f'**/{EPISODES}/*.jsonl')})


class _Verdicts:
    """What a bench found of its episodes; each run is read once."""

    def __init__(self) -> None:
        self._by_run: dict[Path, tuple[dict[str, str], str]] = {}

    def of(self, journal: Path) -> tuple[str, str]:
        """Return the verdict on an episode, '' if no bench judged it; and why it is not known."""
        run = journal.parent.parent
        if run not in self._by_run:
            try:
                results = read_run(run).results if (run / SETTINGS).is_file() else ()
                self._by_run[run] = {item.key.name: item.verdict for item in results}, ''
            except ConfigError as error:
                self._by_run[run] = {}, str(error)
        verdicts, fault = self._by_run[run]
        return verdicts.get(journal.stem, ''), fault


def _add(ledger: sqlite3.Connection, journal: Path, verdict: str) -> str:
    """Add the failures of a journal; return what is wrong with it instead, '' for nothing."""
    try:
        episode, faults = read_damaged(journal)
    except ConfigError as error:
        return str(error)
    if faults:
        return faults[0]
    marks = ', '.join('?' for _ in COLUMNS)
    rows = map(astuple, failures_of(episode, verdict, str(journal)))
    ledger.executemany(f'INSERT INTO failures VALUES ({marks})', rows)
    return ''


def _forget(ledger: sqlite3.Connection, journal: str) -> None:
    ledger.execute('DELETE FROM journals WHERE path = ?', (journal,))
    ledger.execute('DELETE FROM failures WHERE journal = ?', (journal,))


def _select(path: Path, where: str, values: Mapping[str, object]) -> tuple[FailureRow, ...]:
    with _opened(path, write=False) as ledger:
        found = ledger.execute(
            f'SELECT {", ".join(COLUMNS)} FROM failures WHERE {where} '
            'ORDER BY stamp_s, episode, number',
            values,
        )
        return tuple(FailureRow(**dict(zip(COLUMNS, row, strict=True))) for row in found)


@contextmanager
def _opened(path: Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    """Open a ledger, which is made where it may be written; raises ConfigError."""
    try:
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
        address = f'{path.absolute().as_uri()}?mode={"rwc" if write else "ro"}'
        ledger = sqlite3.connect(address, uri=True, timeout=BUSY_S)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        with ledger:  # commits also what was done before an interrupt
            _check(ledger, path, write=write)
            try:
                yield ledger
            except KeyboardInterrupt:
                ledger.commit()
                raise
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    finally:
        ledger.close()


def _check(ledger: sqlite3.Connection, path: Path, *, write: bool) -> None:
    (application,), (version,) = (
        ledger.execute(f'PRAGMA {name}').fetchone() for name in ('application_id', 'user_version')
    )
    is_new = write and not ledger.execute('SELECT 1 FROM sqlite_master').fetchone()
    if not is_new and application != APPLICATION:
        raise ConfigError(f'{path} is no ledger of failures. {HOW_TO_MAKE}')
    if version != VERSION:
        if not write:
            raise ConfigError(f'{path} is of another version of bbllm. {HOW_TO_MAKE}')
        ledger.executescript(_TABLES)


def _unusable(path: Path, error: Exception) -> ConfigError:
    why = getattr(error, 'strerror', None) or str(error)
    return ConfigError(
        f'The ledger {path} cannot be used ({why}). Name another file: --out, or --memory of a '
        f'run. {HOW_TO_MAKE}'
    )
