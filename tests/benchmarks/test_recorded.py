"""`bbllm bench recorded`: recordings are made, replayed beside a stand-in, and refused."""

import json
import lzma
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bbllm.cli.commands.bench import BENCHMARKS
from benchmarks.recorded.command import app

INDEX = """runs:
  - {name: toast, suite: household, planner: prog_prompt, ks: [0], trials: 1, seed: 3,
     tasks: [make_toast], stand_in: expert, date: 2026-01-02, answered_by: a stand-in}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / 'recordings'
    place.mkdir()
    (place / 'index.yaml').write_text(INDEX)
    (tmp_path / 'llm.yaml').write_text('brain: {provider: expert}\nbody: {provider: expert}\n')
    return place


def run(folder: Path, out: str, *more: str) -> tuple[int, str]:
    words = ['--recordings', str(folder), '--out', str(folder / out), '--jobs', '1', *more]
    ended = CliRunner().invoke(app, words)
    return ended.exit_code, ended.output


def test_what_was_recorded_is_replayed_beside_the_stand_in(folder: Path) -> None:
    config = str(folder.parent / 'llm.yaml')
    code, _ = run(folder, 'made', '--record', '--llm-config', config)
    assert code == 0
    assert [path.name for path in folder.glob('toast*')] == ['toast.jsonl.xz']

    code, text = run(folder, 'played', '--json')
    assert code == 0
    (found,) = json.loads(text.splitlines()[-1])['runs']
    assert found['date'] == '2026-01-02'
    rows = [found[row]['by_k'][0] for row in ('recorded', 'stand_in')]
    assert [(row['n'], row['passed']) for row in rows] == [(1, 1), (1, 1)]
    table = (folder / 'played' / 'recorded.md').read_text()
    assert '| household, prog_prompt | 0 | expert | 2026-01-02 | 3 | 1 |' in table
    assert (folder / 'played' / 'recorded.png').stat().st_size > 1000

    path = folder / 'toast.jsonl.xz'
    lines = lzma.decompress(path.read_bytes()).decode()
    path.write_bytes(lzma.compress(lines.replace('from actions', 'from acts').encode()))
    code, text = run(folder, 'changed')
    assert code == 1
    assert 'differs in message 1' in text
    assert 'record it again with --record' in text


def test_what_is_missing_is_named(folder: Path) -> None:
    for words, message in (
        ((), 'There is no recording'),
        (('--only', 'bread'), "no recorded run 'bread'; there are toast"),
    ):
        ended = CliRunner().invoke(app, ['--recordings', str(folder), *words])
        assert ended.exit_code != 0
        assert message in str(ended.exception)
    ended = CliRunner().invoke(app, ['--recordings', str(folder / 'none')])
    assert 'none has no index.yaml' in str(ended.exception)
    assert 'recorded' in BENCHMARKS
