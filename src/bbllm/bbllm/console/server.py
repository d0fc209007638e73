"""The server of the page: one secret address, one stream of events, four ways to act."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import secrets
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import (
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bbllm.console.desk import Desk
from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.prompt_store import prompts_path, read_pictures, read_prompts
from bbllm.core.protocols import data_url
from bbllm.core.tasks import MAX_TASK_CHARACTERS
from bbllm.core.text import escape_hidden
from bbllm.replay.pages import static
from bbllm.view3d.drawn_scene import script

LOOPBACK = '127.0.0.1'
TICK_S = 0.05
"""Period at which a browser is sent what is new [s]."""
BEAT_S = 10.0
"""Silence after which an empty line is sent, so that a browser that has gone is noticed [s]."""
START_S = 10.0
END_S = 5.0
"""How long the server may take to begin and to end, wall clock [s]."""
MOST_BYTES = 4 * MAX_TASK_CHARACTERS + 1000
"""The longest request that is read."""
MOST_BROWSERS = 32
PAGES = {
    '': ('index.html', 'text/html'),
    'console.css': ('console.css', 'text/css'),
    'console.js': ('console.js', 'text/javascript'),
}
"""Files of the page, by what a browser requests."""
SHARED: dict[str, tuple[Callable[[], str], str]] = {
    'view3d.js': (script, 'text/javascript'),
    'replay.js': (partial(static, 'replay.js'), 'text/javascript'),
    'replay.css': (partial(static, 'replay.css'), 'text/css'),
}
"""The same, of other rooms."""
HEADERS = (
    (
        'content-security-policy',
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ('cache-control', 'no-store'),
    ('cross-origin-opener-policy', 'same-origin'),
    ('cross-origin-resource-policy', 'same-origin'),
    ('referrer-policy', 'same-origin'),
    ('x-content-type-options', 'nosniff'),
    ('x-frame-options', 'DENY'),
)


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
                f'{self.host!r} is every address of this machine; the page answers to one only. '
                'Name the one that browsers use: --host robot-pc.example.org.'
            )


def is_loopback(host: str) -> bool:
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class PageServer(AbstractContextManager['PageServer']):
    """
    Serves the page of a desk in a thread, from `__enter__` on; streams end with it.

    Raises ConfigError where the address cannot be used.
    """

    def __init__(self, desk: Desk, address: Address):
        _check_files(address)
        self._feed = desk.feed
        self._token = secrets.token_urlsafe(32)
        self._address = address
        self._socket = _bound(address)
        self._port: int = self._socket.getsockname()[1]
        app = Guard(make_app(desk), self._token, address.host)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                lifespan='off',
                ws='none',
                http='h11',
                log_config=None,
                access_log=False,  # it would have the token
                server_header=False,
                limit_concurrency=2 * MOST_BROWSERS,
                timeout_graceful_shutdown=1,
                ssl_certfile=address.tls_cert,
                ssl_keyfile=address.tls_key,
            )
        )
        self._thread = threading.Thread(target=self._run, name='console', daemon=True)

    @property
    def url(self) -> str:
        """The address with its token: who has it can direct the robot."""
        scheme = 'http' if self._address.tls_cert is None else 'https'
        host = f'[{self._address.host}]' if ':' in self._address.host else self._address.host
        return f'{scheme}://{host}:{self._port}/{self._token}/'

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End the streams; the error of this package that ends the server is shown."""
        why = str(error) if isinstance(error, BbllmError) else 'The console was ended.'
        self._feed.close(why)
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
            f'The page cannot be served on {address.host}:{address.port} ({error.strerror}); '
            'leave --port out for any that is free.'
        ) from error
    return bound


