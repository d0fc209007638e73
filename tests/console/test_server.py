"""Who may see the page and send through it."""

import http.client
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip('uvicorn', reason='the extra `console` is not installed: make extras')

from bbllm.core.errors import ConfigError
from bbllm.core.events import PromptText
from bbllm.core.prompt_store import PromptEncoder, prompts_path
from bbllm.core.protocols import data_url
from bbllm_viewer.console.server import MOST_BROWSERS, MOST_BYTES, PageServer
from bbllm_viewer.web import connections
from bbllm_viewer.web.guard import HEADERS
from bbllm_viewer.web.server import Address
from tests.console.desks import ScriptedDesk

PATIENCE_S = 30.0
ACTS = {
    'task': {'task': 'stack them'},
    'say': {'text': 'not the red one', 'question': 'Which one?'},
    'answer': {'hash': 'abc', 'granted': True, 'reason': ''},
    'choose': {'scene': 'tower', 'model': 'gpt'},
    'stop': {},
}


@pytest.fixture
def desk() -> ScriptedDesk:
    return ScriptedDesk()


@pytest.fixture
def server(desk: ScriptedDesk) -> Iterator[PageServer]:
    with PageServer(desk, Address()) as server:
        yield server


def request(
    server: PageServer,
    path: str = '',
    data: object = None,
    *,
    base: str | None = None,
    method: str = '',
    **headers: str,
) -> tuple[int, str, dict[str, str]]:
    """Send a request; one with data names its origin as the page does, unless another is given."""
    url = urlsplit(server.url)
    named = {name.replace('_', '-'): value for name, value in headers.items() if value}
    body = None
    if data is not None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        if 'Origin' not in headers:
            named['Origin'] = f'http://{url.netloc}'
    connection = http.client.HTTPConnection('127.0.0.1', url.port or 0, timeout=PATIENCE_S)
    method = method or ('GET' if data is None else 'POST')
    connection.request(method, (url.path if base is None else base) + path, body, named)
    answer = connection.getresponse()
    text = '' if path == 'events' and answer.status == 200 else answer.read().decode()
    connection.close()
    return answer.status, text, {name.lower(): value for name, value in answer.getheaders()}


def test_page_and_its_parts_come_with_headers_that_keep_other_sites_out(
    server: PageServer,
) -> None:
    for path, kind in (
        ('', 'text/html'),
        ('console.js', 'text/javascript'),
        ('console.css', 'text/css'),
        ('view3d.js', 'text/javascript'),
        ('events', 'text/event-stream'),
    ):
        status, _, headers = request(server, path)

        assert (status, headers['content-type'].partition(';')[0]) == (200, kind)
        assert {name: headers[name] for name, _ in HEADERS} == dict(HEADERS)
    policy = dict(HEADERS)['content-security-policy']
    assert "default-src 'none'" in policy and 'unsafe' not in policy and 'http' not in policy


def test_what_the_page_asks_for_reaches_the_desk(server: PageServer, desk: ScriptedDesk) -> None:
    for path, data in ACTS.items():
        assert request(server, path, data)[0] == 200

    assert desk.asked == [
        ('begin', 'stack them'),
        ('say', 'not the red one', 'Which one?'),
        ('answer', 'abc', True, ''),
        ('choose', 'tower', 'gpt'),
        ('stop',),
    ]


def test_refusal_of_the_desk_is_shown(server: PageServer, desk: ScriptedDesk) -> None:
    desk.refusal = 'A task is under way.'

    status, text, _ = request(server, 'task', ACTS['task'])

    assert (status, json.loads(text)) == (409, {'error': 'A task is under way.'})


@pytest.mark.parametrize('path', ['', 'events', 'console.js', 'prompt', *ACTS])
@pytest.mark.parametrize(
    'base', ['/', '/wrong/', '/wrong-token-of-the-same-length-as-the-real-o/']
)
def test_nobody_gets_in_without_the_token(
    server: PageServer, desk: ScriptedDesk, path: str, base: str
) -> None:
    status, text, _ = request(server, path, ACTS.get(path), base=base)

    assert status == 403
    assert 'Use the whole address that bbllm printed' in text
    assert desk.asked == []


@pytest.mark.parametrize('path', ['', 'events', 'prompt', *ACTS])
@pytest.mark.parametrize(
    'headers',
    [
        {'Host': 'evil.example'},
        {'Host': 'evil.example:80'},
        {'Host': '127.0.0.1.evil.example'},
        {'Origin': 'https://evil.example'},
        {'Origin': 'null'},
        {'Origin': 'http://127.0.0.1:1'},
        {'Origin': 'http://localhost'},
        {'Sec_Fetch_Site': 'cross-site'},
        {'Sec_Fetch_Site': 'same-site'},
    ],
    ids=str,
)
def test_other_sites_of_the_same_browser_are_refused_even_with_the_token(
    server: PageServer, desk: ScriptedDesk, path: str, headers: dict[str, str]
) -> None:
    assert request(server, path, ACTS.get(path), **headers)[0] in (403, 421)
    assert desk.asked == []


