"""Nodes as forks: when a process can fork them, and that each is a process like any other."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ros

PATIENCE_S = 240.0
AFTER_PRELOAD = """
import json, sys
from bbllm_ros.stack.forked import can_fork, preload
preload()
found = {'numpy': 'numpy' in sys.modules, 'before': can_fork()}
import rclpy
found['after'] = can_fork()
print(json.dumps(found))
"""
NODE = """
import json, os, sys, threading, time
from pathlib import Path
def main():
    stat = Path('/proc/self/stat').read_text()
    command = Path('/proc/self/cmdline').read_text().split(chr(0))
    print(json.dumps({
        'pid': os.getpid(), 'session': os.getsid(0), 'argv': sys.argv[1:], 'name': stat.split()[1],
        'command': command, 'environ': dict(os.environ),
    }))
    if sys.argv[1] == 'wait':
        time.sleep(600)
    sys.exit('error: meant to fail')
"""
STARTER = """
import json, os, signal, sys, time
from bbllm_ros.stack.forked import fork_module
with open(sys.argv[1], 'wb') as log, open(sys.argv[2], 'wb') as other:
    first = fork_module('a_node', ['end'], {'GIVEN': 'yes'}, log.fileno())
    second = fork_module('a_node', ['wait'], {'GIVEN': 'no'}, other.fileno())
while not os.path.getsize(sys.argv[2]):
    time.sleep(0.01)
running = second.poll()
second.send_signal(signal.SIGKILL)
codes = first.wait(180), second.wait(180)
print(json.dumps({'pids': [first.pid, second.pid], 'codes': codes, 'running': running}))
"""


def answer(script: str, *arguments: object, folder: Path | None = None) -> Any:
    done = subprocess.run(
        [sys.executable, '-c', script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        cwd=folder,
    )
    return json.loads(done.stdout)


def test_a_process_forks_nodes_after_their_imports_but_not_after_ros() -> None:
    assert answer(AFTER_PRELOAD) == {'numpy': True, 'before': True, 'after': False}


def test_a_fork_has_name_session_environment_output_and_exit_code_of_its_own(
    tmp_path: Path,
) -> None:
    (tmp_path / 'a_node.py').write_text(NODE)
    logs = [tmp_path / 'first.log', tmp_path / 'second.log']

    found = answer(STARTER, *logs, folder=tmp_path)

    assert found['codes'] == [1, -9]
    assert found['running'] is None
    first, *output = logs[0].read_text().splitlines()
    assert output == ['error: meant to fail']
    reported = json.loads(first)
    assert reported['pid'] == reported['session'] == found['pids'][0]
    assert reported['argv'] == ['end']
    assert reported['name'] == '(a_node)'
    assert reported['command'][1:4] == ['-m', 'a_node', 'end']
    assert reported['environ'] == {'GIVEN': 'yes'}
