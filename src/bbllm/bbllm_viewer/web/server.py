"""A server in a thread at a secret address, on this machine or with TLS."""

from __future__ import annotations

import secrets
import socket
import ssl
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import uvicorn
from starlette.types import ASGIApp

from bbllm.core.errors import ConfigError
from bbllm_viewer.web.connections import WatchedProtocol
from bbllm_viewer.web.guard import Guard, is_loopback

LOOPBACK = '127.0.0.1'
Server = TypeVar('Server', bound='SecretServer')
END_S = 5.0
"""How long the server may take to end, wall clock [s]."""


def new_token() -> str:
    """Return 256 random bits in characters that may stand in an address."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the page is served."""

    host: str = LOOPBACK
    port: int = 0
    """0 for any that is free."""
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ConfigError('--tls-cert and --tls-key go together: a PEM file each.')
        if not is_loopback(self.host) and self.tls_cert is None:
            raise ConfigError(
                f'{self.host!r} can be reached from other machines, where whoever reads along '
                'could approve motions. Add --tls-cert FILE --tls-key FILE, or leave --host out '
                'and forward the port: ssh -L 8470:127.0.0.1:8470 HOST, with --port 8470 here.'
            )
        if self.host in ('0.0.0.0', '::', ''):
            raise ConfigError(
                f'{self.host!r} is every address of this machine; the server answers to one only. '
                'Name the one that clients use: --host robot-pc.example.org.'
            )


class SecretServer(AbstractContextManager['SecretServer']):
    """
    Serves an app below a path that is a secret, in a thread, from `__enter__` on.

    Args:
        app: What is served; see `Guard`.
        address: Where.
        token: The secret; a new one by default.
        serves_programs: Whether requests that name no origin may act; the app then also receives
            its begin and end (`lifespan`).

    Raises ConfigError where the address cannot be used.
    """

    def __init__(
        self, app: ASGIApp, address: Address, *, token: str = '', serves_programs: bool = False
    ):
        _check_files(address)
        self._token = token or new_token()
        self._address = address
        self._socket = _bound(address)
        self._port: int = self._socket.getsockname()[1]
        guarded = Guard(app, self._token, address.host, serves_programs=serves_programs)
        self._server = uvicorn.Server(
            uvicorn.Config(
                guarded,
                lifespan='on' if serves_programs else 'off',
                ws='none',
                http=WatchedProtocol,
                log_config=None,
                access_log=False,  # it would have the token
                server_header=False,
                timeout_graceful_shutdown=1,
                ssl_certfile=address.tls_cert,
                ssl_keyfile=address.tls_key,
            )
        )
        self._thread = threading.Thread(target=self._run, name='web server', daemon=True)

    @property
    def url(self) -> str:
        """The address with its token: who has it can use what is served."""
        scheme = 'http' if self._address.tls_cert is None else 'https'
        host = f'[{self._address.host}]' if ':' in self._address.host else self._address.host
        return f'{scheme}://{host}:{self._port}/{self._token}/'

    def __enter__(self: Server) -> Server:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._server.should_exit = True
        self._thread.join(END_S)
        self._socket.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])


def _check_files(address: Address) -> None:
    """Raise ConfigError where certificate and key cannot be used."""
    if address.tls_cert is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                address.tls_cert, address.tls_key
            )
        except OSError as error:  # ssl.SSLError is one
            raise ConfigError(
                f'{address.tls_cert} and {address.tls_key} cannot be used for TLS ({error}); '
                'they have to be PEM files of a certificate and its key.'
            ) from error


def _bound(address: Address) -> socket.socket:
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen()  # who comes before the server begins waits
    except OSError as error:
        raise ConfigError(
            f'Nothing can be served on {address.host}:{address.port} ({error.strerror}); '
            'leave --port out for any that is free.'
        ) from error
    return bound
