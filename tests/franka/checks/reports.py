"""`bbllm doctor --fr3` in this process, and what it printed."""

import json
from typing import NamedTuple

from typer.testing import CliRunner

from bbllm.cli.main import app


class Report(NamedTuple):
    """What the command printed."""

    exit_code: int
    next: str
    levels: dict[str, str]
    findings: dict[str, dict[str, str]]


def doctor(address: str, *words: str) -> Report:
    words = ('doctor', '--fr3', '--ip', address, '--json', *words)
    result = CliRunner().invoke(app, words, prog_name='bbllm')
    data = json.loads(result.stdout)
    findings = {finding['name']: finding for finding in data['findings']}
    assert data['arm_ready'] == (result.exit_code == 0), result.output
    levels = {name: finding['level'] for name, finding in findings.items()}
    return Report(result.exit_code, data['next'], levels, findings)
