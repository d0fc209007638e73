"""The workflow of the forge calls what CI is, and takes its actions by commit."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / '.github' / 'workflows' / 'ci.yml').read_text()
JOBS = yaml.safe_load(TEXT)['jobs']


def commands(job: str) -> list[str]:
    return [step['run'] for step in JOBS[job]['steps'] if 'run' in step]


def test_ci_is_what_everybody_can_run() -> None:
    assert commands('test') == ['.ci/run']
    assert (ROOT / '.ci' / 'run').stat().st_mode & 0o100


def test_the_locks_are_audited_weekly() -> None:
    assert commands('audit') == ['make audit']
    assert re.search(r"cron: '\d+ \d+ \* \* \d'", TEXT)
    makefile = (ROOT / 'Makefile').read_text()
    assert 'for file in requirements/*.txt' in makefile
    assert 'pip-audit --progress-spinner off --disable-pip --require-hashes -r $$file' in makefile


def test_actions_are_named_by_commit_and_may_only_read() -> None:
    used = re.findall(r'uses: (\S+)', TEXT)

    assert used
    assert all(re.fullmatch(r'[\w-]+/[\w-]+@[0-9a-f]{40}', action) for action in used)
    assert yaml.safe_load(TEXT)['permissions'] == {'contents': 'read'}
    assert 'secrets.' not in TEXT