class Guard:
    """
    Lets only requests through that name the token, this host and, where any, this origin.

    The token is the first part of the path, not a cookie: browsers send a cookie of 127.0.0.1 to
    every port of it, and so to other users of this machine.
    """

    def __init__(self, app: ASGIApp, token: str, host: str):
        self._app = app
        self._token = token
        own = {f'[{host}]' if ':' in host else host.lower()}
        self._hosts = own | {'127.0.0.1', 'localhost', '[::1]'} if is_loopback(host) else own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a sentence."""

        async def send_guarded(message: Message) -> None:
            if message['type'] == 'http.response.start':
                more = [(name.encode(), value.encode()) for name, value in HEADERS]
                message['headers'] = [*message.get('headers', ()), *more]
            await send(message)

        headers = Headers(scope=scope)
        _, first, *rest = f'{scope["path"]}/'.split('/', 2)
        code, fault = self._fault(scope, headers, first)
        if fault:
            if scope['type'] == 'websocket':
                await send({'type': 'websocket.close', 'code': 1008, 'reason': fault})
                return
            await PlainTextResponse(f'{fault}\n', code)(scope, receive, send_guarded)
            return
        if scope['path'] == f'/{first}':
            # What the page requests is relative to its address.
            await RedirectResponse(f'/{first}/')(scope, receive, send_guarded)
            return
        path = f'/{rest[0]}'.removesuffix('/') if rest else '/'
        await self._app({**scope, 'path': path or '/', 'root_path': ''}, receive, send_guarded)

    def _fault(self, scope: Scope, headers: Headers, token: str) -> tuple[int, str]:
        host = headers.get('host', '')
        if host.rpartition(':')[0].lower() not in self._hosts and host.lower() not in self._hosts:
            return 421, 'This is not the host that the page is served for.'
        secure = scope['scheme'] in ('https', 'wss')
        own = f'{"https" if secure else "http"}://{host}'
        origin = headers.get('origin')
        acts = scope['type'] == 'websocket' or scope['method'] not in ('GET', 'HEAD')
        if (origin is not None or acts) and origin != own:
            return 403, 'Only the page itself may send requests here, and names its origin.'
        if headers.get('sec-fetch-site', 'none') not in ('same-origin', 'none'):
            return 403, 'Another site may not send requests here.'
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return 403, (
                'The token of this page is missing or wrong. Use the whole address that bbllm '
                'printed; it is new each time.'
            )
        return 0, ''


def make_app(desk: Desk) -> Starlette:
    """Return what serves the page of a desk, without any check of who asks."""
    acts: dict[str, Act] = {
        'task': lambda given: desk.begin(_text(given, 'task')),
        'say': lambda given: desk.say(_text(given, 'text')),
        'answer': lambda given: _answer(desk, given),
        'stop': lambda given: desk.stop(),
    }
    return Starlette(
        routes=[
            *(Route(f'/{path}', _file(*page)) for path, page in PAGES.items()),
            *(Route(f'/{path}', _text_file(*page)) for path, page in SHARED.items()),
            Route('/events', _events(desk)),
            Route('/prompt', _prompt(desk)),
            *(Route(f'/{name}', _action(act), methods=['POST']) for name, act in acts.items()),
        ]
    )


Endpoint = Callable[[Request], Any]
Act = Callable[[Mapping[str, object]], object]


def _file(name: str, kind: str) -> Endpoint:
    def endpoint(request: Request) -> Response:
        data = files('bbllm.console').joinpath(f'static/{name}').read_bytes()
        return Response(data, media_type=kind)

    return endpoint


def _text_file(read: Callable[[], str], kind: str) -> Endpoint:
    return lambda request: Response(read(), media_type=kind)


def _events(desk: Desk) -> Endpoint:
    feed = desk.feed

    async def stream() -> AsyncIterator[str]:
        with feed.browser() as cursor:
            quiet_s = 0.0
            while True:
                ends = feed.closed  # before what is new is read, so that the last word is sent
                if news := feed.news(cursor):
                    quiet_s = 0.0
                    yield f'data: {news}\n\n'
                elif quiet_s >= BEAT_S:
                    quiet_s = 0.0
                    yield ':\n\n'
                if ends:
                    return
                quiet_s += TICK_S
                await asyncio.sleep(TICK_S)

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(stream(), media_type='text/event-stream')

    return endpoint


def _prompt(desk: Desk) -> Endpoint:
    def endpoint(request: Request) -> Response:
        """Return a text or picture that was sent in the newest episode, by its hash."""
        wanted, path = request.query_params.get('hash', ''), prompts_path(desk.feed.journal)
        text = read_prompts(path).get(wanted)
        if text is None and (picture := read_pictures(path).get(wanted)):
            return JSONResponse({'picture': data_url(picture)})
        if text is None:
            fault = 'This text is not kept on this machine.'
            return JSONResponse({'error': fault}, status_code=404)
        return JSONResponse({'text': escape_hidden(text)})

    return endpoint


def _action(act: Act) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        body = b''
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return JSONResponse({'error': 'The request is too long.'}, status_code=413)
        try:
            given = json.loads(body)
            if not isinstance(given, dict):
                raise ValueError('no object')
            await run_in_threadpool(act, given)
        except BbllmError as error:
            return JSONResponse({'error': escape_hidden(str(error))}, status_code=409)
        except (ValueError, RecursionError):
            fault = 'The request is no JSON object with the fields that it needs.'
            return JSONResponse({'error': fault}, status_code=400)
        return JSONResponse({})

    return endpoint


def _answer(desk: Desk, given: Mapping[str, object]) -> None:
    granted = given.get('granted')
    if not isinstance(granted, bool):
        raise ValueError('granted is no truth value')
    reason = ' '.join(_text(given, 'reason').split())
    desk.answer(_text(given, 'hash'), granted, reason)


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ValueError(f'{name} is no text')
    return value
