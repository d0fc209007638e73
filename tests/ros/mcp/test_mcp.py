"""What a client of the Model Context Protocol can do to a stack, and what it cannot."""

import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('mcp', reason='the extra `mcp` is not installed: make extras')

import anyio
from mcp import Client, StdioServerParameters

from bbllm.core.approval import Answer
from bbllm.core.errors import ApprovalError, TaskError
from bbllm.core.events import EventKind, FeedbackReceived
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm_ros.mcp.task_desk import TaskDesk
from tests.ros.robots import Robot, nothing_waits, request_of
from tests.ros.stacks import PATIENCE_S, Running, started, until

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
MORE = 'now also put the yellow cube on location_D'
YES = Answer(granted=True, by='ann')
TOOLS = {'scene', 'plan', 'run_task', 'task_status', 'say', 'stop'}


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    executor = {'approval': 'plan', 'approval_timeout_s': PATIENCE_S}
    with started(params={'fr3_executor': executor}) as running:
        yield running


@pytest.fixture(scope='module')
def robot(stack: Running) -> Robot:
    return Robot(stack)


Use = Callable[[Client], Awaitable[None]]


def connected(to: Any, use: Use) -> None:
    async def connect() -> None:
        async with Client(to, read_timeout_seconds=PATIENCE_S) as client:
            await use(client)

    anyio.run(connect)


def over_stdio(use: Use) -> None:
    """Start `bbllm mcp` as a client does, and use it."""
    command = [sys.executable, '-m', 'bbllm', 'mcp']
    env = dict(os.environ)
    connected(StdioServerParameters(command=command[0], args=command[1:], env=env), use)


