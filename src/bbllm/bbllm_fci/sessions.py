"""One client at a time, as a robot has it: while it is connected, no other one gets through."""

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

BACKLOG = 1
FIRST_S = 5.0
"""How long a client may take to send its request to connect [s]."""
POLL_S = 0.05
"""How long a client that hung up may take to be noticed, before the next one is refused [s]."""


class Server(Protocol):
    """What a server of franka-sim has of this."""

    running: bool
    connection_running: bool
    server_socket: socket.socket | None


def listen(ip: str, port: int) -> socket.socket:
    """Return a socket that waits for clients; raises OSError where the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.settimeout(1.0)
    try:
        sock.bind((ip, port))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def says_something(sock: socket.socket) -> bool:
    """Wait for the first byte of a client; close the connection of one that sends nothing."""
    sock.settimeout(FIRST_S)
    with suppress(OSError):  # a time-out is one
        if sock.recv(1, socket.MSG_PEEK):
            sock.settimeout(None)
            return True
    sock.close()
    return False


@contextmanager
def others_refused(server: Server) -> Iterator[None]:
    """
    Hang up on others while a server has a client.

    franka-sim would leave them waiting in the queue of the port, without an answer.
    """
    over = threading.Event()

    def refuse() -> None:
        while not over.is_set() and (listener := server.server_socket) is not None:
            with suppress(OSError, ValueError):  # closed meanwhile
                if not select.select([listener], [], [], POLL_S)[0]:
                    continue
                time.sleep(POLL_S)
                if server.connection_running and not over.is_set():
                    listener.accept()[0].close()

    thread = threading.Thread(target=refuse, name='fci others', daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