def test_request_that_acts_has_to_name_its_origin(server: PageServer, desk: ScriptedDesk) -> None:
    assert request(server, 'stop', {}, Origin='')[0] == 403
    assert request(server, 'stop')[0] == 405
    assert request(server, 'stop', {}, method='PUT')[0] == 405
    assert desk.asked == []


def test_web_socket_is_refused(server: PageServer) -> None:
    for path in ('', '/wrong/'):
        status, _, _ = request(
            server,
            *('events' if not path else '', None),
            base=path or None,
            Connection='Upgrade',
            Upgrade='websocket',
            Sec_WebSocket_Key='dGhlIHNhbXBsZSBub25jZQ==',
            Sec_WebSocket_Version='13',
            Origin='https://evil.example',
        )
        assert status == 403


@pytest.mark.parametrize(
    'body',
    [b'', b'[]', b'"stop"', b'{', b'{"task": 1}', b'{"task": null}', b'\xff\xfe', b'[' * 20_000],
    ids=repr,
)
def test_request_that_is_no_request_is_refused(
    server: PageServer, desk: ScriptedDesk, body: bytes
) -> None:
    status, text, _ = request(server, 'task', body)

    assert status in (400, 413)
    assert 'error' in json.loads(text)
    assert desk.asked == []


def test_request_that_is_too_long_is_refused(server: PageServer, desk: ScriptedDesk) -> None:
    assert request(server, 'task', {'task': 'x' * MOST_BYTES})[0] == 413
    assert request(server, 'answer', {'hash': 'abc', 'granted': 'yes', 'reason': ''})[0] == 400
    assert desk.asked == []


def test_prompts_are_found_by_hash_only(server: PageServer, desk: ScriptedDesk) -> None:
    desk.start('pick a')
    for wanted in ('0000', '../../etc/passwd', ''):
        status, text, _ = request(server, f'prompt?hash={wanted}')
        assert (status, json.loads(text)) in (
            (404, {'error': 'This text is not kept on this machine.'}),
            (200, {'text': ''}),
        )


