"""
Messages between the benchmark's process and ours: a JSON object and bytes beside it.

A frame is two unsigned 32-bit lengths in network order, the JSON text and the bytes. No frame is
executed or unpickled, on either side.
"""

import json
import socket
import struct
from typing import Any

LENGTHS = struct.Struct('!II')
MOST = 1 << 28
"""Longest part of a frame; a longer one is no frame of ours [bytes]."""


class ClosedError(Exception):
    """The other side has closed the socket."""


def send(peer: socket.socket, message: object, data: bytes = b'') -> None:
    """Send a frame; raises OSError where the other side has gone."""
    text = json.dumps(message, separators=(',', ':')).encode()
    peer.sendall(LENGTHS.pack(len(text), len(data)) + text + data)


def receive(peer: socket.socket) -> tuple[dict[str, Any], bytes]:
    """
    Return the next frame.

    Raises:
        ClosedError: The other side has gone.
        TimeoutError: The socket has a time-out, and it has passed.
        ValueError: It is no frame.
    """
    lengths = LENGTHS.unpack(_exactly(peer, LENGTHS.size))
    if max(lengths) > MOST:
        raise ValueError(f'a frame of {lengths} bytes is longer than {MOST}')
    text, data = (_exactly(peer, length) for length in lengths)
    message = json.loads(text)
    if not isinstance(message, dict):
        raise ValueError(f'a frame has an object, and this one {text[:80]!r}')
    return message, data


def _exactly(peer: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = peer.recv(min(count, 1 << 20))
        if not part:
            raise ClosedError
        parts.append(part)
        count -= len(part)
    return b''.join(parts)
