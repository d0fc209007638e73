"""What a killed run left of a data set is gone on from, with the same files at the end."""

from dataclasses import replace
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.config import LlmConfig
from bbllm_bench.benchmarks.finetuning.collected import Collected
from bbllm_bench.benchmarks.finetuning.collecting import Wanted, collect
from bbllm_bench.benchmarks.finetuning.folder import (
    ALPACA,
    CHAT,
    EPISODES,
    PAIRS,
    SETTINGS,
    Begun,
    DataFolder,
    DataSettings,
    read_begun,
    settings_to_resume,
    write_pairs,
)
from bbllm_bench.benchmarks.finetuning.kinds import KINDS
from bbllm_bench.benchmarks.finetuning.paraphrases import Wordings
from bbllm_bench.benchmarks.finetuning.tasks import suite_of
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.runner.worker_result import Answer
from bbllm_bench.scene_sampling.generator import make_case
from tests.bench.made_results import make_result
from tests.benchmarks import made_pairs as made
from tests.benchmarks.made_collections import TASKS, Here, played, talk_of

SETTINGS_OF_ALL = DataSettings(pairs=20, tasks=len(KINDS), seed=0, planner='ft_cot')
FILES = (ALPACA, CHAT, PAIRS, EPISODES)


class KilledError(BaseException):
    """The process is gone."""


def mixed(job: EpisodeSpec) -> Answer:
    """Let some episodes fail, and one of each later table say again what was said before."""
    if job.key.task == TASKS[2].name and job.key.trial:
        key = replace(job.key, trial=0)
        case = make_case(suite_of(TASKS), key.task, seed=0, trial=0)
        said = made.recording(talk_of(replace(job, key=key, case=case)))
        result = make_result(job.key.task, job.key.trial, job.key.k, 'passed')
        return EpisodeRecord(result=result, journal='', recording=said)
    return played(job, 'failed' if job.key.task == TASKS[1].name else 'passed')


def work(path: Path, workers: Here, pairs: int = 20) -> Collected:
    """Work on a data set as the command does."""
    wanted = Wanted(tasks=TASKS, pairs=pairs, seed=0)
    with DataFolder(path) as folder:
        found = collect(wanted, workers, llm=LlmConfig(), found=folder.load(), keep=folder.add)
        write_pairs(found.pairs, path)
    return found


def killed_after(path: Path, episodes: int, size: int = 3) -> None:
    """Work until so many episodes were played, then vanish."""
    count = 0

    def answer(job: EpisodeSpec) -> Answer:
        nonlocal count
        count += 1
        if count > episodes:
            raise KilledError
        return mixed(job)

    with pytest.raises(KilledError):
        work(path, Here(answer, size=size))


def contents(path: Path) -> dict[str, str]:
    return {name: (path / name).read_text() for name in FILES}


@pytest.mark.parametrize('episodes', [0, 4])
def test_what_was_killed_is_gone_on_with_to_the_same_files(tmp_path: Path, episodes: int) -> None:
    first = Here(mixed)
    whole = work(tmp_path / 'whole', first)
    names = [job.key.name for job in first.jobs]
    (tmp_path / 'killed').mkdir()
    (tmp_path / 'killed' / SETTINGS).write_text('{}')
    killed_after(tmp_path / 'killed', episodes, size=1)

    workers = Here(mixed)
    found = work(tmp_path / 'killed', workers)

    assert contents(tmp_path / 'killed') == contents(tmp_path / 'whole')
    assert found == whole
    assert whole.refused['duplicate'] == 4
    assert whole.refused['episode failed'] > 0
    assert workers.jobs[0].key.name == names[episodes]


def test_what_was_half_written_is_played_again(tmp_path: Path) -> None:
    whole = work(tmp_path / 'whole', Here(mixed))
    folder = tmp_path / 'set'
    folder.mkdir()
    (folder / SETTINGS).write_text('{}')
    killed_after(folder, 4, size=1)
    pairs = (folder / PAIRS).read_text()
    (folder / PAIRS).write_text(pairs + pairs.splitlines()[0] + '\n' + pairs[:100])
    with (folder / EPISODES).open('a') as file:
        file.write('{"episode": "sta')
    killed_after(folder, 1, size=1)

    found = work(folder, Here(mixed))

    assert contents(folder) == contents(tmp_path / 'whole')
    assert found == whole


