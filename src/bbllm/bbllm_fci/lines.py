"""Lines that make faults happen on a table while it is served: typed, or sent to its socket."""

from __future__ import annotations

import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.paths import state_dir

if TYPE_CHECKING:
    from bbllm_fci.table import FciTable


class Line(NamedTuple):
    """One kind of line."""

    text: str
    does: str


LINES = (
    Line('fault NAME', 'user_stop, reflex, communication_loss, hand_not_homed, ...'),
    Line('clear NAME', 'end a fault that lasts; the client recovers'),
    Line('arm', 'its mode, and the speed of its fastest joint [rad/s]'),
    Line('objects', 'where the objects are: position [m], quaternion (x, y, z, w)'),
    Line('picture FILE', 'draw the table into a PNG file'),
    Line('reset', 'put arm and objects back'),
)
DONE = 'done: '
"""Begins the answer to a line that was carried out."""


class Asked(NamedTuple):
    """A line, and what takes the answer to it."""

    line: str
    reply: Callable[[str], object]


def carry_out(asked: Asked, table: FciTable) -> None:
    """Do what a line asks for, and answer it; what cannot be done is answered, too."""
    from bbllm_fci.table import fault_named  # which imports franka-sim

    verb, _, rest = asked.line.strip().partition(' ')
    name = rest.strip()
    done: dict[str, Callable[[], object]] = {
        'fault': lambda: table.inject(fault_named(name)),
        'clear': lambda: table.clear(fault_named(name)),
        'arm': lambda: asked.reply(table.arm_line()),
        'objects': lambda: asked.reply('\n'.join(table.places())),
        'picture': lambda: table.draw(Path(name)),
        'reset': table.reset,
    }
    if not verb:
        return
    try:
        if verb not in done:
            raise UnknownNameError('line', verb, done)
        done[verb]()
    except BbllmError as error:
        asked.reply(str(error))
    else:
        asked.reply(f'{DONE}{asked.line.strip()}')


def read_typed(lines: SimpleQueue[Asked], reply: Callable[[str], object]) -> None:
    """Read standard input aside; its end is not that of the table."""

    def read() -> None:
        for line in sys.stdin:
            lines.put(Asked(line, reply))

    threading.Thread(target=read, name='fci lines', daemon=True).start()


def socket_path(ip: str) -> Path:
    """Return the socket that takes the lines of a table; only its user can open it."""
    return state_dir() / 'fci' / f'{ip}.sock'


@contextmanager
def socket_lines(ip: str, lines: SimpleQueue[Asked]) -> Iterator[None]:
    """
    Take lines from programs, by a socket.

    Raises ConfigError where there can be none.
    """
    path = socket_path(ip)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                lines.put(Asked(line.decode(errors='replace'), self._reply))

        def _reply(self, text: str) -> None:
            self.wfile.write(f'{text}\n'.encode())

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # of a table that was killed: the address is this one's
        server = Server(str(path), Handler)
    except OSError as error:
        raise ConfigError(
            f'There can be no socket {path} for lines ({error}). Let XDG_STATE_HOME name a folder '
            'that you can write to and whose name is short.'
        ) from error
    with server:
        threading.Thread(target=server.serve_forever, name='fci socket', daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            path.unlink(missing_ok=True)
