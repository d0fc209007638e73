"""Tasks of `bbllm run` whose plans wait for a person."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from terminals import bbllm, read_until, start

WAIT_S = 120.0
TASK = 'put the red cube on location_B'
HOME = 'return to base'


def end(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WAIT_S)
    return int(process.returncode)


@contextmanager
def waiting(environment: dict[str, str], *words: str) -> Iterator[subprocess.Popen[str]]:
    """Give the stack a task whose plan waits for a person."""
    process = start(environment, 'run', *(words or (TASK,)))
    try:
        read_until(process, 'In another terminal: bbllm approve --hash')
        yield process
    finally:
        if process.poll() is None:
            end(process)


def what_waits(environment: dict[str, str]) -> dict[str, Any]:
    """Return what waits now, without answering it."""
    result = bbllm(environment, 'approve', '--json')
    assert result.returncode == 2, result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    assert (data['answered'], data['granted']) == (False, None)
    return data
