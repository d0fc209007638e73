"""
What a process locks on this machine: ROS domains, and the names of nodes.

Each node takes a name of the kernel (an abstract Unix socket) for its name, namespace and domain
for as long as its process lives; the kernel releases it also after SIGKILL. It holds for all users
of the machine, and in every container that shares its network, as a ROS domain does, and it is no
file that somebody else could have put there. Other machines do not see it; there the heartbeat
decides (`stack_node`). Needs no ROS.
"""

import errno
import hashlib
import os
import pwd
import random
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bbllm.core.errors import ConfigError

DOMAINS = range(21, 102)
"""Domains whose ports are free under Linux, without the first ones: people begin there."""
MOST = 232
PREFIX = 'bbllm'
MOST_NAME_BYTES = 100
"""The kernel takes 107; longer names are hashed [bytes]."""
NAMES = Path('/proc/net/unix')
"""Where the kernel lists sockets, abstract ones with `@` before the name."""
WHO_ASKS = 128
"""How often the holder of a name can be asked for."""
_CREDENTIALS = struct.Struct('3i')
"""Process, user and group, as the kernel has them."""


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
    taken.
    """
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        try:
            lock = _lock(f'domain {domain}')
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
        return _lock(f'node {domain} /{place} {name}')
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


def nodes_of(domain: int) -> list[str]:
    """Return the names that nodes of this machine have locked in a domain, as `/place name`."""
    mark = f' @{PREFIX} node {domain} '
    try:
        lines = NAMES.read_text('utf-8', 'replace').splitlines()
    except OSError:  # no Linux
        return []
    return sorted(line.partition(mark)[2] for line in lines if mark in line)


def _lock(words: str) -> int:
    """
    Take a name and return its file descriptor.

    Raises BlockingIOError with the process that has it, as in `4711 of anna`.
    """
    text = f'{PREFIX} {words}'
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = '\0' + (text if len(text.encode()) <= MOST_NAME_BYTES else f'{PREFIX} {digest}')
    with socket.socket(socket.AF_UNIX) as own:
        try:
            own.bind(name)
            own.listen(WHO_ASKS)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ConfigError(
                    f'The name {text!r} cannot be locked on this machine: {error.strerror}.'
                ) from error
            raise BlockingIOError(_holder(name)) from None
        return own.detach()


def _holder(name: str) -> str:
    """Return process and user that have a name, as the kernel knows them."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        try:
            asking.connect(name)
        except OSError:
            return 'unknown'
        found = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(found)
    if user == os.getuid():
        return str(process or 'unknown')  # 0 where it is in a container
    try:
        return f'{process or "unknown"} of {pwd.getpwuid(user).pw_name}'
    except KeyError:
        return f'{process or "unknown"} of the user {user}'
