"""An MCAP file of ROS 2 messages, as rosbag2 writes it."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from bbllm.core.errors import ConfigError

SUFFIX = '.mcap'
CHUNK_BYTES = 32 * 1024
"""Of messages before compression: what a crash loses at most, about 3 s of a motion."""
ROOM_BYTES = 16 * 1024**2
"""Free space that is left to journals, without which their episodes end."""
ROOM_S = 1.0
"""Time between two looks at the free space [s]."""


def check_bag(path: Path) -> None:
    """Raise ConfigError where a bag of this name cannot be begun."""
    if path.suffix != SUFFIX:
        raise ConfigError(
            f'{path} has no name of a bag, which ends with {SUFFIX}, for example '
            f'{path.with_suffix(SUFFIX).name}'
        )
    if path.exists():
        raise ConfigError(f'There is a file {path} already, and it is kept: name another one.')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f'The bag cannot be written to {path.parent} ({error.strerror}); name a folder that '
            'can.'
        ) from error
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(
            f'The bag cannot be written to {path.parent}, which is read-only; name a folder that '
            'is not.'
        )


class BagFile:
    """
    Writes messages to a new file as they come, from any thread; close it at the end.

    Nothing is raised where the file cannot be written, because no arm stops for it: see `broken`.
    """

    def __init__(self, path: Path) -> None:
        from mcap.writer import Writer

        self.path = path
        self.broken = ''
        """Why not everything was written, in one sentence; empty where it was."""
        self._lock = threading.RLock()
        self._room_s = 0.0
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._file: BinaryIO | None = None
        try:
            self._file = path.open('xb')
            self._writer = Writer(self._file, chunk_size=CHUNK_BYTES)
            self._writer.start(profile='ros2', library='bbllm')
        except OSError as error:
            self._give_up(error)

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def add_topic(self, topic: str, message: str, definition: str, qualities: str = '') -> None:
        """
        Declare a topic before its first message.

        Args:
            topic: Its whole name.
            message: Its type, `package/msg/Name`.
            definition: See `definitions.definition_of`.
            qualities: What its publishers offer, a YAML list of `topics.Quality`.
        """
        with self._lock:
            if self._file is None:
                return
            try:
                if message not in self._schemas:
                    self._schemas[message] = self._writer.register_schema(
                        message, 'ros2msg', definition.encode()
                    )
                self._channels[topic] = self._writer.register_channel(
                    topic,
                    'cdr',
                    self._schemas[message],
                    {'offered_qos_profiles': qualities, 'topic_type_hash': ''},
                )
            except OSError as error:
                self._give_up(error)

    def write(self, topic: str, data: bytes, log_ns: int) -> None:
        """
        Write an encoded message of a declared topic; nothing after `close`.

        Args:
            topic: Its whole name.
            data: The message in CDR.
            log_ns: When it was received, since the epoch [ns].
        """
        with self._lock:
            if self._file is None:
                return
            try:
                self._need_room()
                self._writer.add_message(self._channels[topic], log_ns, data, log_ns)
            except OSError as error:
                self._give_up(error)

    def flush(self) -> None:
        """Give whole chunks to the system."""
        with self._lock:
            if self._file is None:
                return
            try:
                self._file.flush()
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Write the index of the file; it takes nothing more."""
        with self._lock:
            if self._file is None:
                return
            try:
                self._writer.finish()  # type: ignore[no-untyped-call]  # of mcap
                self._file.close()
            except OSError as error:
                self._give_up(error)
            self._file = None

    def _need_room(self) -> None:
        now_s = time.monotonic()
        if now_s - self._room_s >= ROOM_S:
            self._room_s = now_s
            if shutil.disk_usage(self.path.parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _give_up(self, error: OSError) -> None:
        self.broken = f'The recording {self.path} breaks off: {error.strerror or error}.'
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
