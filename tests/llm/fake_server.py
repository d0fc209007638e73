"""
A small OpenAI-compatible server on loopback, whose every fault can be ordered.

    with FakeServer(says('0: wait')) as server:
        OpenAIChat(OpenAISettings(model='m', base_url=server.url))

Each request for a reply is met by the next behaviour; the last one stays.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[['Handler', dict[str, Any]], None]


class FakeServer:
    """Runs in threads of its own between `with` and its end."""

    def __init__(self, *behaviours: Behaviour):
        self.behaviours = list(behaviours)
        self.models: tuple[str, ...] | None = ('gpt-4o', 'gpt-4o-mini')
        """What /v1/models lists; None where it has no such page."""
        self.bodies: list[dict[str, Any]] = []
        """Every chat request that came."""
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        """Set when the server closes, so that no handler hangs longer."""
        self._http = _Server(('127.0.0.1', 0), Handler)
        self._http.daemon_threads = True
        self._http.fake = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={'poll_interval': 0.01}, daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self.port}/v1'

    def will(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)

    def next_behaviour(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.gone.set()
        self._http.shutdown()
        self._http.server_close()


class _Server(ThreadingHTTPServer):
    fake: FakeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent about clients that left: that is what many tests are about."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = 'HTTP/1.1'
    server: _Server

    @property
    def fake(self) -> FakeServer:
        return self.server.fake

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.fake.bodies.append(body)
        self.fake.headers.append({name.lower(): text for name, text in self.headers.items()})
        try:
            self.fake.next_behaviour()(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self) -> None:
        if self.fake.models is None:
            status(404, 'no such page')(self, {})
            return
        names = [{'id': name, 'object': 'model'} for name in self.fake.models]
        self.send_json({'object': 'list', 'data': names})

    def send_json(self, data: object, code: int = 200, **headers: str) -> None:
        self.send_whole(json.dumps(data).encode(), 'application/json', code, **headers)

    def send_whole(self, raw: bytes, kind: str, code: int = 200, **headers: str) -> None:
        self.send_response(code)
        self.send_header('content-type', kind)
        self.send_header('content-length', str(len(raw)))
        for name, text in headers.items():
            self.send_header(name.replace('_', '-'), text)
        self.end_headers()
        self.wfile.write(raw)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('transfer-encoding', 'chunked')
        self.end_headers()

    def send_raw(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(f'{len(raw):x}\r\n'.encode() + raw + b'\r\n')
        self.wfile.flush()

    def send_event(self, data: object) -> None:
        self.send_raw(f'data: {data if isinstance(data, str) else json.dumps(data)}\n\n')

    def end_stream(self) -> None:
        self.send_event('[DONE]')
        self.wfile.write(b'0\r\n\r\n')

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a test's output is for its own words."""


def says(
    *pieces: str,
    model: str = 'fake-1',
    finish: str | None = 'stop',
    tokens: tuple[int, int] | None = (7, 3),
    can_stream: bool = True,
) -> Behaviour:
    """Answer in these pieces, or as a whole where no stream was asked for."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        usage = {'prompt_tokens': tokens[0], 'completion_tokens': tokens[1]} if tokens else None
        if not body.get('stream') or not can_stream:
            message = {'role': 'assistant', 'content': ''.join(pieces)}
            choice = {'index': 0, 'message': message, 'finish_reason': finish}
            handler.send_json({'model': model, 'choices': [choice], 'usage': usage})
            return
        handler.begin_stream()
        handler.send_event(chunk('', model))
        for piece in pieces:
            handler.send_event(chunk(piece, model))
        if finish is not None:
            handler.send_event(chunk('', model, finish))
        if usage and body.get('stream_options', {}).get('include_usage'):
            handler.send_event({'model': model, 'choices': [], 'usage': usage})
        handler.end_stream()

    return behave


def chunk(text: str, model: str = 'fake-1', finish: str | None = None) -> dict[str, Any]:
    choice = {'index': 0, 'delta': {'content': text}, 'finish_reason': finish}
    return {'object': 'chat.completion.chunk', 'model': model, 'choices': [choice]}


def status(
    code: int, message: str, *, param: str | None = None, kind: str = 'error', **headers: str
) -> Behaviour:
    """Answer with an error."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        error = {'message': message, 'type': kind, 'param': param, 'code': kind}
        handler.send_json({'error': error}, code, **headers)

    return behave


def embeds(
    *,
    model: str = 'fake-embedding-1',
    length: int = 4,
    backwards: bool = False,
    tokens: bool = True,
) -> Behaviour:
    """Answer each text with a vector that begins with its number of characters."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        if handler.path != '/v1/embeddings' or body.get('encoding_format') != 'float':
            status(404, f'no {handler.path} here')(handler, body)
            return
        data = [
            {'index': i, 'embedding': [float(len(text)), 1.0, *[0.0] * (length - 2)]}
            for i, text in enumerate(body['input'])
        ]
        usage = {'prompt_tokens': len(data), 'total_tokens': len(data)} if tokens else None
        answer = {'object': 'list', 'model': model, 'usage': usage}
        handler.send_json({**answer, 'data': data[::-1] if backwards else data})

    return behave


def streams(events: Sequence[object]) -> Behaviour:
    """Stream these events as they are."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        for event in events:
            handler.send_event(event)
        handler.end_stream()

    return behave


def refuses(
    parameter: str, message: str, then: Behaviour, *, param: str | None = None
) -> Behaviour:
    """Answer 400 while a request has this parameter."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        if body.get(parameter):
            status(400, message, param=param)(handler, body)
        else:
            then(handler, body)

    return behave


def echoes_key(code: int = 401) -> Behaviour:
    """Answer with an error that repeats the key, as some proxies do."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        given = handler.headers['authorization']
        status(code, f'bad key {given.split()[-1]} in header {given!r}', x_echo=given)(
            handler, body
        )

    return behave


def hangs(*pieces: str) -> Behaviour:
    """Say these pieces, then nothing until the server closes; no piece, no answer at all."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        if pieces:
            handler.begin_stream()
            for piece in pieces:
                handler.send_event(chunk(piece))
        handler.fake.gone.wait(20)
        handler.hang_up()

    return behave


def drips() -> Behaviour:
    """Keep the connection busy with comments, as servers under load do, and never answer."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        while not handler.fake.gone.wait(0.01):
            handler.send_raw(': still busy\n\n')

    return behave


def cuts(*pieces: str) -> Behaviour:
    """Break the connection off in mid-reply."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        for piece in pieces:
            handler.send_event(chunk(piece))
        handler.hang_up()

    return behave


def rambles(piece: str = 'and so on ') -> Behaviour:
    """Reply for ever."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        while not handler.fake.gone.is_set():
            handler.send_event(chunk(piece))

    return behave


def sends(raw: str, kind: str, code: int = 200) -> Behaviour:
    """Answer with something else."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_whole(raw.encode(), kind, code)

    return behave
