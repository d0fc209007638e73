"""Desk by franky's own client, at an HTTPS server on this computer that answers as Desk does."""

import base64
import importlib.util
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bbllm.core.findings import Finding, Level
from bbllm_franka.checks.desk import DeskLogin, check_desk

PASSWORD = 'correct-horse-battery'
READY: dict[str, Any] = {
    '/api/system': {'status': 'Started'},
    '/api/arm/joints': [{'brakeStatus': 'Unlocked'}] * 7,
    '/api/system/operating-mode': {'status': 'Execution'},
    '/api/fci': {'status': 'Active'},
    '/api/system/control-token': {'owner': 'franka', 'tokenId': 7},
    '/api/safety/recovery': {'recovery': None},
}


class Desk(ThreadingHTTPServer):
    """Answers reads with what `pages` has; notes each request."""

    def __init__(self, certificate: Path) -> None:
        self.pages: dict[str, Any] = dict(READY)
        self.asked: list[tuple[str, str]] = []
        super().__init__(('127.0.0.1', 0), _Answer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def host(self) -> str:
        return f'127.0.0.1:{self.server_port}'


class _Answer(BaseHTTPRequestHandler):
    server: Desk
    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path))
        right = base64.b64encode(f'admin:{PASSWORD}'.encode()).decode()
        page = self.server.pages.get(self.path)
        if self.headers['Authorization'] != f'Basic {right}':
            # An answer that repeats what it was sent.
            self._send(401, {'message': self.headers['Authorization'] + PASSWORD})
        else:
            self._send(404 if page is None else 200, page)

    def do_POST(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def _send(self, code: int, page: Any) -> None:
        body = json.dumps(page).encode()
        self.send_response(code)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope='module')
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec('franky') is None:
        pytest.skip('franky is not installed: make extras')
    path = tmp_path_factory.mktemp('desk') / 'desk.pem'
    made = subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=robot',
         '-keyout', path, '-out', path.with_suffix('.crt')],
        capture_output=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    path.write_text(path.read_text() + path.with_suffix('.crt').read_text())
    return path


@pytest.fixture
def desk(certificate: Path) -> Iterator[Desk]:
    with Desk(certificate) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(host: str, password: str = PASSWORD) -> dict[str, Finding]:
    login = DeskLogin(user='admin', password=SecretStr(password))
    found = list(check_desk(host, login))
    assert password not in f'{found} {login}'
    return {finding.name: finding for finding in found}


def test_a_robot_that_is_ready_is_ok_in_desk_and_only_read(desk: Desk) -> None:
    found = asked(desk.host)

    assert {finding.level for finding in found.values()} == {Level.OK}, found
    assert set(desk.asked) == {('GET', path) for path in READY}
    assert found['control'].text == 'franka has control in Desk'


@pytest.mark.parametrize(
    ('path', 'page', 'name', 'level', 'text'),
    [
        (
            '/api/arm/joints',
            [{'brakeStatus': 'Locked'}] * 2 + [{'brakeStatus': 'Unlocked'}] * 5,
            'brakes', Level.FAIL, '2 of 7 joints are locked',
        ),
        ('/api/fci', {'status': 'Inactive'}, 'activation', Level.FAIL, 'FCI is inactive'),
        ('/api/system/operating-mode', {'status': 'SafetyRecovery'},
         'operation', Level.FAIL, 'SafetyRecovery'),
        ('/api/system/control-token', {}, 'control', Level.WARN, 'no user has control'),
        ('/api/safety/recovery', {'recovery': {'type': 'SafetyRuleViolation'}},
         'safety', Level.FAIL, 'SafetyRuleViolation'),
        ('/api/fci', None, 'activation', Level.WARN, 'answers with 404'),
        ('/api/fci', ['new'], 'activation', Level.WARN, 'an unknown form (TypeError)'),
    ],
)  # fmt: skip
def test_what_keeps_the_arm_from_moving_is_named(
    desk: Desk, path: str, page: Any, name: str, level: Level, text: str
) -> None:
    desk.pages[path] = page

    found = asked(desk.host)

    assert (found[name].level, text in found[name].text) == (level, True), found
    assert found[name].remedy
    others = {each.level for key, each in found.items() if key != name}
    assert others == {Level.OK}


def test_a_wrong_password_is_refused_and_not_repeated(desk: Desk) -> None:
    found = asked(desk.host, 'wrong-password-of-mine')

    assert [*found] == ['desk']
    assert found['desk'].level is Level.FAIL
    assert 'does not accept the user admin or the password (401)' in found['desk'].text
    assert PASSWORD not in str(found)


def test_a_desk_that_does_not_answer_is_not_checked(desk: Desk) -> None:
    host = desk.host
    desk.shutdown()
    desk.server_close()

    found = asked(host)

    assert found['desk'].level is Level.WARN
    assert 'does not answer (Connection refused)' in found['desk'].text


def test_without_a_password_desk_is_not_asked() -> None:
    (found,) = check_desk('192.0.2.1', None)

    assert (found.level, '--desk-user NAME' in found.remedy) == (Level.WARN, True)