def test_pictures_are_found_by_their_hashes(
    server: PageServer, desk: ScriptedDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    sent = PromptText.of_picture(b'\x89PNG\r\n\x1a\n and so on')
    desk.start('pick a')
    path = prompts_path(desk.feed.journal)
    path.parent.mkdir(parents=True)
    path.write_text(PromptEncoder().add([sent]))

    status, text, _ = request(server, f'prompt?hash={sent.hash}')

    assert (status, json.loads(text)) == (200, {'picture': data_url(sent.picture)})


def test_streams_end_with_the_server(desk: ScriptedDesk) -> None:
    with PageServer(desk, Address()) as server:
        url = urlsplit(server.url)
        connection = http.client.HTTPConnection('127.0.0.1', url.port or 0, timeout=PATIENCE_S)
        connection.request('GET', f'{url.path}events')
        answer = connection.getresponse()
        assert answer.readline().startswith(b'data: {"reset":true')
        begun_s = time.monotonic()

    assert b'The console was ended.' in answer.read()
    assert time.monotonic() - begun_s < PATIENCE_S
    with socket.socket() as probe:
        assert probe.connect_ex(('127.0.0.1', url.port or 0)) != 0


def test_address_without_its_last_slash_leads_to_the_page(server: PageServer) -> None:
    status, _, headers = request(server, base=urlsplit(server.url).path.removesuffix('/'))

    assert (status, headers['location']) == (307, urlsplit(server.url).path)


def test_token_is_new_each_time_and_long(desk: ScriptedDesk) -> None:
    tokens = set()
    for _ in range(3):
        with PageServer(desk, Address()) as server:
            tokens.add(urlsplit(server.url).path.strip('/'))

    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 43  # 256 bits


@pytest.mark.parametrize('host', ['192.168.1.7', 'robot-pc', '0.0.0.0', '::', '10.0.0.1'])
def test_other_machines_are_served_only_with_tls(host: str) -> None:
    with pytest.raises(ConfigError, match=r'--tls-cert FILE --tls-key FILE.*ssh -L'):
        Address(host=host)


def test_address_that_cannot_be_served_is_named(tmp_path: Path, desk: ScriptedDesk) -> None:
    file = tmp_path / 'x.pem'
    with pytest.raises(ConfigError, match='go together'):
        Address(tls_cert=file)
    with pytest.raises(ConfigError, match='every address'):
        Address(host='0.0.0.0', tls_cert=file, tls_key=file)
    with pytest.raises(ConfigError, match=r'x\.pem'):
        PageServer(desk, Address(tls_cert=file, tls_key=file))
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        with pytest.raises(ConfigError, match='leave --port out'):
            PageServer(desk, Address(port=taken.getsockname()[1]))


def test_page_is_served_over_tls(tmp_path: Path, desk: ScriptedDesk) -> None:
    cert, key = tmp_path / 'cert.pem', tmp_path / 'key.pem'
    made = subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost',
         '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
        capture_output=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    address = Address(host='localhost', tls_cert=cert, tls_key=key)
    with PageServer(desk, address) as server:
        url = urlsplit(server.url)
        assert (url.scheme, url.hostname) == ('https', 'localhost')
        trust = ssl.create_default_context(cafile=cert)
        connection = http.client.HTTPSConnection(
            'localhost', url.port or 0, context=trust, timeout=PATIENCE_S
        )
        for origin, status in ((f'https://{url.netloc}', 200), (f'http://{url.netloc}', 403)):
            connection.request('POST', f'{url.path}stop', b'{}', {'Origin': origin})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status


def opened(server: PageServer, sent: bytes) -> socket.socket:
    """Return a connection that has sent no more than that."""
    opened = socket.create_connection(('127.0.0.1', urlsplit(server.url).port or 0), PATIENCE_S)
    opened.sendall(sent)
    return opened


@pytest.mark.parametrize('sent', [b'', b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '], ids=repr)
def test_connections_that_ask_for_nothing_keep_nobody_from_the_page_and_from_stop(
    server: PageServer, desk: ScriptedDesk, sent: bytes
) -> None:
    idle = [opened(server, sent) for _ in range(80)]

    assert request(server)[0] == 200
    assert request(server, 'stop', {})[0] == 200
    assert desk.asked == [('stop',)]
    for connection in idle:
        assert connection.recv(1) == b''  # the server closes it, also where it sends a little more
        connection.close()


def test_connection_is_closed_where_its_head_comes_too_slowly_also_a_second_one(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, 'HEAD_S', 0.5)
    url = urlsplit(server.url)
    head = f'GET {url.path}console.css HTTP/1.1\r\nHost: {url.netloc}\r\n'.encode()
    with opened(server, head + b'\r\n' + head) as slow:
        answer = http.client.HTTPResponse(slow)
        answer.begin()
        assert (answer.status, bool(answer.read())) == (200, True)
        with suppress(OSError):  # it is closed while this sends
            for _ in range(int(PATIENCE_S / 0.1)):
                slow.sendall(b'X: 1\r\n')
                time.sleep(0.1)
            pytest.fail('a head that does not end was read all the time')


def test_who_is_refused_keeps_no_connection(server: PageServer) -> None:
    with opened(server, b'GET /wrong/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n') as refused:
        whole = b''
        while part := refused.recv(4096):
            whole += part
    assert whole.startswith(b'HTTP/1.1 403') and b'connection: close' in whole


def test_pages_beyond_the_most_get_no_stream_and_all_else(
    server: PageServer, desk: ScriptedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = urlsplit(server.url)
    head = f'GET {url.path}events HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n'.encode()
    streams = [opened(server, head) for _ in range(MOST_BROWSERS)]
    for stream in streams:
        assert stream.recv(12) == b'HTTP/1.1 200'
    while desk.feed.n_browsers < MOST_BROWSERS:
        time.sleep(0.01)

    status, text, _ = request(server, 'events')

    assert status == 503 and 'Close one of them' in text
    assert request(server)[0] == request(server, 'stop', {})[0] == 200
    for stream in streams:
        stream.close()


def test_stop_goes_ahead_of_requests_that_wait_for_a_node_that_has_gone(
    server: PageServer, desk: ScriptedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    waiting = threading.Semaphore(0)

    def say(text: str, question: str) -> None:
        waiting.release()
        assert answers.wait(PATIENCE_S)

    monkeypatch.setattr(desk, 'say', say)
    others = [
        threading.Thread(target=request, args=(server, 'say', {'text': 'hello', 'question': ''}))
        for _ in range(50)
    ]
    for other in others:
        other.start()
    for _ in range(40):  # all threads that requests share
        assert waiting.acquire(timeout=PATIENCE_S)

    assert request(server, 'stop', {})[0] == 200
    assert desk.asked == [('stop',)]
    answers.set()
    for other in others:
        other.join(PATIENCE_S)


@pytest.mark.parametrize(('text', 'stops'), [('put it back', False), ('please stop', True)])
def test_a_recording_becomes_text_to_check_and_a_stop_word_stops(
    monkeypatch: pytest.MonkeyPatch,
    server: PageServer,
    desk: ScriptedDesk,
    text: str,
    stops: bool,
) -> None:
    pytest.importorskip('pocketsphinx', reason='the extra `voice` is not installed: make extras')
    from bbllm_voice import recordings
    from bbllm_voice.sound import wav
    from tests.voice.parts import ScriptedTranscriber, noise

    transcriber = ScriptedTranscriber([text])
    monkeypatch.setattr(recordings, '_transcriber', lambda: transcriber)

    status, reply, _ = request(server, 'speech', wav(noise(1.0)))

    assert (status, json.loads(reply)) == (200, {'text': text, 'stopped': stops})
    assert desk.asked == ([('stop',)] if stops else [])


def test_a_recording_that_is_none_or_too_long_is_refused(server: PageServer) -> None:
    from bbllm_viewer.console.server import MOST_SPEECH_BYTES

    assert request(server, 'speech', b'no sound')[0] == 409
    assert request(server, 'speech', bytes(MOST_SPEECH_BYTES + 1))[0] == 413
    assert request(server, 'speech', b'no sound', Origin='http://elsewhere')[0] == 403
