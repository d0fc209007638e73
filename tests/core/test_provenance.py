"""What made a recording: the commit or the version, and the templates of prompts."""

import subprocess
from pathlib import Path

import pytest

from bbllm.core import provenance
from bbllm.core.provenance import NO_CHECKOUT, code_version, hash_templates, templates_hash
from bbllm.core.version import VERSION


def test_every_template_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / 'planners' / 'mine' / 'prompts' / 'house' / 'plan.md.j2'
    template.parent.mkdir(parents=True)
    template.write_text('Plan.')
    (tmp_path / 'planners' / 'mine' / 'planner.py').write_text('')
    monkeypatch.setattr(provenance, '_PACKAGE', tmp_path)
    hashes = []
    for text in ('Plan.', 'Plan it.'):
        template.write_text(text)
        hashes.append(templates_hash.__wrapped__())

    assert [*hash_templates()] == ['mine/prompts/house/plan.md.j2']
    assert len({*hashes}) == 2


def test_without_a_checkout_the_version_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, '_PACKAGE', tmp_path)
    monkeypatch.setattr(provenance, 'find_commit', provenance.find_commit.__wrapped__)
    without = code_version()
    for words in (['init'], ['commit', '--allow-empty', '-m', 'one']):
        git = ['git', '-C', str(tmp_path), '-c', 'user.name=a', '-c', 'user.email=a@b']
        subprocess.run([*git, *words], check=True, capture_output=True)

    assert without == VERSION
    assert code_version() not in (VERSION, NO_CHECKOUT)
