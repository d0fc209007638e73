"""Shards of a run become one folder, or are refused by name."""

from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.merging import Merge
from bbllm_bench.log.store import read_run
from bbllm_bench.runner.conversations import split_recording
from tests.bench.fake_run import Notes, run_fake, summary_of
from tests.bench.made_results import make_result, make_settings, write_run

TASKS = ('fine', 'slow', 'faulty')


def play(folder: Path, *shards: str, **options: Any) -> list[Path]:
    """Play shards of a fake run; return their folders."""
    paths = [folder / shard.replace('/', '_of_') for shard in shards]
    for path, shard in zip(paths, shards, strict=True):
        run_fake(path, *TASKS, shard=shard, **options)
    return paths


def made(folder: Path, shard: str | None, **changes: Any) -> Path:
    """Write a shard by hand, with all of its episodes."""
    settings = make_settings(shard=shard, **changes)
    results = [make_result(key.task, key.trial, key.k) for key in settings.keys]
    return write_run(folder, results, settings)


def test_a_merged_run_is_as_one_that_was_never_split(tmp_path: Path) -> None:
    shards = play(tmp_path, '1/3', '2/3', '3/3')
    run_fake(tmp_path / 'whole', *TASKS)

    Merge.of([shards[2], shards[0], shards[1]]).write(tmp_path / 'all')

    whole, merged = read_run(tmp_path / 'whole'), read_run(tmp_path / 'all')
    assert [(r.key, r.verdict) for r in merged.results] == [
        (r.key, r.verdict) for r in whole.results
    ]
    for folder in ('episodes', 'faults'):
        names = [sorted(x.name for x in (run.path / folder).iterdir()) for run in (whole, merged)]
        assert names[0] == names[1] and names[0]
    assert merged.settings.parts == '1/3, 2/3, 3/3'
    assert len(merged.sessions) == 3
    assert {**summary_of(tmp_path / 'all'), 'shards': ''} == summary_of(tmp_path / 'whole')


def test_a_merged_run_with_gaps_is_gone_on_with(tmp_path: Path) -> None:
    first, _, third = play(tmp_path, '1/3', '2/3', '3/3')
    out, notes = tmp_path / 'all', Notes()
    merge = Merge.of([first, third], allow_missing=True)
    merge.write(out)
    assert merge.settings.parts == '1/3, 3/3 (without 2/3)'

    run_fake(out, *TASKS, notes=notes)

    second = read_run(tmp_path / '2_of_3').results
    assert sorted(result.key for result in notes.results) == [result.key for result in second]
    assert len(read_run(out).results) == 12


def test_a_shard_that_was_ended_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / '1'
    run_fake(path, *TASKS, shard='1/2', notes=Notes(end_after=1), jobs=1)
    notes = Notes()

    end = run_fake(path, *TASKS, shard='1/2', notes=notes)

    assert notes.began_with is not None and 1 <= notes.began_with.done < 6
    assert (end.progress.done, end.progress.total) == (6, 6)


def test_recordings_of_shards_make_one_by_appending(tmp_path: Path) -> None:
    texts = []
    for shard in ('1/2', '2/2'):
        path = tmp_path / shard.replace('/', '_of_')
        run_fake(path, 'fine', 'slow', shard=shard, record=path.with_suffix('.jsonl'))
        texts.append(path.with_suffix('.jsonl').read_text())
    together = tmp_path / 'talk.jsonl'
    together.write_text(''.join(texts))

    expected = make_settings(tasks=['fine', 'slow'], ks=(0, 3), trials=2).keys
    assert {*split_recording(together)} == {key.name for key in expected}


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        ({'seed': 7}, r'seed: 0 in .*one, 7 in .*two'),
        ({'planner': 'base_llm'}, 'planner: brain_body in .*, base_llm in'),
        ({'trials': 3}, 'trials: 2 in .*one, 3 in .*two'),
        ({'ks': (0, 3)}, 'ks: 3 in .*one, 0, 3 in .*two'),
        ({'tasks': ['plus_sign']}, 'tasks'),
        ({'versions': {'bbllm': '2'}}, r'versions\.bbllm: 1 in .*, 2 in'),
        ({'shard': '2/3'}, r'shard: 1/2 in .*one, 2/3 in .*two'),
    ],
)
def test_shards_of_unlike_settings_are_refused_with_every_difference(
    changes: dict[str, Any], reported: str, tmp_path: Path
) -> None:
    one = made(tmp_path / 'one', '1/2')
    two = made(tmp_path / 'two', **{'shard': '2/2', **changes})

    with pytest.raises(ConfigError, match=f'(?s)are no shards of one run.*{reported}'):
        Merge.of([one, two])


def test_settings_that_concern_a_machine_alone_may_differ(tmp_path: Path) -> None:
    one = made(tmp_path / 'one', '1/2', record='talk.jsonl', machine={'cores': '2'})
    two = made(tmp_path / 'two', '2/2', record='/far/talk.jsonl', machine={'cores': '64'})

    settings = Merge.of([one, two]).settings

    assert settings.machine == {'cores': '2; 64'}
    assert settings.record is None
    assert [str(origin.record) for origin in settings.shards] == ['talk.jsonl', '/far/talk.jsonl']


def test_what_is_given_twice_is_missing_or_is_no_shard_is_refused(tmp_path: Path) -> None:
    one, two = made(tmp_path / 'one', '1/3'), made(tmp_path / 'two', '2/3')
    copy, whole = made(tmp_path / 'copy', '1/3'), made(tmp_path / 'whole', None)
    (tmp_path / 'empty').mkdir()
    for folders, reported in (
        ([one, copy, two], 'shard 1/3 is given 2 times: .*one, .*copy'),
        ([one, one], 'shard 1/3 is given 2 times'),
        ([two], '(?s)no folder is of 1/3, 3/3.*--allow-missing'),
        ([one, whole], 'whole is no shard'),
        ([one, tmp_path / 'empty'], 'empty is no folder of a run'),
        ([tmp_path / 'nowhere'], 'nowhere is no folder of a run'),
    ):
        with pytest.raises(ConfigError, match=reported):
            Merge.of(folders)


def test_a_shard_that_is_not_through_is_refused_by_the_first_episode_it_lacks(
    tmp_path: Path,
) -> None:
    settings = make_settings(shard='1/1')
    one = write_run(tmp_path / 'one', [make_result(trial=0)], settings)

    with pytest.raises(ConfigError, match=r'one \(1/1\) lacks 3 of 4 episodes, for example'):
        Merge.of([one])
    assert len(Merge.of([one], allow_missing=True).runs) == 1


def test_a_folder_with_content_is_not_merged_into(tmp_path: Path) -> None:
    one = made(tmp_path / 'one', '1/1')
    (tmp_path / 'out').mkdir()
    (tmp_path / 'out' / 'notes.txt').touch()

    for out, name in ((tmp_path / 'out', 'notes.txt'), (one, 'episodes')):
        with pytest.raises(ConfigError, match=f"has content already, for example '{name}'"):
            Merge.of([one]).write(out)


def test_an_interrupted_merge_leaves_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made(tmp_path / 'one', '1/1')

    def fail(self: object, records: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr('bbllm_bench.log.merging.JsonLines.write', fail)
    with pytest.raises(KeyboardInterrupt):
        Merge.of([one]).write(tmp_path / 'out')

    with pytest.raises(ConfigError, match='is no folder of a run'):
        read_run(tmp_path / 'out')
