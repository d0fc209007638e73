from pathlib import Path

import pytest

from bbllm.core.errors import ReplayError
from bbllm.core.protocols import ModelRequest
from bbllm.llm.recording.replay import RecordingModel
from bbllm.testing import ScriptedModel
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.runner.conversations import RunRecording, answers_of, split_recording


def lines_of(episode: str, *text: str) -> str:
    return ''.join(f'{{"episode": "{episode}", "text": "{text}"}}\n' for text in text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'deep' / 'talk.jsonl'


def test_episodes_come_back_apart_and_in_order(path: Path) -> None:
    recording = RunRecording(path, frozenset())
    recording.add(lines_of('b', '1', '2'))
    recording.add(lines_of('a', '3'))

    assert split_recording(path) == {'b': lines_of('b', '1', '2'), 'a': lines_of('a', '3')}


def test_what_no_result_stands_for_is_taken_out_before_it_goes_on(path: Path) -> None:
    recording = RunRecording(path, frozenset())
    for name in ('a', 'b', 'c'):
        recording.add(lines_of(name, name))
    with path.open('a') as file:
        file.write('{"episode": "d", "sa')

    RunRecording(path, frozenset({'a', 'c'})).add(lines_of('b', 'again'))

    assert path.read_text() == lines_of('a', 'a') + lines_of('c', 'c') + lines_of('b', 'again')


def test_the_recording_of_a_single_episode_is_none_of_a_run(path: Path) -> None:
    model = RecordingModel(ScriptedModel(['plan']), path, 'brain')
    model.ask(ModelRequest.of('go'))

    with pytest.raises(ReplayError, match='recording of a single episode'):
        split_recording(path)


def test_fewer_loops_are_answered_by_the_recording_of_more(path: Path) -> None:
    recording = RunRecording(path, frozenset())
    for k in (1, 10):
        recording.add(lines_of(f'sort-t000-k{k}', str(k)))
    keys = [EpisodeKey('sort', 0, k) for k in (0, 1, 2, 11)]

    found, notice = answers_of(path, keys)

    assert found == {
        f'sort-t000-k{k}': lines_of(f'sort-t000-k{of}', str(of))
        for k, of in ((0, 1), (1, 1), (2, 10))
    }
    assert 'lacks 1 of 4 episodes, for example sort-t000-k11' in notice


@pytest.mark.parametrize('text', ['', 'no json\n', '[1]\n'])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / 'talk.jsonl'
    path.write_text(text)

    with pytest.raises(ReplayError, match=r'talk\.jsonl'):
        split_recording(path)
