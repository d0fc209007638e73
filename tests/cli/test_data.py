"""`bbllm data`: one command makes a data set, another checks one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Return a small data set from the simulator, and what was said while it was made."""
    from typer.testing import CliRunner

    from bbllm.cli.main import app

    folder = tmp_path_factory.mktemp('data') / 'set'
    words = ['data', 'generate', '--out', str(folder), '--pairs', '2', '--jobs', '1', '--json']
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', ['/some/where/bbllm', *words])
        return folder, CliRunner().invoke(app, words, prog_name='bbllm')


def test_one_command_writes_pairs_that_trainers_take_and_a_card(
    made: tuple[Path, Result],
) -> None:
    folder, done = made

    assert done.exit_code == 0, done.output
    card = json.loads(done.stdout)
    assert card['pairs'] == len(json.loads((folder / 'alpaca.json').read_text())) == 2
    assert len((folder / 'chat.jsonl').read_text().splitlines()) == 2
    assert 'no language model' in done.stderr
    assert card['command'] == f'bbllm data generate --out {folder} --pairs 2 --jobs 1 --json'
    assert json.loads((folder / 'card.json').read_text())['pairs'] == 2
    assert (folder / 'card.md').read_text().startswith('# 2 pairs for `ft_cot`')


def test_a_data_set_checks_out_and_one_that_was_tampered_with_does_not(
    bbllm: Command, made: tuple[Path, Result], tmp_path: Path
) -> None:
    folder, _ = made
    names = [str(folder / name) for name in ('alpaca.json', 'chat.jsonl', 'pairs.jsonl')]
    bad = tmp_path / 'bad.json'
    bad.write_text((folder / 'alpaca.json').read_text().replace('0.020', '-0.020'))

    good, refused = bbllm('data', 'check', *names), bbllm('data', 'check', str(bad), '--json')

    assert good.exit_code == 0, good.output
    assert good.output.count('2 good, 0 refused.') == 3
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)[str(bad)]['refused'] == {'under the table': 2}


def test_what_cannot_be_made_is_said_before_anything_is_played(
    bbllm: Command, made: tuple[Path, Result], tmp_path: Path
) -> None:
    folder, _ = made
    new = str(tmp_path / 'new')

    again = bbllm('data', 'generate', '--out', str(folder))
    other = bbllm('data', 'generate', '--out', new, '--planner', 'brain_body')
    few = bbllm('data', 'generate', '--out', new, '--tasks', '3')

    assert (again.exit_code, other.exit_code, few.exit_code) == (2, 2, 2)
    assert 'holds a data set' in again.stderr
    assert 'ft_cot, ft_vanilla' in other.stderr
    assert 'have to' in few.stderr


def test_a_stand_in_makes_up_no_sentences(bbllm: Command, tmp_path: Path) -> None:
    done = bbllm('data', 'generate', '--out', str(tmp_path / 'new'), '--brain', 'offline')

    assert done.exit_code == 2
    assert 'Name a language model' in done.stderr


def test_a_file_that_is_no_data_set_is_refused(bbllm: Command, tmp_path: Path) -> None:
    (tmp_path / 'notes.txt').write_text('Buy milk.')

    done = bbllm('data', 'check', str(tmp_path / 'notes.txt'))

    assert done.exit_code == 2
    assert 'is no pair' in done.stderr
