"""`bbllm bench feedback`: forms of feedback side by side, recorded, and replayed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]
STAND_IN = ('--brain', 'offline', '--body', 'offline')
ONE = ('--tasks', 'plus_sign', '--trials', '1', '--seed', '2', '--jobs', '1')


@pytest.mark.slow  # two runs in processes
def test_forms_play_the_same_cases_and_a_replay_gives_the_same_table(
    bbllm: Command, tmp_path: Path
) -> None:
    words = ('bench', 'feedback', 'tabletop', '--forms', 'full,none,code', *ONE, '--json')
    talk = tmp_path / 'talk'

    ran = bbllm(*words, *STAND_IN, '--record', str(talk), '--out', str(tmp_path / 'a'))
    again = bbllm(*words, '--replay', str(talk), '--out', str(tmp_path / 'b'))

    assert ran.exit_code == again.exit_code == 0, ran.output + again.output
    table, same = json.loads(ran.stdout), json.loads(again.stdout)
    planners = ['brain_body', 'brain_body:feedback=none', 'brain_body:feedback=code']
    assert [row['planner'] for row in table['planners']] == planners
    assert all(
        row['k'] == 1 and row['metrics']['loops']['value'] == 1 for row in table['planners']
    )
    full, none, code = (row['metrics']['repair_prompts']['value'] for row in table['planners'])
    assert none < code < full
    assert [pair['comparison']['pairs'] for pair in table['paired']] == [1, 1]
    assert [row['metrics'] for row in same['planners']] == [
        row['metrics'] for row in table['planners']
    ]
    assert sorted(path.name for path in talk.iterdir()) == [
        'brain_body-feedback-code.jsonl',
        'brain_body-feedback-none.jsonl',
        'brain_body.jsonl',
    ]
    page = (tmp_path / 'b' / 'feedback.md').read_text()
    assert '## Each form minus full' in page
    assert 'no model was asked' in page
    assert (tmp_path / 'a' / 'feedback.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize(
    ('words', 'table'),
    [
        (('--forms', 'full,pictures'), "Did you mean 'picture'?"),
        (('--forms', 'full'), 'at least two forms'),
        (('--forms', 'none,none'), 'each once'),
    ],
)
def test_what_cannot_be_compared_ends_with_2_before_a_folder_is_made(
    bbllm: Command, tmp_path: Path, words: tuple[str, ...], table: str
) -> None:
    ran = bbllm('bench', 'feedback', *words, *STAND_IN, '--out', str(tmp_path / 'out'))

    assert ran.exit_code == 2
    assert table in ran.output
    assert not (tmp_path / 'out').exists()
