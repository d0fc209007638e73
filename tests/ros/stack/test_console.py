"""The console of a running stack, and the page in a browser where there is one."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip('uvicorn', reason='the extra `console` is not installed: make extras')

from bbllm.cli.views.question import person
from bbllm.core.errors import ApprovalError, LostNodeError, TaskError
from bbllm.core.events import ApprovalAnswered
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm_ros.stack.session import StackSession
from bbllm_viewer.console.feed import Cursor, Feed
from bbllm_viewer.console.session_desk import SessionDesk
from tests.ros.robots import Robot, nothing_waits, request_of
from tests.ros.stacks import PATIENCE_S, Running, started, until

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
EXECUTOR = {'approval': 'plan', 'approval_timeout_s': PATIENCE_S}


class Reader:
    """What a browser would show."""

    def __init__(self, feed: Feed):
        self._feed, self._cursor = feed, Cursor()
        self.values: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []

    def value(self, name: str) -> Any:
        while news := self._feed.news(self._cursor):
            message = json.loads(news)
            if message.get('reset'):
                self.events = []
            self.values |= message['values']
            self.events += message['events']
        return self.values.get(name)

    def kinds(self) -> list[str]:
        self.value('')
        return [event['kind'] for event in self.events]


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    with started(params={'fr3_executor': EXECUTOR}) as running:
        yield running


@pytest.fixture
def desk(stack: Running) -> Iterator[SessionDesk]:
    with SessionDesk(StackSession(stack.client)) as desk:
        yield desk


def test_plan_is_approved_by_its_hash_in_the_name_of_the_person(
    stack: Running, desk: SessionDesk
) -> None:
    reader, robot = Reader(desk.feed), Robot(stack)
    desk.begin(TASK)
    until(lambda: reader.value('request'), 'request')
    request = reader.value('request')
    assert request['lines'][0] == ['kept', '0: pick red_cube']
    assert request['hash'] == request_of(stack).hash
    with pytest.raises(TaskError, match='under way'):
        desk.begin(TASK)
    with pytest.raises(ApprovalError, match='is not what waits now'):
        desk.answer('0' * 64, True, '')
    with pytest.raises(ApprovalError, match='is not what waits now'):
        desk.answer(request['hash'][:12], True, '')  # only the whole hash
    assert robot.stood_still()

    desk.answer(request['hash'], True, '')

    until(lambda: 'ended' in reader.kinds(), 'end')
    assert reader.value('ending')['good']
    assert reader.value('request') is None
    assert stack.client.scene().has('red_cube', 'on', 'location_B')
    episode = read_episode(episodes_dir() / f'{desk.feed.episode_id}.jsonl')
    (answer,) = [e.data for e in episode.events if isinstance(e.data, ApprovalAnswered)]
    assert (answer.by, answer.automatic, answer.granted) == (person(), False, True)


def test_episode_of_another_client_is_shown_and_stopped(stack: Running, desk: SessionDesk) -> None:
    reader, robot = Reader(desk.feed), Robot(stack)
    task = stack.begin('put the blue cube on location_A')
    until(lambda: reader.value('request'), 'request')
    assert reader.kinds()[0] == 'started'

    desk.stop()

    assert task.result().ending.name == 'CANCELLED'
    until(lambda: 'ended' in reader.kinds(), 'end')
    nothing_waits(stack)
    assert robot.stood_still()


def test_a_remark_withdraws_the_question_and_the_console_shows_the_new_one(
    stack: Running,
) -> None:
    task = stack.begin('put the blue cube on location_A')
    request = request_of(stack)
    with SessionDesk(StackSession(stack.client)) as desk:
        reader = Reader(desk.feed)

        reported = desk.say('leave the green cube where it is')

        assert reported == 'Taken up: the plan was made anew with it.'
        until(lambda: 'repair' in reader.kinds(), 'repair with the remark')
        kinds = reader.kinds()
        assert kinds[0] == 'started' and 'plan' in kinds
        assert kinds.count('human_feedback') == 1
        assert 'ended' not in kinds
        assert 'CANCELLED' not in json.dumps(reader.events)
        until(lambda: (reader.value('request') or {}).get('hash') != request.hash, 'new question')
        second = request_of(stack)
        assert second.hash != request.hash
        desk.answer(second.hash, False, 'it is glued')
        until(lambda: reader.kinds().count('approval') == 1, 'answer')
        assert 'it is glued' in json.dumps(reader.events)
        desk.stop()
    assert task.result().ending.name in ('CANCELLED', 'GAVE_UP', 'WENT_IN_CIRCLES')


def test_node_that_is_killed_is_named_and_its_episode_ends(ros_domain: int) -> None:
    with (
        started(namespace='bbllm_killed', params={'fr3_executor': EXECUTOR}) as stack,
        SessionDesk(StackSession(stack.client)) as desk,
    ):
        reader = Reader(desk.feed)
        until(lambda: reader.value('nodes'), 'state of the nodes')
        assert reader.value('nodes') == {'missing': [], 'text': ''}
        desk.begin(TASK)
        until(lambda: reader.value('request'), 'request')

        os.killpg(stack.stack.processes['brain_planner'].pid, signal.SIGKILL)

        until(lambda: 'brain_planner' in reader.value('nodes')['text'], 'name of the node')
        until(lambda: 'ended' in reader.kinds(), 'end')
        end = reader.value('ending')
        assert (end['text'], end['good']) == ('world failed', False)
        assert 'brain_planner' in str([e['lines'] for e in reader.events if e['kind'] == 'ended'])
        assert not reader.value('fault')  # it is shown once
        with pytest.raises(LostNodeError, match='brain_planner'):
            desk.say('hello')


@contextmanager
def serving(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a verb that serves a page, and yield the address; it is killed in the end."""
    command = [sys.executable, '-m', 'bbllm', *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield (
                process,
                next(
                    found[0]
                    for line in process.stdout
                    if (found := re.search(r'http://127\.0\.0\.1:\d+/\S+/', line))
                ),
            )
        finally:
            process.kill()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def test_ctrl_c_ends_the_console_and_the_task_that_it_began(stack: Running) -> None:
    robot = Robot(stack)
    with serving('console') as (process, url):
        assert answers(url)
        origin = url.rpartition('/')[0].rpartition('/')[0]
        request = urllib.request.Request(
            f'{url}task', json.dumps({'task': TASK}).encode(), {'Origin': origin}
        )
        urllib.request.urlopen(request, timeout=PATIENCE_S).close()
        request_of(stack)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        assert not answers(url)
    nothing_waits(stack)
    assert robot.stood_still()


def test_page_names_the_node_whose_death_ends_the_stack(ros_domain: int) -> None:
    words = ('up', 'sim', '--browser', '--namespace', 'bbllm_shown')
    with (
        serving(*words) as (process, url),
        urllib.request.urlopen(f'{url}events', timeout=PATIENCE_S) as stream,
    ):
        children = subprocess.run(
            ['pgrep', '-P', str(process.pid), 'body_mapper'], capture_output=True, text=True
        )
        os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
        shown = stream.read().decode()
        assert process.wait(PATIENCE_S) == 1
    assert 'The node body_mapper was killed by signal 9.' in shown.rpartition('"end"')[2]
