"""Who may use a server for programs, and where its token is kept."""

import http.client
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip('uvicorn', reason='the extra `console` is not installed: make extras')

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bbllm.core.errors import ConfigError
from bbllm_viewer.web.kept_token import kept_token
from bbllm_viewer.web.server import Address, SecretServer

PATIENCE_S = 30.0


async def endpoint(request: Request) -> Response:
    return PlainTextResponse('served')


@pytest.fixture
def server() -> Iterator[SecretServer]:
    app = Starlette(routes=[Route('/mcp', endpoint, methods=['GET', 'POST', 'DELETE'])])
    with SecretServer(app, Address(), serves_programs=True) as server:
        yield server


def answer(server: SecretServer, method: str = 'POST', path: str = '', **headers: str) -> int:
    url = urlsplit(server.url)
    named = {name.replace('_', '-'): value for name, value in headers.items()}
    connection = http.client.HTTPConnection('127.0.0.1', url.port or 0, timeout=PATIENCE_S)
    connection.request(method, path or f'{url.path}mcp', json.dumps({}), named)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize('method', ['GET', 'POST', 'DELETE'])
def test_program_that_has_the_address_is_served_without_an_origin(
    server: SecretServer, method: str
) -> None:
    own = f'http://{urlsplit(server.url).netloc}'

    assert answer(server, method) == 200
    assert answer(server, method, Origin=own, Sec_Fetch_Site='same-origin') == 200


@pytest.mark.parametrize('method', ['GET', 'POST', 'DELETE'])
@pytest.mark.parametrize('path', ['/mcp', '/', f'/{"x" * 43}/mcp'])
def test_other_user_of_the_machine_who_lacks_the_token_is_refused(
    server: SecretServer, method: str, path: str
) -> None:
    assert answer(server, method, path) == 403


@pytest.mark.parametrize(
    'headers',
    [
        {'Origin': 'http://localhost:3000'},
        {'Origin': 'http://127.0.0.1:3000'},
        {'Origin': 'null'},
        {'Origin': 'https://example.org'},
        {'Sec_Fetch_Site': 'cross-site'},
        {'Sec_Fetch_Site': 'same-site'},
        {'Host': 'example.org'},
    ],
    ids=str,
)
def test_page_of_another_port_or_site_is_refused_even_with_the_token(
    server: SecretServer, headers: dict[str, str]
) -> None:
    assert answer(server, **headers) in (403, 421)
    assert answer(server, 'GET', **headers) in (403, 421)


def test_token_is_kept_for_its_user_alone(tmp_path: Path) -> None:
    file = tmp_path / 'state' / 'mcp_token'

    token = kept_token(file)

    assert re.fullmatch('[A-Za-z0-9_-]{43}', token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kept_token(file) == token
    file.unlink()
    assert kept_token(file) != token


def test_token_that_others_may_know_is_refused_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / 'mcp_token'
    token = kept_token(file)
    file.chmod(0o644)
    with pytest.raises(ConfigError, match='Delete it; the next start makes a new one') as refusal:
        kept_token(file)
    assert token not in str(refusal.value)

    file.chmod(0o600)
    file.write_text('short\n')
    with pytest.raises(ConfigError, match='has no token'):
        kept_token(file)

    link = tmp_path / 'link'
    link.symlink_to(file)
    with pytest.raises(ConfigError, match='cannot be kept'):
        kept_token(link)
