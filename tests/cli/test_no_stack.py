"""Where no process of this machine is a node, programs do not look long for a stack."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bbllm.cli.commands.up import _tell_verbs
from bbllm.cli.support.discovery import stack_may_run
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.open_state_mode import OpenStateMode
from bbllm.ros.stack import stack

pytestmark = pytest.mark.ros
NODE = 'node_of_this_test'


def test_a_stack_may_run_where_a_process_is_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, 'REAL_NODES', (NODE,))
    assert not stack_may_run({})

    program = 'print(flush=True); input()'
    node = subprocess.Popen(
        [sys.executable, '-c', program, NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert node.stdout is not None and node.stdout.readline()
        assert stack_may_run({})
    finally:
        node.communicate(b'\n')


def test_beyond_this_machine_a_stack_may_run_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, 'REAL_NODES', (NODE,))

    assert stack_may_run({'BBLLM_NETWORK': 'true'})
    assert stack_may_run({'FASTRTPS_DEFAULT_PROFILES_FILE': '/my/own.xml'})


def test_every_hint_of_up_has_its_domain(capsys: pytest.CaptureFixture[str]) -> None:
    _tell_verbs(Output(), ApprovalMode.PLAN, OpenStateMode.RULES, 7, 'rviz2 -d x')

    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith('  bbllm')]
    assert len(hints) == 5
    assert all(' --domain 7' in line for line in hints)
