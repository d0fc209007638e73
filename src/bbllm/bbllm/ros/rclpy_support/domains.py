"""ROS domains: one of its own for each stack that is to meet nobody."""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bbllm.core.errors import ConfigError

DOMAINS = range(21, 102)
"""Domains whose ports are free under Linux, without the first ones: people begin there."""
MOST = 232
"""The last domain whose ports there are."""
COMMON = Path('/tmp')
"""What is temporary for all processes; workers of a bench have a TMPDIR of their own."""


def lock_folder() -> Path:
    """Return the folder for locks that every process of this machine has to see."""
    return COMMON if os.access(COMMON, os.W_OK) else Path(tempfile.gettempdir())


def domain_of(environ: Mapping[str, str]) -> int:
    """
    Return the ROS domain that an environment names, 0 where it names none.

    Raises:
        ConfigError: What it names is no domain.
    """
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
    Yield a domain that no other process of this machine has taken so; it is free again after.

    Any of them: who comes next is not to meet nodes that are still about to end.

    Raises:
        ConfigError: All are taken, or nothing can be written to the folder for temporary files.
    """
    folder = lock_folder()
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        path = folder / f'bbllm-domain-{domain}.lock'
        try:
            lock = path.open('a')
        except PermissionError:
            continue  # another user's
        except OSError as error:
            raise ConfigError(
                f'{path} cannot be written ({error.strerror}); free space in {folder}.'
            ) from error
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
