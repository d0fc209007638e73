"""Limits of a model server, which the processes of a machine keep together."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError, ModelError
from bbllm.llm.models.factory import parse_config, resolve_all
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.openai.turns import Turns
from bbllm.testing import ModelServer, replies, status
from bbllm.testing.model_server import Handler
from tests.llm.chat_clients import ASK, Client

WAIT_S = 60.0
"""How long a process of a test may take on a busy machine [s]."""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'state'))


class Clock:
    """A clock that goes on by what is slept."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, now_s: float = 100.0):
        self.now_s = now_s
        monkeypatch.setattr(time, 'monotonic', lambda: self.now_s)
        monkeypatch.setattr(asyncio, 'sleep', self._sleep)

    async def _sleep(self, wait_s: float) -> None:
        self.now_s += wait_s


def turns(**limits: Any) -> Turns:
    return Turns(OpenAISettings(model='m', base_url='http://127.0.57.1:9/v1', **limits))


def waited(*each: Turns, hold_s: float | None = None) -> list[float]:
    """Return how long these waited one after the other, the first perhaps told to hold [s]."""

    async def take() -> list[float]:
        found = []
        if hold_s is not None:
            await each[0].hold(hold_s)
        for item in each:
            async with item.turn() as wait_s:
                found.append(wait_s)
        return found

    return asyncio.run(take())


def test_requests_are_spread_over_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    one, other = turns(requests_per_minute=30), turns(requests_per_minute=30)

    assert waited(one, other, one) == pytest.approx([0.0, 2.0, 2.0])


def test_a_server_that_asks_to_wait_is_left_alone_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    one, other = turns(concurrent_requests=2), turns(concurrent_requests=2)

    assert waited(one, hold_s=7.0) == pytest.approx([7.0])
    assert waited(one, hold_s=5.0) == pytest.approx([5.0])
    assert waited(other, other) == pytest.approx([0.0, 0.0])


def test_another_start_of_the_machine_has_another_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Clock(monkeypatch)
    waited(turns(requests_per_minute=1))
    (file,) = (tmp_path / 'state').rglob('next')
    _, _, moment_s = file.read_text().partition(' ')
    for text in (f'another-start {moment_s}', 'not a moment', ''):
        file.write_text(text)

        assert waited(turns(requests_per_minute=1)) == [0.0]


def test_without_limits_nothing_is_written(tmp_path: Path) -> None:
    assert waited(turns(), turns(), hold_s=9.0) == [0.0, 0.0]
    assert not (tmp_path / 'state').exists()


def test_a_folder_that_cannot_be_written_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'file').touch()
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'file'))

    with pytest.raises(ConfigError, match='Set XDG_STATE_HOME to a folder that can be written'):
        waited(turns(requests_per_minute=1))


def test_a_wait_that_a_server_asked_one_client_for_holds_the_others(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.will(status(429, 'slow down', retry_after='30'))
    client = Client(server, requests_per_minute=600.0, retries=0)
    before_s = time.monotonic()
    with pytest.raises(ModelError, match='slow down'):
        client.ask()
    clock = Clock(monkeypatch, time.monotonic())
    took_s = clock.now_s - before_s

    (wait_s,) = waited(Turns(client.model.settings))

    assert 30.0 - took_s <= wait_s <= 30.0


def test_time_in_the_queue_is_no_time_of_the_model(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.will(replies('0: wait'))
    client = Client(server, hang_timeout_s=0.1)

    @asynccontextmanager
    async def turn(self: Turns) -> AsyncIterator[float]:
        yield 1000.0

    monkeypatch.setattr(Turns, 'turn', turn)

    # The queue was not real here, so that what is left of the time is negative.
    assert client.model.ask(ASK).duration_s < 0.0


class Busy:
    """A behaviour that counts the requests that are under way at once."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._lock = threading.Lock()

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.05)  # long enough to be met by a request that does not wait for its turn
        with self._lock:
            self._now -= 1
        replies('0: wait')(handler, body)


ASKING = """
import sys
from concurrent.futures import ThreadPoolExecutor
from tests.llm.chat_clients import ASK
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import OpenAISettings
at_once = int(sys.argv[2]) or None
model = OpenAIChat(OpenAISettings(model='m', base_url=sys.argv[1], concurrent_requests=at_once))
print('ready', flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(3) as threads:
    for reply in threads.map(model.ask, [ASK] * 3):
        print(reply.text, flush=True)
"""


@contextmanager
def asking(server: ModelServer, at_once: int) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that asks three requests at once as soon as it is sent a line."""
    command = [sys.executable, '-c', ASKING, server.url, str(at_once)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize('at_once', [1, 2])
def test_processes_keep_the_number_of_requests_under_way_together(
    server: ModelServer, at_once: int
) -> None:
    busy = Busy()
    server.will(busy)
    with asking(server, at_once) as one, asking(server, at_once) as other:
        for process in (one, other):
            assert process.stdout is not None and process.stdout.readline() == 'ready\n'
        outputs = [process.communicate('go\n', timeout=WAIT_S)[0] for process in (one, other)]

    assert [output.split('\n') for output in outputs] == [['0: wait'] * 3 + ['']] * 2
    assert len(server.bodies) == 6
    assert busy.most <= at_once


def test_what_a_killed_process_held_is_free_again(server: ModelServer) -> None:
    asked = threading.Event()

    def hang(handler: Handler, body: dict[str, Any]) -> None:
        asked.set()
        handler.hang()

    server.will(hang, replies('0: wait'))
    with asking(server, 1) as process:
        assert process.stdin is not None
        process.stdin.write('go\n')
        process.stdin.flush()
        assert asked.wait(WAIT_S), f'no request came within {WAIT_S:g} s'
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    assert Client(server, concurrent_requests=1).ask() == '0: wait'


def test_brain_and_body_on_one_server_keep_the_stricter_limits_of_both() -> None:
    config = parse_config(
        'brain: {model: m, requests_per_minute: 60}\n'
        'body: {model: n, requests_per_minute: 30, concurrent_requests: 2}\n',
        'llm.yaml',
    )
    environ = {'OPENAI_BASE_URL': 'http://127.0.57.1:9/v1'}

    sections = resolve_all(config, ('brain', 'body'), environ=environ)

    for section in sections.values():
        assert (section.requests_per_minute, section.concurrent_requests) == (30, 2)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('brain: {requests_per_minute: 0}', 'requests_per_minute .*greater than 0'),
        ('brain: {concurrent_requests: 0}', 'concurrent_requests .*greater than or equal to 1'),
        ('body: {concurrent_requests: 1.5}', 'concurrent_requests .*integer'),
    ],
)
def test_a_limit_that_lets_nothing_through_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config(text, 'llm.yaml')
