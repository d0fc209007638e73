"""`bbllm bench --shard` and `bbllm bench merge`: a run on several machines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.cli.support.verb_group import BAD_INPUT

Command = Callable[..., Result]
RUN = (
    *('household', '--brain', 'expert', '--body', 'expert', '--tasks', 'watch_tv,make_toast'),
    *('--trials', '2', '--seed', '1', '--jobs', '2'),
)


def test_shards_of_a_run_are_merged_and_compared_with_the_whole(
    bbllm: Command, tmp_path: Path
) -> None:
    words = ('bench', *RUN, '--planner', 'prog_prompt')
    shards = [str(tmp_path / name) for name in ('1', '2')]
    for i, out in enumerate(shards, 1):
        ran = bbllm(*words, '--shard', f'{i}/2', '--out', out)
        assert ran.exit_code == 0, ran.output
        assert f'Shards of the run: {i}/2.' in ran.output
    bbllm(*words, '--out', str(tmp_path / 'whole'))

    merged = bbllm('bench', 'merge', *shards, '--out', str(tmp_path / 'all'))
    diff = bbllm('bench', 'diff', str(tmp_path / 'all'), str(tmp_path / 'whole'), '--json')
    again = bbllm(*words, '--out', str(tmp_path / 'all'))

    assert merged.exit_code == 0, merged.output
    assert 'Shards of the run: 1/2, 2/2.' in merged.output
    assert '1/2, 2/2' in (tmp_path / 'all' / 'report.html').read_text()
    assert json.loads(diff.stdout)['pairs'] == 4
    assert again.exit_code == 0, again.output
    assert 'On record already: 4 of 4 episodes.' in again.output


@pytest.mark.slow  # runs four times
def test_shards_of_a_comparison_are_merged_planner_by_planner(
    bbllm: Command, tmp_path: Path
) -> None:
    words = ('bench', 'compare', *RUN, '--planners', 'prog_prompt,lang_prompt')
    shards = [str(tmp_path / name) for name in ('1', '2')]
    for i, out in enumerate(shards, 1):
        ran = bbllm(*words, '--shard', f'{i}/2', '--out', out)
        assert ran.exit_code == 0, ran.output
    whole = bbllm(*words, '--out', str(tmp_path / 'whole'), '--json')
    other = bbllm(
        *('bench', 'compare', *RUN, '--planners', 'lang_prompt,prog_prompt'),
        *('--shard', '2/2', '--out', str(tmp_path / 'other')),
    )
    assert other.exit_code == 0, other.output

    out = str(tmp_path / 'all')
    merged = bbllm('bench', 'merge', *shards, '--out', out, '--json')
    unlike = bbllm('bench', 'merge', shards[0], str(tmp_path / 'other'), '--out', f'{out}_2')
    mixed = bbllm('bench', 'merge', shards[0], f'{shards[1]}/prog_prompt', '--out', f'{out}_3')
    gone_on = bbllm(*words, '--out', out)

    expected, found = json.loads(whole.stdout), json.loads(merged.stdout)
    assert [row['n'] for row in found['planners']] == [4, 4]
    assert [pair['comparison']['pairs'] for pair in found['paired']] == [4]
    rates = [[row['metrics']['sr'] for row in x['planners']] for x in (found, expected)]
    assert rates[0] == rates[1]
    assert 'Shards of the run: 1/2, 2/2.' in found['notices']
    assert 'compare other planners' in unlike.output and unlike.exit_code == BAD_INPUT
    assert 'others are not' in mixed.output and mixed.exit_code == BAD_INPUT
    assert not Path(f'{out}_2').exists()
    assert 'On record already: 8 of 8 episodes.' in gone_on.output


@pytest.mark.parametrize(
    ('shard', 'reported'),
    [
        ('3/2', 'counts from 1 to 2'),
        ('0/2', 'counts from 1 to 2'),
        ('half', 'is no part of a number of parts'),
        ('1/5', '--shard 1/5 makes 5 parts of 4 cases, so that some are empty; make 4 at most'),
    ],
)
def test_a_shard_that_cannot_be_is_refused_before_anything_is_written(
    shard: str, reported: str, bbllm: Command, tmp_path: Path
) -> None:
    out = tmp_path / 'out'

    ran = bbllm('bench', *RUN, '--planner', 'prog_prompt', '--shard', shard, '--out', str(out))

    assert ran.exit_code == BAD_INPUT
    assert reported in ' '.join(ran.output.split())
    assert not out.exists()


def test_a_folder_that_is_no_run_is_named(bbllm: Command, tmp_path: Path) -> None:
    ran = bbllm('bench', 'merge', str(tmp_path), '--out', str(tmp_path / 'all'))

    assert ran.exit_code == BAD_INPUT
    assert 'is no folder of a run' in ran.output
