"""`bbllm data`: one command makes a data set, another checks one."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm_bench.benchmarks.finetuning.collected import Collected

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


@pytest.mark.slow  # it plays more episodes
def test_the_same_command_on_a_finished_set_plays_nothing_and_resume_takes_more_pairs(
    bbllm: Command, made: tuple[Path, Result], tmp_path: Path
) -> None:
    folder = tmp_path / 'set'
    shutil.copytree(made[0], folder)
    pairs = (folder / 'pairs.jsonl').read_text()
    out = ('--out', str(folder), '--json')

    same = bbllm('data', 'generate', '--pairs', '2', *out)
    more = bbllm('data', 'generate', '--resume', '--pairs', '3', *out)

    assert same.exit_code == more.exit_code == 0, same.output + more.output
    assert json.loads(same.stdout)['episodes'] == 1
    assert json.loads(more.stdout)['episodes'] == 2
    assert 'Episodes that are there already: 1.' in more.stderr
    assert (folder / 'pairs.jsonl').read_text().startswith(pairs)
    assert len(json.loads((folder / 'alpaca.json').read_text())) >= 3


@pytest.mark.parametrize(('stopped', 'code'), [(True, 130), (False, 1)])
def test_what_ended_early_says_why_and_how_it_goes_on(
    bbllm: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stopped: bool,
    code: int,
) -> None:
    def end(*_: object, found: Collected, **__: object) -> Collected:
        found.reason, found.stopped = 'The keyboard is full.', stopped
        return found

    monkeypatch.setattr('bbllm_bench.benchmarks.finetuning.command.collect', end)

    done = bbllm('data', 'generate', '--out', str(tmp_path / 'set'))

    assert done.exit_code == code
    assert 'It ended early. The keyboard is full.' in done.output
    assert f'--resume --out {tmp_path / "set"}` goes on from here' in done.output


def test_what_cannot_be_made_is_said_before_anything_is_played(
    bbllm: Command, made: tuple[Path, Result], tmp_path: Path
) -> None:
    folder, _ = made
    new = str(tmp_path / 'new')

    again = bbllm('data', 'generate', '--out', str(folder), '--seed', '1')
    more = bbllm('data', 'generate', '--out', new, '--tasks', '9999')
    paid = bbllm('data', 'generate', '--out', new, '--tasks', '9999', '--brain', 'gpt-4o')
    lost = bbllm('data', 'generate', '--out', new, '--resume')
    other = bbllm('data', 'generate', '--out', new, '--planner', 'brain_body')
    few = bbllm('data', 'generate', '--out', new, '--tasks', '3')

    assert (again.exit_code, other.exit_code, few.exit_code) == (2, 2, 2)
    assert 'holds a data set with other settings' in again.stderr
    assert 'ft_cot, ft_vanilla' in other.stderr
    assert 'have to' in few.stderr
    assert (more.exit_code, paid.exit_code, lost.exit_code) == (2, 2, 2)
    assert 'or name a model' in more.stderr
    assert 'a model is asked for 280 more' in paid.stderr
    assert 'leave --resume out' in lost.stderr
    assert not (tmp_path / 'new').exists()