@contextmanager
def over_http(log: Path) -> Iterator[str]:
    """Start `bbllm mcp --http` on a free port, and yield the address that it prints."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    command = [sys.executable, '-m', 'bbllm', 'mcp', '--http', str(port)]

    def printed() -> list[str]:
        return re.findall(rf'http://127\.0\.0\.1:{port}/[\w-]{{43}}/mcp', log.read_text())

    with log.open('w') as file, subprocess.Popen(command, stderr=file) as process:
        try:
            until(printed, f'address on port {port}')
            yield printed()[0]
        finally:
            process.terminate()


async def reported(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(getattr(result.content[0], 'text', ''))


async def read(client: Client, uri: str) -> Any:
    contents = (await client.read_resource(uri)).contents[0]
    return getattr(contents, 'text', None) or getattr(contents, 'blob', None)


def test_arm_moves_for_a_client_only_after_a_person_has_permitted_the_plan(
    stack: Running, robot: Robot
) -> None:
    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        seen = await reported(client, 'scene')
        assert 'red_cube' in {line.split()[0] for line in seen['scene']}
        planned = await reported(client, 'plan', task=TASK)
        assert planned['plan'][0]['call'] == 'pick(red_cube)'
        assert 'No task was begun yet' in await refused(client, 'task_status')
        for wait_s in (-1.0, 601.0):
            assert 'wait_s' in await refused(client, 'task_status', wait_s=wait_s)
        assert 'No task of this server' in await refused(client, 'say', text=MORE)
        robot.begin()

        waiting = await reported(client, 'run_task', task=TASK, wait_s=PATIENCE_S)

        request = request_of(stack)
        assert waiting['state'] == 'waiting for a person'
        assert waiting['request']['hash'] == request.hash
        assert f'bbllm approve --hash {request.hash[:12]}' in waiting['next']
        again = await reported(client, 'task_status', wait_s=0.5)
        assert again['state'] == 'waiting for a person'
        assert 'is under way' in await refused(client, 'run_task', task='return to base')
        assert robot.stood_still()

        stack.client.approvals.answer(request.hash, YES)

        ended = await reported(client, 'task_status', wait_s=PATIENCE_S)
        assert (ended['state'], ended['ending']) == ('ended', 'FINISHED'), ended
        assert {step['state'] for step in ended['steps']} == {'done'}
        assert stack.client.scene().has('red_cube', 'on', 'location_B')
        summary = json.loads(await read(client, f'bbllm://episodes/{ended["episode_id"]}'))
        assert summary['ending'] == 'FINISHED'
        episodes = json.loads(await read(client, 'bbllm://episodes'))
        assert (episodes[0]['episode_id'], episodes[0]['ending']) == (
            ended['episode_id'], 'FINISHED',
        )  # fmt: skip
        journal = await read(client, f'bbllm://episodes/{ended["episode_id"]}/journal')
        assert json.loads(journal.splitlines()[0])['kind'] == 'started'
        for picture in ('scene.png', f'episodes/{ended["episode_id"]}/picture'):
            assert (await read(client, f'bbllm://{picture}')).startswith('iVBORw0KGgo')

    over_stdio(use)


def test_task_of_a_client_ends_where_it_is_stopped_or_denied(stack: Running, robot: Robot) -> None:
    async def use(client: Client) -> None:
        robot.begin()
        await reported(
            client, 'run_task', task='put the blue cube on location_A', wait_s=PATIENCE_S
        )
        await reported(client, 'stop')
        stopped = await reported(client, 'task_status', wait_s=PATIENCE_S)
        assert stopped['ending'] == 'CANCELLED'
        nothing_waits(stack)

        await reported(
            client, 'run_task', task='put the blue cube on location_A', wait_s=PATIENCE_S
        )
        first = request_of(stack)
        reason = 'the blue cube is glued to the table'
        stack.client.approvals.answer(first.hash, Answer(granted=False, reason=reason, by='ann'))
        after = await reported(client, 'task_status', wait_s=PATIENCE_S)
        assert reason in json.dumps(after)
        await reported(client, 'stop')
        assert robot.stood_still()

    over_stdio(use)


def test_task_ends_with_the_client_that_began_it(stack: Running, robot: Robot) -> None:
    async def use(client: Client) -> None:
        robot.begin()
        line_about = await reported(client, 'run_task', task=TASK, wait_s=PATIENCE_S)
        assert line_about['state'] == 'waiting for a person'

    over_stdio(use)

    nothing_waits(stack)
    assert robot.stood_still()


@pytest.mark.slow  # two servers
def test_server_over_http_serves_who_has_the_address_and_no_page_of_another_port_or_site(
    stack: Running, tmp_path: Path
) -> None:
    async def use(client: Client) -> None:
        assert 'red_cube' in ' '.join((await reported(client, 'scene'))['scene'])
        assert 'No task of this server' in await refused(client, 'say', text=MORE)

    with over_http(tmp_path / 'log') as address:
        connected(address, use)
        token = address.split('/')[3]
        for url, headers in (
            (address.replace(f'/{token}', ''), {}),
            (address.replace(token, 'x' * len(token)), {}),
            (address, {'Origin': 'https://example.org'}),
            (address, {'Origin': 'http://localhost:3000'}),
            (address, {'Sec-Fetch-Site': 'cross-site'}),
            (address, {'Host': 'example.org'}),
        ):
            headers = {'Content-Type': 'application/json', **headers}
            request = urllib.request.Request(url, data=b'{}', headers=headers)
            with pytest.raises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(request, timeout=PATIENCE_S)
            assert refusal.value.code in (403, 421)
    with over_http(tmp_path / 'log') as again:  # a client keeps its configuration
        assert again.split('/')[3] == token


def remarks_in(episode_id: str) -> list[Any]:
    """Return what the journal of an episode has of remarks, those that were refused too."""
    events = read_episode(episodes_dir() / f'{episode_id}.jsonl').events
    return [
        event.data
        for event in events
        if event.kind is EventKind.HUMAN_FEEDBACK or 'A remark was refused' in str(event.data)
    ]


def test_remark_of_a_program_is_for_its_own_task_and_named_as_a_programs(
    stack: Running, robot: Robot
) -> None:
    with TaskDesk(stack.client) as desk:
        task = stack.begin(TASK)
        request = request_of(stack)
        with pytest.raises(TaskError, match='No task of this server is under way'):
            desk.say(MORE)
        with pytest.raises(TaskError, match="'some-other', which is not under way"):
            stack.client.send_remark(MORE, by='mcp', episode_id='some-other')
        stack.client.approvals.answer(request.hash, Answer(granted=False, by='ann'))
        stack.client.cancel()
        assert remarks_in(task.result().episode_id) == []
        robot.begin()

        desk.begin(TASK)
        request = request_of(stack)
        for text, why in (('', 'is empty'), ('x' * 200_000, '200000'), ('\u202eno', r'U\+202E')):
            with pytest.raises(TaskError, match=why):
                desk.say(text)
        desk.say(MORE)
        desk.stop()
        ended = desk.status(PATIENCE_S)

        assert remarks_in(ended['episode_id']) == [FeedbackReceived(MORE, 'mcp')]
        assert robot.stood_still()


def test_program_gives_no_task_to_a_stack_that_moves_without_a_permit(ros_domain: int) -> None:
    with started(namespace='bbllm_free') as stack, TaskDesk(stack.client) as desk:
        for act in (desk.begin, desk.say):
            with pytest.raises(ApprovalError, match='bbllm up sim --approval plan'):
                act(TASK)
        with pytest.raises(TaskError, match='No task was begun'):
            desk.status(0.0)
