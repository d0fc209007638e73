"""
What a process locks on this machine: ROS domains, and the names of nodes.

Each node locks a file for its name, namespace and domain for as long as its process lives; the
kernel releases the lock also after SIGKILL. Other machines do not see the file; there the
heartbeat decides (`stack_node`). Needs no ROS.
"""

import fcntl
import os
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bbllm.core.errors import ConfigError

DOMAINS = range(21, 102)
"""Domains whose ports are free under Linux, without the first ones: people begin there."""
MOST = 232
COMMON = Path('/tmp')
"""What is temporary for all processes; workers of a bench have a TMPDIR of their own."""


def lock_folder() -> Path:
    return COMMON if os.access(COMMON, os.W_OK) else Path(tempfile.gettempdir())


def domain_of(environ: Mapping[str, str]) -> int:
    """Return the ROS domain of an environment, by default 0; ConfigError for a wrong one."""
    text = environ.get('ROS_DOMAIN_ID', '').strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= MOST):
        raise ConfigError(
            f'ROS_DOMAIN_ID={text[:80]!r} is no ROS domain: set it to a whole number from 0 to '
            f'{MOST}, under Linux best from 0 to {DOMAINS[-1]}, or unset it.'
        )
    return int(text)


@contextmanager
def own_domain() -> Iterator[int]:
    """
    Yield a random domain that no other process of this machine has taken so.

    Random, since nodes of the last one may still be about to end. Raises ConfigError where all are
    taken, or the folder for temporary files cannot be written.
    """
    folder = lock_folder()
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        path = folder / f'bbllm-domain-{domain}.lock'
        try:
            lock = path.open('a')
        except PermissionError:
            continue  # another user's
        except OSError as error:
            raise _unwritable(path, error) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield domain
            return
    raise ConfigError(
        f'All {len(DOMAINS)} ROS domains are taken by other episodes of this machine; '
        'run fewer at once: --jobs.'
    )


class NameLock:
    """The lock of one node name; released when its process ends."""

    def __init__(self, name: str, namespace: str, domain: int):
        """Take the lock; raises ConfigError with the process that has it."""
        self._file = _open(name, namespace, domain)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._file, 32, 0).decode('ascii', 'replace').strip()
            self.close()
            raise ConfigError(_taken(name, namespace, domain, owner)) from None
        with suppress(OSError):  # the file of another user: it can be locked, but not written
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def close(self) -> None:
        os.close(self._file)


def check_names_free(names: Iterable[str], namespace: str, domain: int) -> None:
    """Raise ConfigError where a running process has one of these names."""
    for name in names:
        NameLock(name, namespace, domain).close()


def _open(name: str, namespace: str, domain: int) -> int:
    place = namespace.strip('/').replace('/', '.')
    path = lock_folder() / f'bbllm-node-{domain}-{place}-{name}.lock'
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ConfigError:
    why = f'{path} cannot be written ({error.strerror})'
    return ConfigError(f'{why}; free space in {path.parent}.')


def _taken(name: str, namespace: str, domain: int, owner: str) -> str:
    return (
        f'The node {name} runs already in ROS domain {domain} under /{namespace.strip("/")} '
        f'(process {owner or "unknown"}). Use that stack with `bbllm run`, end it, or start this '
        'one with another namespace or another ROS_DOMAIN_ID.'
    )
