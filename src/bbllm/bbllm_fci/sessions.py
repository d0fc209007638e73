"""One client at a time, as a robot has it: while it is connected, no other one gets through."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

BACKLOG = 1
FIRST_S = 5.0
"""How long a client may take to send its request to connect [s]."""
POLL_S = 0.05


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
def others_refused(server: Server, sock: socket.socket) -> Iterator[None]:
    """
    Hang up on others while the client of a socket is connected.

    franka-sim would leave them waiting in the queue of the port, without an answer. One that comes
    after this client has hung up waits there until the server has noticed that.
    """
    over = threading.Event()

    def refuse() -> None:
        while not over.is_set() and (listener := server.server_socket) is not None:
            with suppress(OSError, ValueError):  # closed meanwhile
                if not select.select([listener], [], [], POLL_S)[0]:
                    continue
                if has_hung_up(sock) or not server.connection_running:
                    over.wait(POLL_S)
                elif not over.is_set():
                    listener.accept()[0].close()

    thread = threading.Thread(target=refuse, name='fci others', daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def has_hung_up(sock: socket.socket) -> bool:
    """Return whether the other end of a socket was closed, or this one."""
    poll = select.poll()
    with suppress(OSError, ValueError):
        poll.register(sock, select.POLLRDHUP)
        return bool(poll.poll(0))
    return True
