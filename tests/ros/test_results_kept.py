"""How long action servers keep what came of a goal that has ended."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

NODES = Path(__file__).resolve().parents[2] / 'src' / 'bbllm' / 'bbllm' / 'ros'
SERVERS = [
    pytest.param(call, id=f'{path.stem}:{call.lineno}')
    for path in sorted(NODES.rglob('*.py'))
    for call in ast.walk(ast.parse(path.read_text()))
    if isinstance(call, ast.Call) and ast.unparse(call.func) == 'ActionServer'
]


@pytest.mark.parametrize('call', SERVERS)
def test_no_action_server_keeps_results_for_the_quarter_hour_of_rclpy(call: ast.Call) -> None:
    given = {item.arg: ast.unparse(item.value) for item in call.keywords}

    assert given.get('result_timeout') == 'RESULT_TIMEOUT_S'
