"""`bbllm show --failures`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture
def failed(bbllm: Command, script: Callable[..., None], state: Path) -> Path:
    """Play an episode with a failure and a repair; return the folder of all state."""
    script()
    assert bbllm('demo', 'move some cubes', '--json').exit_code == 0
    return state.parent


def shown(bbllm: Command, *words: str) -> dict[str, Any]:
    result = bbllm('show', '--failures', *words, '--json')
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_own_failures_are_listed_with_their_recovery(bbllm: Command, failed: Path) -> None:
    data = shown(bbllm)

    assert (data['folder'], data['journals'], data['skipped']) == (str(failed), 1, [])
    (failure,) = data['failures']
    assert (failure['call'], failure['code']) == ('pick(aqua_cube)', 'OUT_OF_WORKSPACE')
    assert failure['plan_after'].split('\n')[2] == 'pick green_cube'
    (row,) = data['recoveries']
    assert (row['n'], row['recovered']['value']) == (1, 1.0)
    lines = bbllm('show', '--failures').stdout.splitlines()
    assert 'OUT_OF_WORKSPACE pick(aqua_cube): ' in lines[0]
    assert '[recovered: 1 loop, ' in lines[0]
    assert '1 failure in 1 episode, 1 recovered.' in lines


def test_failures_are_filtered(bbllm: Command, failed: Path) -> None:
    for words, n in (
        (('--planner', 'brain_body', '--brain', 'script'), 1),
        (('--code', 'out_of_workspace'), 1),
        (('--code', 'COVERED'), 0),
        (('--planner', 'fltrnn'), 0),
    ):
        assert len(shown(bbllm, str(failed), *words)['failures']) == n


def test_a_damaged_journal_is_named(bbllm: Command, failed: Path) -> None:
    broken = failed / 'episodes' / 'broken.jsonl'
    broken.write_text('{"kind": "shopping"}\n')

    assert str(broken) in shown(bbllm)['skipped'][0]
    assert f'{broken} is skipped' in bbllm('show', '--failures').stdout


@pytest.mark.parametrize(
    ('words', 'why'),
    [
        (('--failures', 'no/such/folder'), 'There is no journal in'),
        (('--failures', '--code', 'COVERD'), "Did you mean 'COVERED'?"),
        (('--failures', '--html', 'page.html'), 'leave it out with --failures'),
        (('--code', 'COVERED', '--brain', 'x'), '--brain, --code: only of failures'),
    ],
)
def test_what_cannot_be_shown_is_refused(
    bbllm: Command, failed: Path, words: tuple[str, ...], why: str
) -> None:
    refused = bbllm('show', *words)

    assert refused.exit_code == 2
    assert why in ' '.join(refused.stderr.split())


def test_nothing_is_shown_where_nothing_is_recorded(bbllm: Command) -> None:
    refused = bbllm('show', '--failures')

    assert (refused.exit_code, 'There is no journal' in refused.stderr) == (2, True)
