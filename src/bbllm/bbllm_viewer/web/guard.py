"""Who may use a server whose address is a secret, and what every answer of it has."""

import hmac
import ipaddress

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


def is_loopback(host: str) -> bool:
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """
    Lets only requests through that name the token, this host and, where any, this origin.

    The token is the first part of the path, not a cookie: browsers send a cookie of 127.0.0.1 to
    every port of it, and so to other users of this machine. Pages have to name their origin
    where they act; with *serves_programs* a request that names none may act too. Who is refused
    keeps no connection.
    """

    def __init__(self, app: ASGIApp, token: str, host: str, *, serves_programs: bool = False):
        self._app = app
        self._token = token
        self._serves_programs = serves_programs
        own = {f'[{host}]' if ':' in host else host.lower()}
        self._hosts = own | {'127.0.0.1', 'localhost', '[::1]'} if is_loopback(host) else own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a sentence."""
        if scope['type'] == 'lifespan':
            await self._app(scope, receive, send)
            return

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
            refusal = PlainTextResponse(f'{fault}\n', code, {'connection': 'close'})
            await refusal(scope, receive, send_guarded)
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
            return 421, 'This is not the host that is served here.'
        secure = scope['scheme'] in ('https', 'wss')
        own = f'{"https" if secure else "http"}://{host}'
        origin = headers.get('origin')
        acts = scope['type'] == 'websocket' or scope['method'] not in ('GET', 'HEAD')
        needs_origin = acts and not self._serves_programs
        if (origin is not None or needs_origin) and origin != own:
            return 403, 'Only a page of this address may send requests here, and names its origin.'
        if headers.get('sec-fetch-site', 'none') not in ('same-origin', 'none'):
            return 403, 'Another site may not send requests here.'
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return 403, (
                'The token of this address is missing or wrong. Use the whole address that bbllm '
                'printed last.'
            )
        return 0, ''
