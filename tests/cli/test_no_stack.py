"""Where no process of this machine is a node, programs do not look long for a stack."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bbllm.cli.commands.up import UpRequest, _tell_verbs
from bbllm.cli.support.discovery import running_commands, stack_may_run
from bbllm.cli.support.options import LimitOptions, ModelOptions, RecordOptions
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.open_state_mode import OpenStateMode

pytestmark = pytest.mark.ros
OTHERS = (['python', '-m', 'bbllm', 'run', 'stack the cubes'], ['vim', 'notes.txt'])


@pytest.mark.parametrize(
    'command',
    [
        ['python', '-m', 'bbllm.ros.nodes.brain_planner', '--ros-args'],
        ['/opt/venv/bin/python', '/opt/venv/bin/bbllm', 'up', 'sim'],
        ['ros2', 'launch', 'bbllm', 'franka_sim.launch.py'],
    ],
)
def test_a_stack_may_run_where_a_process_is_one_or_starts_one(command: list[str]) -> None:
    assert not stack_may_run({}, OTHERS)
    assert stack_may_run({}, [*OTHERS, command])


def test_a_stack_may_run_where_no_command_can_be_read() -> None:
    assert stack_may_run({}, [])


def test_the_commands_of_this_machine_are_read() -> None:
    program = 'print(flush=True); input()'
    process = subprocess.Popen(
        [sys.executable, '-c', program, 'brain_planner'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None and process.stdout.readline()
        assert [sys.executable, '-c', program, 'brain_planner', ''] in running_commands()
    finally:
        process.communicate(b'\n')


def test_beyond_this_machine_a_stack_may_run_at_any_time() -> None:
    assert stack_may_run({'BBLLM_NETWORK': 'true'}, OTHERS)
    assert stack_may_run({'FASTRTPS_DEFAULT_PROFILES_FILE': '/my/own.xml'}, OTHERS)


def test_every_hint_of_up_has_its_domain(capsys: pytest.CaptureFixture[str]) -> None:
    request = UpRequest(
        domain=7,
        menu=True,
        approval=ApprovalMode.PLAN,
        open_state=OpenStateMode.RULES,
        models=ModelOptions(),
        recording=RecordOptions(),
        limits=LimitOptions(),
    )

    _tell_verbs(Output(), request)

    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith('  bbllm')]
    assert len(hints) == 5
    assert all(' --domain 7' in line for line in hints)
