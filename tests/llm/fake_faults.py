"""What goes wrong with a model behind HTTP, as behaviours of `FakeServer`."""

from typing import Any

from fake_server import Behaviour, Handler, chunk, status


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
