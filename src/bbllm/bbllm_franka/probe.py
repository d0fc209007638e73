"""
Asks an address itself why no connection to its robot comes about.

libfranka reports one text for a wrong address, a cable that is out and a name that is unknown
(`Net Exception`), and waits for ever where a connection is taken and not answered. Each layer is
asked here in turn: the network, the host by the port of Desk, the port of the robot's control,
and the protocol behind it. Nothing is asked before libfranka has failed, since a robot serves one
program at a time.
"""

import errno
import socket
import struct
from contextlib import closing
from enum import Enum, auto
from typing import NamedTuple

PORT = 1337
"""Of the robot's control (libfranka, research_interface/robot/rbk_types.h)."""
DESK_PORT = 443
PROBE_S = 2.0
"""How long each layer may take to answer [s]."""
CONNECT, VERSION = 0, 10
_HEAD, _REQUEST = struct.Struct('<III'), struct.Struct('<HH')
"""Command, its number and the size of the message; version and port for the states."""
_REPLY = struct.Struct('<IIIHH')
"""The head, the status, and the version of the server."""


class Reached(Enum):
    """The last layer of an address that answers."""

    NOTHING = auto()
    """Neither the network nor a host."""
    HOST = auto()
    """Desk is there, and the port of the robot's control takes no connection."""
    REFUSED = auto()
    """The host refuses connections to the port of the robot's control."""
    PORT = auto()
    """A connection is taken, and ended or left without a reply."""
    STRANGER = auto()
    """What replies is no robot's control."""
    ROBOT = auto()
    """The robot's control replies."""


class Probe(NamedTuple):
    """How far a connection comes, and what was reported there."""

    reached: Reached
    report: str = ''


def probe(address: str) -> Probe:
    """Try a connection, layer by layer; nothing moves."""
    try:
        sock = socket.create_connection((address, PORT), PROBE_S)
    except ConnectionRefusedError:
        return Probe(Reached.REFUSED, 'connection refused')
    except TimeoutError:
        silent = f'no answer within {PROBE_S:g} s'
        return Probe(Reached.HOST if _has_desk(address) else Reached.NOTHING, silent)
    except OSError as error:
        return Probe(Reached.NOTHING, error.strerror or str(error))
    with closing(sock):
        return _reply_of(sock)


def _has_desk(address: str) -> bool:
    try:
        socket.create_connection((address, DESK_PORT), PROBE_S).close()
    except OSError as error:
        return error.errno == errno.ECONNREFUSED
    return True


def _reply_of(sock: socket.socket) -> Probe:
    """Ask for a connection as libfranka does, and judge the reply."""
    sock.settimeout(PROBE_S)
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as states:
        states.bind(('', 0))
        size = _HEAD.size + _REQUEST.size
        request = _HEAD.pack(CONNECT, 1, size) + _REQUEST.pack(VERSION, states.getsockname()[1])
        try:
            sock.sendall(request)
            reply = sock.recv(64)
        except TimeoutError:
            return Probe(Reached.PORT, f'no reply within {PROBE_S:g} s')
        except OSError as error:
            return Probe(Reached.PORT, error.strerror or str(error))
    if not reply:
        return Probe(Reached.PORT, 'connection ended without a reply')
    if len(reply) < _REPLY.size - 1 or _HEAD.unpack_from(reply)[:2] != (CONNECT, 1):
        return Probe(Reached.STRANGER, ascii(reply[:24])[1:])
    return Probe(Reached.ROBOT)
