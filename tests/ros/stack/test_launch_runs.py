"""`ros2 launch` with real processes: how a launch ends, and what it leaves behind."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bbllm.core.events import Ending, Event, EventKind
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import NODES
from tests.ros.stacks import PATIENCE_S, process_alive, until

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        importlib.util.find_spec('ros2launch') is None,
        reason='ros2launch is not installed: it comes with ROS 2, but not from PyPI',
    ),
]

SIM = Path(__file__).resolve().parents[3] / 'launch' / 'franka_sim.launch.py'
READY_S = 3 * PATIENCE_S
"""Each process imports all by itself, which takes a minute on a machine with much else to do."""
TASK = 'put the red cube on location_B'
PID = re.compile(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]')


class Launch:
    def __init__(self, folder: Path, *arguments: str):
        self.log = folder / 'launch.log'
        # What `ros2 launch FILE` does, without the executable, which may lie on no path here.
        program = 'import sys; from ros2cli.cli import main; sys.exit(main())'
        command = [sys.executable, '-c', program, 'launch', str(SIM), *arguments]
        with self.log.open('wb') as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, 'ROS_LOG_DIR': str(folder), 'PYTHONUNBUFFERED': '1'},
            )

    @property
    def text(self) -> str:
        return self.log.read_text()

    @property
    def pids(self) -> dict[str, int]:
        return {name: int(pid) for name, pid in PID.findall(self.text)}

    def end(self) -> int:
        """Wait for the end of the launch and of its nodes; return its exit code."""
        code = self.process.wait(PATIENCE_S)
        until(lambda: not any(map(process_alive, self.pids.values())), 'end of all nodes')
        return code


@pytest.fixture
def launch(ros_domain: int, tmp_path: Path) -> Iterator[Callable[..., Launch]]:
    launches: list[Launch] = []

    def start(*arguments: str) -> Launch:
        launches.append(Launch(tmp_path, *arguments))
        return launches[-1]

    yield start
    for each in launches:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGINT)
        print(each.text[-4000:])
        each.end()


def ready(launch: Launch) -> StackClient:
    """Wait for the nodes of a launch; return a client of them."""
    client = StackClient()
    client.wait_ready(NODES, READY_S)
    assert set(launch.pids) == set(NODES)
    return client


def test_launch_with_an_unknown_argument_starts_nothing(launch: Callable[..., Launch]) -> None:
    launched = launch('scenee:=tower')

    assert launched.end() == 1
    assert launched.pids == {}
    assert 'scenee' in launched.text


def test_nodes_end_with_their_killed_launch(launch: Callable[..., Launch]) -> None:
    launched = launch()
    ready(launched).close()

    launched.process.send_signal(signal.SIGKILL)

    launched.end()


@pytest.mark.parametrize('node', ['brain_planner', 'fr3_executor'])
def test_node_that_is_killed_ends_the_launch_and_is_named_by_the_episode(
    launch: Callable[..., Launch], node: str
) -> None:
    launched = launch('speed:=0.5')
    with ready(launched) as client:
        begun: list[str] = []

        def receive(event: Event) -> None:
            if event.kind is EventKind.CALL and not begun:
                begun.append(node)
                os.kill(launched.pids[node], signal.SIGKILL)

        if node == 'brain_planner':
            from bbllm.core.errors import LostNodeError

            with pytest.raises(LostNodeError, match=node):
                client.run_task(TASK, on_event=receive)
        else:
            result = client.run_task(TASK, episode_id=f'killed_{node}', on_event=receive)
            assert result.ending is Ending.WORLD_FAILED
            assert node in result.message
            journal = read_episode(episodes_dir() / f'killed_{node}.jsonl')
            assert (journal.ending, journal.message) == (result.ending, result.message)
        assert begun

    assert launched.end() == 1
    assert f'The node {node} was killed by signal 9, so the launch ends' in launched.text


def test_node_that_is_killed_is_started_again_where_that_is_asked_for(
    launch: Callable[..., Launch],
) -> None:
    launched = launch('respawn:=true', 'speed:=0')
    with ready(launched) as client:
        before = launched.pids['body_mapper']
        os.kill(before, signal.SIGKILL)
        until(lambda: launched.pids['body_mapper'] != before, 'second process')
        until(lambda: not client.heartbeats.alive('body_mapper'), 'silence')
        client.wait_ready(NODES, READY_S)

        assert client.run_task(TASK).ending is Ending.FINISHED

    launched.process.send_signal(signal.SIGINT)
    assert launched.end() == 0