@pytest.mark.parametrize(
    ('name', 'text', 'why'),
    [
        (PAIRS, '', 'has 0 pairs, but episodes.jsonl tells of 4'),
        (PAIRS, '{"instruction": 1}\n', 'line 1 is no '),
        (EPISODES, 'Buy milk.\n', 'line 1 is no '),
    ],
)
def test_files_that_somebody_changed_are_refused(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    work(tmp_path / 'set', Here(), pairs=4)
    (tmp_path / 'set' / SETTINGS).write_text('{}')
    (tmp_path / 'set' / name).write_text(text)

    with pytest.raises(ConfigError, match=why) as error:
        work(tmp_path / 'set', Here())

    assert 'or name another' in str(error.value)


def begin(path: Path, asked: DataSettings, wordings: Wordings | None = None) -> Begun:
    with DataFolder(path) as folder:
        begun, tasks = folder.begin(asked, lambda: wordings)
    assert tuple(map(str, tasks)) == begun.chosen
    assert read_begun(path) == begun
    return begun


def test_a_model_is_asked_once_and_its_sentences_are_gone_on_with(tmp_path: Path) -> None:
    asked = replace(SETTINGS_OF_ALL, brain='some-model')
    said = 'Weigh the blocks and let the light one rest on the heavy one.'
    wordings = Wordings('some-model-1', kept={'lighter_on_heavier': (said,)})
    wordings.refused['a duplicate'] = 3
    begun = begin(tmp_path, asked, wordings)

    with DataFolder(tmp_path) as folder:
        again, tasks = folder.begin(asked, lambda: pytest.fail('It is paid twice.'))

    assert again == begun
    assert said in [task.instruction for task in tasks]


def test_with_fewer_sentences_than_were_hoped_for_it_is_made_of_those_there_are(
    tmp_path: Path,
) -> None:
    asked = replace(SETTINGS_OF_ALL, tasks=800, brain='some-model')

    begun = begin(tmp_path, asked, Wordings('some-model-1'))

    assert 500 < len(begun.chosen) < 800
    assert begin(tmp_path, asked) == begun


def test_a_set_of_other_settings_is_not_mixed_with_these(tmp_path: Path) -> None:
    begun = begin(tmp_path, SETTINGS_OF_ALL)
    other = replace(SETTINGS_OF_ALL, seed=7, planner='ft_vanilla', pairs=40)

    with pytest.raises(ConfigError, match='holds a data set with other settings') as error:
        begin(tmp_path, other)
    assert 'seed: was 0, is 7\n  planner: was ft_cot, is ft_vanilla\n' in str(error.value)
    assert 'pairs' not in str(error.value)
    text = (tmp_path / SETTINGS).read_text()
    (tmp_path / SETTINGS).write_text(text.replace(begun.chosen[0], 'Sing.'))
    with pytest.raises(ConfigError, match='another version of bbllm'):
        begin(tmp_path, SETTINGS_OF_ALL)


def test_to_resume_takes_the_settings_that_are_there_but_for_those_that_are_said(
    tmp_path: Path,
) -> None:
    begin(tmp_path / 'set', replace(SETTINGS_OF_ALL, seed=7))
    asked = replace(SETTINGS_OF_ALL, tasks=33, pairs=40)

    found = settings_to_resume(tmp_path / 'set', asked, {'pairs', 'out', 'resume'})

    assert found == replace(SETTINGS_OF_ALL, seed=7, pairs=40)
    with pytest.raises(ConfigError, match='leave --resume out'):
        settings_to_resume(tmp_path / 'new', asked, set())
    (tmp_path / SETTINGS).write_text('{"suite": "partial"}')
    with pytest.raises(ConfigError, match='Name another --out'):
        settings_to_resume(tmp_path, asked, set())
