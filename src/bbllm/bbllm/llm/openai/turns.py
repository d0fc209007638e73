"""
Turns at a model server, which all processes of a user on this machine take together.

The folder of a server, below that of the user's state, has the file `next` with the moment from
which the next request may be sent, and a file for each request that may be under way at once. What
a process has of them is a lock of the system (flock), which ends with the process, however that
ended.
"""

import asyncio
import fcntl
import hashlib
import random
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir
from bbllm.llm.openai.settings import OpenAISettings

LOOK_S = 0.05
"""How long a process waits, on average, before it looks again for what another one has [s]."""


class Turns:
    """
    The turns of one process at the server of some settings.

    Processes that state limits for the same base URL share its turns: a request begins at least
    60 s / `requests_per_minute` after the one before it, and while fewer than
    `concurrent_requests` are under way. Who waits is not served in the order of arrival.
    """

    def __init__(self, settings: OpenAISettings):
        per_minute, at_once = settings.requests_per_minute, settings.concurrent_requests
        self._gap_s = 60.0 / per_minute if per_minute else 0.0
        self._slots = [f'slot-{i}' for i in range(at_once or 0)]
        self._folder: Path | None = None
        if per_minute or at_once:
            host = re.sub(r'[^\w.-]', '-', settings.host)
            digest = hashlib.sha256(settings.base_url.encode()).hexdigest()[:8]
            self._folder = state_dir() / 'servers' / f'{host}-{digest}'

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """
        Wait for a turn, which lasts as long as the context; yield how long that took [s].

        Raises:
            ConfigError: The folder of the server cannot be written.
        """
        if self._folder is None:
            yield 0.0
            return
        begun_s = time.monotonic()
        async with self._slot(self._folder):
            while (wait_s := self._begin(self._folder)) > 0.0:
                await asyncio.sleep(wait_s)
            yield time.monotonic() - begun_s

    async def hold(self, wait_s: float) -> None:
        """Let no request of any process begin for a time [s], as the server asked."""
        while self._folder is not None:
            with _locked(self._folder / 'next') as file:
                if file is not None:
                    _write(file, max(_read(file), time.monotonic() + wait_s))
                    return
            await _look_later()

    @asynccontextmanager
    async def _slot(self, folder: Path) -> AsyncIterator[None]:
        if not self._slots:
            yield
            return
        while True:
            for name in random.sample(self._slots, len(self._slots)):
                with _locked(folder / name) as file:
                    if file is not None:
                        yield
                        return
            await _look_later()

    def _begin(self, folder: Path) -> float:
        """Begin a request if its moment has come, and return 0; else how long to wait [s]."""
        with _locked(folder / 'next') as file:
            if file is None:
                return LOOK_S
            now_s = time.monotonic()
            wait_s = _read(file) - now_s
            if wait_s <= 0.0:
                _write(file, now_s + self._gap_s)
            return max(wait_s, 0.0)


async def _look_later() -> None:
    await asyncio.sleep(LOOK_S * random.uniform(0.5, 1.5))


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes] | None]:
    """Yield a file that no other has as long as the context lasts; None where another has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open('a+b')
    except OSError as error:
        raise ConfigError(
            f'{path} cannot be written ({error.strerror}), by which the processes of this machine '
            'keep the limits of a model server. Set XDG_STATE_HOME to a folder that can be '
            'written, or take requests_per_minute and concurrent_requests out of config/llm.yaml.'
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file


def _read(file: IO[bytes]) -> float:
    """Return the moment in a file, of the clock that all processes share [s]; 0 without one."""
    file.seek(0)
    boot, _, moment_s = file.read().decode(errors='replace').partition(' ')
    with suppress(ValueError):
        # That clock begins anew when the machine does.
        return float(moment_s) if boot == _boot() else 0.0
    return 0.0


def _write(file: IO[bytes], moment_s: float) -> None:
    file.truncate(0)
    file.write(f'{_boot()} {moment_s}'.encode())
    file.flush()


@cache
def _boot() -> str:
    """Return what names the time since this machine was started."""
    try:
        return Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    except OSError:
        return ''
