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
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        try:
            lock = _lock(f'bbllm-domain-{domain}.lock')
        except BlockingIOError:
            continue
        try:
            yield domain
        finally:
            os.close(lock)
        return
    raise ConfigError(
        f'All {len(DOMAINS)} ROS domains are taken by other episodes of this machine; '
        'run fewer at once: --jobs.'
    )


def lock_name(name: str, namespace: str, domain: int) -> int:
    """
    Lock the name of a node until the file that is returned is closed, or the process ends.

    Raises ConfigError with the process that has it.
    """
    place = namespace.strip('/')
    try:
        return _lock(f'bbllm-node-{domain}-{place.replace("/", ".")}-{name}.lock')
    except BlockingIOError as taken:
        raise ConfigError(
            f'The node {name} runs already in ROS domain {domain} under /{place} (process '
            f'{taken}). Use that stack with `bbllm run`, end it, or start this one with another '
            'namespace or another ROS_DOMAIN_ID.'
        ) from None


def check_names_free(names: Iterable[str], namespace: str, domain: int) -> None:
    """Raise ConfigError where a running process has one of these names."""
    for name in names:
        os.close(lock_name(name, namespace, domain))


def _lock(file_name: str) -> int:
    """Open and lock a file; raises BlockingIOError with the process that has locked it."""
    path = lock_folder() / file_name
    try:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except PermissionError:  # another user's: it can be locked, but not written
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            f'{path} cannot be written ({error.strerror}); free space in {path.parent}.'
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(file, 32, 0).decode('ascii', 'replace').strip()
        os.close(file)
        raise BlockingIOError(owner or 'unknown') from None
    with suppress(OSError):
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
    return file
