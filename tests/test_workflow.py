"""The workflow of the forge calls what CI is, and takes its actions by commit."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / '.github' / 'workflows' / 'ci.yml').read_text()


def test_actions_are_named_by_commit_and_may_only_read() -> None:
    used = re.findall(r'uses: (\S+)', TEXT)

    assert used
    assert all(re.fullmatch(r'[\w-]+/[\w-]+@[0-9a-f]{40}', action) for action in used)
    assert yaml.safe_load(TEXT)['permissions'] == {'contents': 'read'}
    assert 'secrets.' not in TEXT
