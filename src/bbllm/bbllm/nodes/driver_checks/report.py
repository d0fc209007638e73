"""Reports of runs: written, read again, and laid side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.nodes.driver_checks.runner import Finding, Verdict

JSON_FILE, PAGE_FILE = 'driver-checks.json', 'driver-checks.md'


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run."""

    driver: str
    """What was looked at, in words."""
    when: str
    """Local time."""
    findings: tuple[Finding, ...]

    def count(self, verdict: Verdict) -> int:
        """Return how many findings have a verdict."""
        return sum(finding.verdict is verdict for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.count(Verdict.FAILED)

    @property
    def summary(self) -> str:
        """The run in one line."""
        skipped = self.count(Verdict.SKIPPED)
        rest = f', {skipped} skipped' if skipped else ''
        return (
            f'{self.count(Verdict.PASSED)} of {len(self.findings)} checks passed, '
            f'{self.count(Verdict.FAILED)} failed{rest}: {self.driver}.'
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One check of two runs."""

    name: str
    first: str
    second: str


def save(report: Report, folder: Path) -> None:
    """
    Write a report as JSON and as a page.

    Raises:
        ConfigError: The folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(report), indent=1, ensure_ascii=False)
        (folder / JSON_FILE).write_text(text + '\n', 'utf-8')
        (folder / PAGE_FILE).write_text(page(report), 'utf-8')
    except OSError as error:
        raise ConfigError(
            f'The report cannot be written to {folder} ({error.strerror}); '
            'name a folder that can: --out.'
        ) from error


def load(path: Path) -> Report:
    """
    Read a report from its JSON file or the folder of it.

    Raises:
        ConfigError: There is none.
    """
    file = path / JSON_FILE if path.is_dir() else path
    try:
        data = json.loads(file.read_text('utf-8'))
        findings = tuple(
            Finding(**{**entry, 'verdict': Verdict(entry['verdict'])})
            for entry in data.pop('findings')
        )
        return Report(findings=findings, **data)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f'{file} is no report of `bbllm bench driver` ({type(error).__name__}: {error}).'
        ) from error


def compare(first: Report, second: Report) -> list[Difference]:
    """Return the checks in which two runs differ, in verdict, reason or what was seen."""
    theirs = {finding.name: finding for finding in second.findings}
    differences = []
    for finding in first.findings:
        other = theirs.pop(finding.name, None)
        words = _words(finding), _words(other)
        if words[0] != words[1]:
            differences.append(Difference(finding.name, *words))
    differences += [Difference(name, _words(None), _words(left)) for name, left in theirs.items()]
    return differences


def page(report: Report) -> str:
    """Return a report in Markdown."""
    lines = [f'# Driver checks: {report.driver}', '', f'{report.when}. {report.summary}', '']
    lines += ['| check | what it says | result | why | seen |', '| --- | --- | --- | --- | --- |']
    for finding in report.findings:
        seen = json.dumps(finding.evidence, ensure_ascii=False) if finding.evidence else ''
        cells = (f'`{finding.name}`', finding.says, finding.verdict.value, finding.reason, seen)
        lines.append(f'| {" | ".join(cell.replace("|", "/") for cell in cells)} |')
    return '\n'.join(lines) + '\n'


def differences_page(first: Report, second: Report, rows: Sequence[Difference]) -> str:
    """Return two runs side by side in Markdown."""
    lines = [f'| check | {first.driver} | {second.driver} |', '| --- | --- | --- |']
    lines += [f'| `{row.name}` | {row.first} | {row.second} |' for row in rows]
    return '\n'.join(lines) + '\n'


def _words(finding: Finding | None) -> str:
    if finding is None:
        return 'not in this run'
    seen = json.dumps(finding.evidence, ensure_ascii=False, sort_keys=True)
    rest = finding.reason or ('' if seen == '{}' else seen)
    return f'{finding.verdict.value}: {rest}' if rest else finding.verdict.value
