"""
One process for each node name of a namespace and domain on this machine.

Each node holds an exclusive lock on a file for as long as its process lives, however it was
started: by `bbllm up`, a launch file, `ros2 run` or by hand. The kernel releases the lock when the
process ends, also by SIGKILL. Other machines do not see the file; there the heartbeat decides
(`nodes.process`). Importing this module needs no ROS.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress

from bbllm.core.errors import ConfigError
from bbllm.ros.rclpy_support.domains import lock_folder


class NameLock:
    """The lock of one node name; released when its process ends."""

    def __init__(self, name: str, namespace: str, domain: int):
        """
        Take the lock.

        Args:
            name: Name of the node.
            namespace: Its namespace, with or without the slash at the start.
            domain: Its ROS domain.

        Raises:
            ConfigError: A process that runs has it; names that process.
        """
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
        """Release the lock."""
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
        raise ConfigError(
            f'{path} cannot be written ({error.strerror}); free space in {path.parent}.'
        ) from error


def _taken(name: str, namespace: str, domain: int, owner: str) -> str:
    return (
        f'The node {name} runs already in ROS domain {domain} under /{namespace.strip("/")} '
        f'(process {owner or "unknown"}). Use that stack with `bbllm run`, end it, or start this '
        'one with another namespace or another ROS_DOMAIN_ID.'
    )
