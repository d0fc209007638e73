from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError, ModelUnavailableError, ReplayError
from bbllm.core.protocols import Embeddings, Message, Usage
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.models.factory import (
    Models,
    make_models,
    parse_config,
    record_models,
    replay_models,
)
from bbllm.llm.recording.replay import RecordingModel, ReplayModel, read_recording
from bbllm.llm.recording.replay_embeddings import RecordingEmbedder, ReplayEmbedder
from bbllm.llm.scripted import ScriptedModel


class Counting:
    """An embedder that fails where it is told to."""

    name = 'counting'

    def __init__(self, *errors: Exception | None):
        self._errors = list(errors)

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        if cancel is not None:
            cancel.raise_if_cancelled()
        if self._errors and (error := self._errors.pop(0)):
            raise error
        vectors = tuple((0.1 * len(text), 1 / 3) for text in texts)
        return Embeddings(vectors=vectors, model='counting-2', usage=Usage(len(texts)), retries=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'talk.jsonl'


def test_who_replays_is_given_the_very_vectors_that_who_recorded_was_given(path: Path) -> None:
    given = RecordingEmbedder(Counting(), path).embed(['pick', 'wät'])

    replay = ReplayEmbedder(path)
    found = replay.embed(['pick', 'wät'])

    assert found.vectors == given.vectors
    assert found.vectors[0] == pytest.approx((0.4, 1 / 3))
    assert found.vectors[1] == pytest.approx((0.3, 1 / 3))
    assert (found.model, found.usage, found.retries) == ('counting-2', Usage(2), 1)
    assert replay.name == 'replay of counting'


def test_a_recording_holds_models_and_embeddings_side_by_side(path: Path) -> None:
    RecordingModel(ScriptedModel(['0: pick']), path, 'brain').complete([Message('user', 'plan')])
    RecordingEmbedder(Counting(), path, episode='plus-t000-k1').embed(['pick'])

    assert [item.role for item in read_recording(path)] == ['brain', 'body']
    assert [item.episode for item in read_recording(path)] == ['', 'plus-t000-k1']
    assert ReplayModel(path, 'brain').complete([Message('user', 'plan')]).text == '0: pick'
    assert ReplayEmbedder(path).embed(['pick']).vectors[0] == pytest.approx((0.4, 1 / 3))


def test_a_recording_answers_also_from_its_lines(path: Path) -> None:
    RecordingEmbedder(Counting(), path).embed(['pick'])
    text = path.read_text()

    assert ReplayEmbedder(Path('run.jsonl'), text=text).embed(['pick']).model == 'counting-2'


def test_what_was_not_recorded_is_named(path: Path) -> None:
    RecordingEmbedder(Counting(), path).embed(['pick'])

    with pytest.raises(ReplayError, match=r'recorded .*pick.*asked .*place'):
        ReplayEmbedder(path).embed(['place'])


def test_an_error_is_recorded_too(path: Path) -> None:
    recording = RecordingEmbedder(Counting(ModelUnavailableError('It is down.')), path)
    with pytest.raises(ModelUnavailableError):
        recording.embed(['pick'])

    with pytest.raises(ModelUnavailableError, match='It is down'):
        ReplayEmbedder(path).embed(['pick'])


@pytest.mark.parametrize('reply', ['<pass>', '["pick"]', '[7]', '{}', '["AAAA"]', '["eJw="]'])
def test_words_in_place_of_vectors_are_refused(path: Path, reply: str) -> None:
    RecordingModel(ScriptedModel([reply]), path, 'body').complete([Message('user', '["pick"]')])

    with pytest.raises(ReplayError, match='vectors'):
        ReplayEmbedder(path).embed(['pick'])


def test_a_cancel_passes_through_recording(path: Path) -> None:
    token = CancelToken()
    token.cancel('stop')

    with pytest.raises(CancelledError):
        RecordingEmbedder(Counting(), path).embed(['pick'], cancel=token)
    assert not path.exists()


def test_the_models_of_a_run_record_and_replay_without_a_key(path: Path) -> None:
    config = parse_config('', 'f')
    said = {'brain': 'offline', 'embeddings': 'lexical'}
    models = make_models(config, record=path, overrides=said, embedding=True, environ={})
    assert models.embedder is not None
    given = models.embedder.embed(['pick'])

    again = make_models(config, replay=path, embedding=True, environ={})

    assert again.embedder is not None
    assert again.embedder.name == 'replay of lexical'
    assert again.embedder.embed(['pick']).vectors == given.vectors
    assert given.vectors[0] == pytest.approx(LexicalEmbedder().embed(['pick']).vectors[0])


def test_a_recording_of_long_vectors_stays_small(path: Path) -> None:
    texts = [f'thing number {i}' for i in range(30)]

    RecordingEmbedder(LexicalEmbedder(), path).embed(texts)

    assert path.stat().st_size < 20_000


@pytest.mark.parametrize('embedder', [None, LexicalEmbedder()])
def test_all_models_of_an_episode_are_recorded_and_played_back_at_once(
    path: Path, embedder: LexicalEmbedder | None
) -> None:
    plan = ScriptedModel(['0: pick'])
    models = record_models(Models(plan, plan, (), embedder), path, episode='e')
    models.brain.complete([Message('user', 'plan')])
    if models.embedder is not None:
        models.embedder.embed(['pick'])

    again = replay_models(Path('lines'), embedding=embedder is not None, text=path.read_text())

    assert again.brain.complete([Message('user', 'plan')]).text == '0: pick'
    assert (again.embedder is None) is (embedder is None)
    if again.embedder is not None:
        assert again.embedder.embed(['pick']).model == 'lexical'
    assert {item.episode for item in read_recording(path)} == {'e'}
