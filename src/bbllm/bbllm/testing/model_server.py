"""
A small OpenAI-compatible server on loopback, whose every fault can be ordered.

    with ModelServer(replies('0: wait')) as server:
        OpenAIChat(OpenAISettings(model='m', base_url=server.url))

Each request for a reply is met by the next behaviour; the last one stays.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bbllm.core.protocols import ToolCall
from bbllm.testing.paced_model import Pace

Behaviour = Callable[['Handler', dict[str, Any]], None]


class ModelServer(ThreadingHTTPServer):
    """Runs in threads of its own between `with` and its end."""

    def __init__(self, *behaviours: Behaviour):
        super().__init__(('127.0.0.1', 0), Handler)
        self.behaviours = list(behaviours)
        self.models: tuple[str, ...] | None = ('gpt-4o', 'gpt-4o-mini')
        """What /v1/models lists; None where it has no such page."""
        self.bodies: list[dict[str, Any]] = []
        """Every chat request that came."""
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        """Set when the server closes, so that no handler hangs longer."""
        self.url = f'http://127.0.0.1:{self.server_port}/v1'

    def will(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)

    def next_behaviour(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.gone.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent about clients that left: that is what many tests are about."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = 'HTTP/1.1'
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.server.bodies.append(body)
        self.server.headers.append({name.lower(): text for name, text in self.headers.items()})
        self.server.next_behaviour()(self, body)

    def do_GET(self) -> None:
        if self.server.models is None:
            status(404, 'no such page')(self, {})
            return
        self.send_json({'data': [{'id': name} for name in self.server.models]})

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

    def paced(self, pieces: Iterable[str], pace: Pace | None) -> Iterator[str]:
        """
        Yield the pieces of a reply, each a token, when they are due; at once without a pace.

        Raises ConnectionAbortedError, which ends the connection, where the server closes.
        """
        begun_s = time.monotonic()
        for token, piece in enumerate(pieces):
            if pace is not None:
                wait_s = begun_s + pace.due_s(token) - time.monotonic()
                if self.server.gone.wait(max(0.0, wait_s)):
                    raise ConnectionAbortedError('the server closes')
            yield piece

    def hang(self) -> None:
        self.server.gone.wait(20)
        self.hang_up()

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Write no log: a test's output is for its own words."""


def replies(
    *pieces: str,
    model: str = 'fake-1',
    finish: str | None = 'stop',
    can_stream: bool = True,
    pace: Pace | None = None,
) -> Behaviour:
    """Answer in these pieces, each a token, or as a whole where no stream was asked for."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        usage = {'prompt_tokens': 7, 'completion_tokens': 3}
        written = handler.paced(pieces, pace)
        if not body.get('stream') or not can_stream:
            message = {'role': 'assistant', 'content': ''.join(written)}
            choice = {'index': 0, 'message': message, 'finish_reason': finish}
            handler.send_json({'model': model, 'choices': [choice], 'usage': usage})
            return
        handler.begin_stream()
        handler.send_event(chunk('', model))
        for piece in written:
            handler.send_event(chunk(piece, model))
        if finish is not None:
            handler.send_event(chunk('', model, finish))
        if body.get('stream_options', {}).get('include_usage'):
            handler.send_event({'model': model, 'choices': [], 'usage': usage})
        handler.end_stream()

    return behave


def chunk(text: str, model: str = 'fake-1', finish: str | None = None) -> dict[str, Any]:
    choice = {'index': 0, 'delta': {'content': text}, 'finish_reason': finish}
    return {'object': 'chat.completion.chunk', 'model': model, 'choices': [choice]}


def calls(*made: ToolCall, text: str = '', can_stream: bool = True) -> Behaviour:
    """Answer with calls of tools, whose arguments come in two pieces in a stream."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        usage = {'prompt_tokens': 7, 'completion_tokens': 3}
        whole = [
            {
                'id': f'c{i}',
                'type': 'function',
                'function': {'name': c.name, 'arguments': c.arguments},
            }
            for i, c in enumerate(made)
        ]
        if not body.get('stream') or not can_stream:
            message = {'role': 'assistant', 'content': text or None, 'tool_calls': whole}
            choice = {'index': 0, 'message': message, 'finish_reason': 'tool_calls'}
            handler.send_json({'model': 'fake-1', 'choices': [choice], 'usage': usage})
            return
        handler.begin_stream()
        handler.send_event(chunk(text))
        for i, c in enumerate(made):
            half = len(c.arguments) // 2
            first = {'name': c.name, 'arguments': c.arguments[:half]}
            for part in (
                {'id': f'c{i}', 'function': first},
                {'function': {'arguments': c.arguments[half:]}},
            ):
                delta = {'tool_calls': [{'index': i, 'type': 'function', **part}]}
                choice = {'index': 0, 'delta': delta, 'finish_reason': None}
                handler.send_event({'model': 'fake-1', 'choices': [choice]})
        handler.send_event(chunk('', finish='tool_calls'))
        handler.end_stream()

    return behave


def status(
    code: int, message: str, *, param: str | None = None, kind: str = 'error', **headers: str
) -> Behaviour:
    """Answer with an error."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        error = {'message': message, 'type': kind, 'param': param, 'code': kind}
        handler.send_json({'error': error}, code, **headers)

    return behave


def embeds() -> Behaviour:
    """Answer each text, last first, with a vector that begins with its number of characters."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        if handler.path != '/v1/embeddings' or body.get('encoding_format') != 'float':
            status(404, f'no {handler.path} here')(handler, body)
            return
        data = [{'index': i, 'embedding': [len(x), 1.0]} for i, x in enumerate(body['input'])]
        usage = {'prompt_tokens': len(data), 'total_tokens': len(data)}
        handler.send_json({'data': data[::-1], 'model': 'fake-embedding-1', 'usage': usage})

    return behave


def streams(*events: object, then: Callable[[Handler], None] = Handler.end_stream) -> Behaviour:
    """Stream these events as they are."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        for event in events:
            handler.send_event(event)
        then(handler)

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


def hangs() -> Behaviour:
    """Answer nothing until the server closes."""
    return lambda handler, body: handler.hang()


def repeats(text: str) -> Behaviour:
    """Stream this text for ever."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.begin_stream()
        while not handler.server.gone.wait(0.001):
            handler.send_raw(text)

    return behave


def drips() -> Behaviour:
    """Keep the connection busy with comments, as servers under load do, and never answer."""
    return repeats(': still busy\n\n')


def rambles() -> Behaviour:
    """Reply for ever."""
    return repeats(f'data: {json.dumps(chunk("and so on "))}\n\n')


def sends(raw: str, kind: str, code: int = 200) -> Behaviour:
    """Answer with something else."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_whole(raw.encode(), kind, code)

    return behave
