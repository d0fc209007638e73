"""`bbllm doctor`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from bbllm.cli.checkup import CHECKS
from bbllm.cli.choices import JsonOption
from bbllm.cli.closing import leave
from bbllm.cli.commands import FAILED
from bbllm.cli.findings import Finding, Level
from bbllm.cli.output import Output
from bbllm.core.records import to_json

MARKS = {Level.OK: 'green', Level.WARN: 'yellow', Level.FAIL: 'bold red'}


def doctor(json: JsonOption = False) -> None:
    """
    Look at this machine: Python, models, ROS, rendering; say what to do.

    Exit code 0 when `bbllm demo` works here.
    """
    output = Output(json)
    findings = []
    for finding in look():
        findings.append(finding)
        if not json:
            _print(finding, output)
    works = all(finding.level is not Level.FAIL for finding in findings)
    if not json:
        output.say()
        output.say('`bbllm demo` works here.' if works else '`bbllm demo` does not work here.')
    output.result({'demo_works': works, 'findings': to_json(findings)})
    leave(0 if works else FAILED)


def look() -> Iterator[Finding]:
    """Yield the findings as they are made."""
    for check in CHECKS:
        found = check()
        yield from found if isinstance(found, list) else [found]


def _print(finding: Finding, output: Output) -> None:
    line = Text()
    line.append(f'{finding.level.value:<4}', MARKS[finding.level])
    line.append(f'  {finding.name:<11} {finding.text}')
    output.console.print(line)
    if finding.remedy:
        output.console.print(Text(f'{"":18}→ {finding.remedy}', 'cyan'))
