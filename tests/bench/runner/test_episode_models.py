"""Models of an episode: what a recording keeps of one that was interrupted."""

from dataclasses import replace
from pathlib import Path

import pytest

from bbllm.core.errors import ModelUnavailableError
from bbllm.core.protocols import ModelRequest, Reply
from bbllm.llm.models.factory import Models
from bbllm.llm.recording.replay import parse_recording
from bbllm.testing import ScriptedModel
from bbllm_bench.runner import episode_models
from bbllm_bench.runner.episode_models import open_models
from tests.bench.fake_play import make_job


def test_beside_a_recording_the_models_are_asked_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = replace(make_job(records=True), talk=tmp_path / 'first.jsonl')
    live = ScriptedModel(['plan', 'repair'])
    monkeypatch.setattr(episode_models, 'models_of', lambda job: Models(live, live))
    with open_models(first) as (models, recording):
        models.brain.ask(ModelRequest.of('plan'))
        earlier = recording()

    with open_models(replace(first, talk=tmp_path / 'second.jsonl', replay=earlier)) as (
        models,
        recording,
    ):
        texts = [models.brain.ask(ModelRequest.of(text)).text for text in ('plan', 'new')]

    assert texts == ['plan', 'repair']
    assert len(live.requests) == 2
    assert recording().startswith(earlier)


def test_an_episode_that_was_interrupted_asks_only_what_has_no_answer_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(make_job(records=True), talk=tmp_path / 'talk' / 'fine.jsonl')

    def talk(*replies: str | Reply | Exception) -> str:
        model = ScriptedModel(list(replies))
        monkeypatch.setattr(episode_models, 'models_of', lambda job: Models(model, model))
        with open_models(job) as (models, recording):
            for text in ('plan', 'repair'):
                models.brain.ask(ModelRequest.of(text))
            return recording()

    with pytest.raises(ModelUnavailableError):
        talk('first', ModelUnavailableError('down'))
    exchanges = parse_recording(talk('second'), tmp_path)

    assert [item.reply and item.reply.text for item in exchanges] == ['first', 'second']
    assert {item.episode for item in exchanges} == {job.key.name}
    assert all(item.date and item.code for item in exchanges)
