"""The page of a robot: its files, one stream of events, five ways to act."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bbllm.core.errors import BbllmError
from bbllm.core.paths import episodes_dir
from bbllm.core.plugins import load_part
from bbllm.core.prompt_store import prompts_path, read_pictures, read_prompts
from bbllm.core.protocols import data_url
from bbllm.core.tasks import MAX_TASK_CHARACTERS
from bbllm.core.text import escape_hidden, json_text
from bbllm_viewer.console.desk import Desk
from bbllm_viewer.console.past import past_episodes, past_record
from bbllm_viewer.replay.pages import static
from bbllm_viewer.view3d.drawn_scene import script
from bbllm_viewer.view3d.meshes import robot_meshes
from bbllm_viewer.web.server import Address, SecretServer

TICK_S = 0.05
"""Period at which a browser is sent what is new [s]."""
BEAT_S = 10.0
"""Silence after which an empty line is sent, so that a browser that has gone is noticed [s]."""
MOST_BYTES = 4 * MAX_TASK_CHARACTERS + 1000
"""The longest request that is read."""
MOST_SPEECH_BYTES = 2_100_000
"""The longest recording that is read: a minute at 16 kHz and a little more."""
MOST_BROWSERS = 32
"""How many streams there are at most; every other request is answered at once."""
PAGES = {
    '': ('index.html', 'text/html'),
    'console.css': ('console.css', 'text/css'),
    'console.js': ('console.js', 'text/javascript'),
    'microphone.js': ('microphone.js', 'text/javascript'),
}
"""Files of the page, by what a browser requests."""
SHARED: dict[str, tuple[Callable[[], str], str]] = {
    'view3d.js': (script, 'text/javascript'),
    'replay.js': (partial(static, 'replay.js'), 'text/javascript'),
    'replay.css': (partial(static, 'replay.css'), 'text/css'),
}
"""The same, of other rooms."""


class PageServer(SecretServer):
    """Serves the page of a desk; see `SecretServer`. Its streams end with it."""

    def __init__(self, desk: Desk, address: Address):
        super().__init__(make_app(desk), address)
        self._feed = desk.feed

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End the streams; the error of this package that ends the server is shown."""
        self._feed.close(str(error) if isinstance(error, BbllmError) else 'The console was ended.')
        super().__exit__(kind, error, trace)


def make_app(desk: Desk) -> Starlette:
    """Return what serves the page of a desk, without any check of who asks."""
    acts: dict[str, Act] = {
        'task': lambda given: desk.begin(_text(given, 'task')),
        'say': lambda given: desk.say(_text(given, 'text'), _text(given, 'question')),
        'answer': lambda given: _answer(desk, given),
        'choose': lambda given: desk.choose(_text(given, 'scene'), _text(given, 'model')),
    }
    return Starlette(
        routes=[
            *(Route(f'/{path}', _file(*page)) for path, page in PAGES.items()),
            *(Route(f'/{path}', _text_file(*page)) for path, page in SHARED.items()),
            Route('/events', _events(desk)),
            Route('/prompt', _prompt(desk)),
            Route('/meshes', _data(lambda _: robot_meshes())),
            Route('/episodes', _data(lambda _: past_episodes(episodes_dir()))),
            Route(
                '/record', _data(lambda given: past_record(episodes_dir(), given.get('id', '')))
            ),
            *(Route(f'/{name}', _action(act), methods=['POST']) for name, act in acts.items()),
            # One at a time is transcribed; others must not take all threads meanwhile.
            Route('/speech', _speech(desk, CapacityLimiter(2)), methods=['POST']),
            # Not behind the threads of the others, which may wait for a node that has gone.
            Route('/stop', _action(lambda _: desk.stop(), CapacityLimiter(4)), methods=['POST']),
        ]
    )


TOO_LONG = JSONResponse({'error': 'The request is too long.'}, status_code=413)
Endpoint = Callable[[Request], Any]
Act = Callable[[Mapping[str, object]], object]


def _file(name: str, kind: str) -> Endpoint:
    def endpoint(request: Request) -> Response:
        data = files('bbllm_viewer.console').joinpath(f'static/{name}').read_bytes()
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
        if feed.n_browsers >= MOST_BROWSERS:
            fault = f'{MOST_BROWSERS} pages are open, which is the most. Close one of them.'
            return JSONResponse({'error': fault}, status_code=503)
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


def _data(read: Callable[[Mapping[str, str]], object]) -> Endpoint:
    """Return what answers with JSON values, by the names behind the address."""

    def endpoint(request: Request) -> Response:
        try:
            return Response(json_text(read(request.query_params)), media_type='application/json')
        except BbllmError as error:
            return JSONResponse({'error': escape_hidden(str(error))}, status_code=404)

    return endpoint


def _speech(desk: Desk, limiter: CapacityLimiter) -> Endpoint:
    """Return what transcribes a recording for the field of words; a stop word stops at once."""

    def transcribe(recording: bytes) -> dict[str, object]:
        transcript, stops = load_part('bbllm.voice', 'understand')(recording, desk.feed.names)
        if stops:
            desk.stop()
        return {'text': escape_hidden(transcript.text), 'stopped': stops}

    async def endpoint(request: Request) -> Response:
        recording = await _body(request, MOST_SPEECH_BYTES)
        if recording is None:
            return TOO_LONG
        try:
            return JSONResponse(await to_thread.run_sync(transcribe, recording, limiter=limiter))
        except BbllmError as error:
            return JSONResponse({'error': escape_hidden(str(error))}, status_code=409)

    return endpoint


async def _body(request: Request, most: int) -> bytes | None:
    """Read the body of a request; None where it is longer than *most* bytes."""
    body = b''
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body


def _action(act: Act, limiter: CapacityLimiter | None = None) -> Endpoint:
    """Return what acts in a thread, by default one of those that all requests share."""

    async def endpoint(request: Request) -> Response:
        body = await _body(request, MOST_BYTES)
        if body is None:
            return TOO_LONG
        try:
            given = json.loads(body)
            if not isinstance(given, dict):
                raise ValueError('no object')
            reported = await to_thread.run_sync(act, given, limiter=limiter)
        except BbllmError as error:
            return JSONResponse({'error': escape_hidden(str(error))}, status_code=409)
        except (ValueError, RecursionError):
            fault = 'The request is no JSON object with the fields that it needs.'
            return JSONResponse({'error': fault}, status_code=400)
        return JSONResponse({'told': reported} if isinstance(reported, str) else {})

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
