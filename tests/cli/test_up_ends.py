"""`bbllm up` when a node dies in mid-task: the task and both terminals name that node."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from terminals import bbllm, read_until, start  # needs nothing of ROS, but its tests do

pytestmark = pytest.mark.ros

WAIT_S = 120.0
TASK = 'put the red cube on location_B'


def children(pid: int) -> dict[str, int]:
    """Return the nodes that a process has started."""
    found = {}
    for word in Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
        command = Path(f'/proc/{word}/cmdline').read_text()
        if match := re.search(r'bbllm\.nodes\.(\w+)', command):
            found[match[1]] = int(word)
    return found


@pytest.mark.parametrize('node', ['body_mapper', 'brain_planner'])
def test_node_that_is_killed_is_named_in_both_terminals_and_in_the_journal(
    environment: dict[str, str], empty_domain: int, node: str
) -> None:
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    stack = start(there, 'up', 'sim', '--speed', '0.5')
    try:
        read_until(stack, 'Ctrl-C here ends all nodes')
        task = start(there, 'run', TASK)
        read_until(task, ' call ')

        os.kill(children(stack.pid)[node], signal.SIGKILL)

        out, err = task.communicate(timeout=WAIT_S)
        _, said = stack.communicate(timeout=WAIT_S)
    finally:
        stack.kill()
        stack.wait()
    assert task.returncode != 0
    assert f'The node {node} has gone' in ' '.join((out + err).split())
    assert stack.returncode != 0
    assert f'The node {node} was killed by signal 9' in said
    ended = [
        json.loads(line)['data'] for line in bbllm(there, 'show', '--events').stdout.splitlines()
    ][-1]
    assert ended['ending'] == 'WORLD_FAILED'
    assert f'The node {node} has gone' in ended['message']
