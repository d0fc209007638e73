"""The conformance checks as a process of its own, and what came of them."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_S = 500.0
ALL = ('--allow-motion', '--allow-hand', '--provoke=sim', '--yes')
"""Everything is allowed."""


@dataclass(frozen=True)
class Run:
    code: int
    output: str
    findings: dict[str, dict[str, Any]]
    """Entries of the report, by check."""
    messages: list[dict[str, Any]]
    """What was recorded."""


def run_checks(folder: Path, *options: str, typed: str = '') -> Run:
    """Run the conformance package as a process of its own."""
    record = folder / 'messages.jsonl'
    command = [sys.executable, '-m', 'franka_driver_conformance', *options]
    command += [f'--conformance-report={folder}', f'--record-messages={record}']
    done = subprocess.run(
        command, input=typed, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder
    )
    report = folder / 'driver-checks.json'
    findings = json.loads(report.read_text())['findings'] if report.exists() else []
    lines = record.read_text().splitlines() if record.exists() else []
    return Run(
        done.returncode,
        done.stdout + done.stderr,
        {finding['name']: finding for finding in findings},
        [json.loads(line) for line in lines],
    )
