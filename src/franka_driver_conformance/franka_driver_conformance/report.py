"""
Reports of runs: written, read, and compared.

    python -m franka_driver_conformance.report A B
"""

import argparse
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from franka_driver_conformance.recording import plain

JSON_FILE, PAGE_FILE = 'driver-checks.json', 'driver-checks.md'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check."""

    name: str
    says: str
    theme: str
    source: str
    verdict: str
    reason: str = ''
    evidence: dict[str, object] = field(default_factory=dict)
    duration_s: float = 0.0

    def __str__(self) -> str:
        seen = json.dumps(plain(self.evidence), ensure_ascii=False, sort_keys=True)
        rest = self.reason or ('' if seen == '{}' else seen)
        return f'{self.verdict}: {rest}' if rest else self.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run."""

    driver: str
    when: str
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        verdicts = [finding.verdict for finding in self.findings]
        skipped = verdicts.count('skipped')
        rest = f', {skipped} skipped' if skipped else ''
        return (
            f'{verdicts.count("pass")} of {len(verdicts)} checks passed, '
            f'{verdicts.count("FAIL")} failed{rest}: {self.driver}.'
        )


def save(report: Report, folder: str | Path) -> None:
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(asdict(report)), indent=1, ensure_ascii=False)
    (path / JSON_FILE).write_text(text + '\n', 'utf-8')
    lines = [f'# Driver checks: {report.driver}', '', f'{report.when}. {report.summary}', '']
    lines += ['| check | what it says | result | source |', '| --- | --- | --- | --- |']
    for found in report.findings:
        cells = (f'`{found.name}`', found.says, str(found), found.source)
        lines.append(f'| {" | ".join(_cell(cell) for cell in cells)} |')
    (path / PAGE_FILE).write_text('\n'.join(lines) + '\n', 'utf-8')


def load(path: Path) -> Report:
    file = path / JSON_FILE if path.is_dir() else path
    try:
        data: dict[str, Any] = json.loads(file.read_text('utf-8'))
        findings = tuple(Finding(**entry) for entry in data.pop('findings'))
        return Report(findings=findings, **data)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SystemExit(f'{file} is no report of this program ({error!r}).') from error


def differences(first: Report, second: Report) -> list[dict[str, str]]:
    """Return the checks in which two runs differ in verdict, reason or evidence."""
    runs = [{found.name: str(found) for found in run.findings} for run in (first, second)]
    rows = []
    for name in dict.fromkeys([*runs[0], *runs[1]]):
        one, other = (run.get(name, 'not in this run') for run in runs)
        if one != other:
            rows.append({'name': name, 'first': one, 'second': other})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description='Compare two reports.')
    parser.add_argument('first', type=Path)
    parser.add_argument('second', type=Path)
    parser.add_argument('--json', action='store_true', help='Print one JSON object.')
    options = parser.parse_args()
    first, second = load(options.first), load(options.second)
    rows = differences(first, second)
    if options.json:
        print(json.dumps({'differences': rows}, ensure_ascii=False))
        return
    print(f'| check | {first.driver} | {second.driver} |\n| --- | --- | --- |')
    for row in rows:
        print(f'| `{row["name"]}` | {_cell(row["first"])} | {_cell(row["second"])} |')
    print(f'\n{len(rows)} of {len(first.findings)} checks differ.')


def _cell(text: str) -> str:
    return ' '.join(text.replace('|', '/').split())


if __name__ == '__main__':
    main()
