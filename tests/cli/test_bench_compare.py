"""`bbllm bench compare`: planners side by side, from the first word to the tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]
EXPERT = ('--brain', 'expert', '--body', 'expert', '--tasks', 'watch_tv,make_toast')
ONE = ('--trials', '1', '--seed', '1', '--jobs', '2')


def test_planners_play_the_same_cases_with_the_same_budget(bbllm: Command, tmp_path: Path) -> None:
    out = tmp_path / 'out'
    words = ('--planners', 'prog_prompt,brain_body,lang_prompt', '--limit-tokens', '90000')

    ran = bbllm(
        *('bench', 'compare', 'household', *words, *EXPERT, *ONE, '--out', str(out), '--json')
    )

    assert ran.exit_code == 0, ran.output
    table = json.loads(ran.stdout)
    assert table['complete']
    assert [row['planner'] for row in table['planners']] == [
        'prog_prompt',
        'brain_body',
        'lang_prompt',
    ]
    assert [row['k'] for row in table['planners']] == [0, 3, 0]
    assert all(row['n'] == 2 and row['tokens'] > 0 for row in table['planners'])
    assert [pair['comparison']['pairs'] for pair in table['paired']] == [2, 2]
    assert any('measures the plumbing' in notice for notice in table['notices'])
    files = [out / row['folder'] / 'settings.json' for row in table['planners']]
    first, second, third = (json.loads(file.read_text()) for file in files)
    for name in ('suite_sha256', 'seed', 'tasks', 'token_limit'):
        assert first[name] == second[name] == third[name]
    assert first['token_limit'] == 90000
    kept = json.loads((out / 'compare.json').read_text())
    assert kept['planners'] == table['planners']
    page = (out / 'compare.md').read_text()
    assert '## Each planner minus prog_prompt: outcomes' in page


@pytest.mark.slow  # runs three times
def test_its_folders_are_read_by_diff_and_gone_on_with_by_the_same_command(
    bbllm: Command, tmp_path: Path
) -> None:
    words = ('bench', 'compare', 'household', *EXPERT, *ONE, '--out', str(tmp_path))
    bbllm(*words, '--planners', 'prog_prompt,base_llm')

    again = bbllm(*words, '--planners', 'prog_prompt,base_llm,lang_prompt')
    diff = bbllm('bench', 'diff', str(tmp_path / 'prog_prompt'), str(tmp_path / 'base_llm'))

    assert again.exit_code == 0, again.output
    assert 'On record already: 4 of 6 episodes.' in again.output
    assert again.output.count('watch_tv-t000') == 1
    assert again.output.splitlines()[-1].startswith('household brain=expert SR prog_prompt=')
    assert diff.exit_code == 0, diff.output
    assert 'over 2 pairs' in diff.output or 'in 2 pairs' in diff.output


@pytest.mark.parametrize(
    ('words', 'table'),
    [
        (('household', '--planners', 'prog_prompt,lang_promt'), "Did you mean 'lang_prompt'?"),
        (('household', '--planners', 'prog_prompt,llm_pop'), 'plays in no world'),
        (('household', '--planners', 'prog_prompt'), 'Use --planners all'),
        (('tabletop', '--planners', 'base_llm,prog_prompt'), 'cannot work with'),
    ],
)
def test_what_cannot_be_compared_ends_with_2_before_a_folder_is_made(
    bbllm: Command, tmp_path: Path, words: tuple[str, ...], table: str
) -> None:
    out = tmp_path / 'out'
    model = 'offline' if words[0] == 'tabletop' else 'expert'

    ran = bbllm(
        *('bench', 'compare', *words, '--brain', model, '--body', model, '--out', str(out))
    )

    assert ran.exit_code == 2
    assert table in ' '.join(ran.output.split())
    assert not out.exists()


@pytest.mark.slow  # two runs in processes
def test_forms_of_feedback_are_compared_recorded_and_replayed(
    bbllm: Command, tmp_path: Path
) -> None:
    forms = [f'brain_body:feedback={form}' for form in ('none', 'code')]
    words = ('bench', 'compare', 'tabletop', '--planners', ','.join(['brain_body', *forms]), '-k1')
    words = (*words, *ONE, '--tasks', 'plus_sign', '--seed', '2', '--json')
    talk, offline = tmp_path / 'talk', ('--brain', 'offline', '--body', 'offline')

    ran = bbllm(*words, *offline, '--record', str(talk), '--out', str(tmp_path / 'a'))
    again = bbllm(*words, '--replay', str(talk), '--out', str(tmp_path / 'b'))

    assert ran.exit_code == again.exit_code == 0, ran.output + again.output
    rows, same = (json.loads(each.stdout)['planners'] for each in (ran, again))
    full, none, code = (row['metrics']['tokens']['value'] for row in rows)
    assert none < code < full
    assert [row['metrics'] for row in same] == [row['metrics'] for row in rows]
    assert sorted(path.name for path in talk.iterdir()) == [
        'brain_body-feedback-code.jsonl',
        'brain_body-feedback-none.jsonl',
        'brain_body.jsonl',
    ]
    page = (tmp_path / 'b' / 'compare.md').read_text()
    assert '| repaired' in page
    assert 'no model was asked' in page
