"""Episodes on real physics, with the offline stand-in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.journal import read_episode
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.runner.play_here import play
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite

OFFLINE = ModelConfig(provider='offline')
NOWHERE = ModelConfig(provider='openai', model='m', base_url='http://127.0.0.1:9/v1', retries=0)
CLOCK = ('wall_s', 'model_s')
"""Fields that the wall clock decides."""


def job_of(task: str = 'red_triangle', k: int = 3, **changes: Any) -> EpisodeSpec:
    llm = LlmConfig(brain=OFFLINE, body=OFFLINE)
    suite = load_suite('tabletop')
    return EpisodeSpec(
        key=EpisodeKey(task, 0, k),
        case=make_case(suite, task, seed=0, trial=0),
        config=RunConfig(**{'planner': 'brain_body', 'llm': llm, **changes}),
    )


@pytest.fixture(scope='module')
def recorded() -> EpisodeRecord:
    return play(job_of(records=True))


def timeless(played: EpisodeRecord) -> dict[str, Any]:
    fields = type(played.result).__dataclass_fields__
    return {name: getattr(played.result, name) for name in fields if name not in CLOCK}


def test_an_episode_is_played_judged_and_on_record(
    recorded: EpisodeRecord, tmp_path: Path
) -> None:
    result = recorded.result
    path = tmp_path / f'{result.key.name}.jsonl'
    path.write_text(recorded.journal)
    episode = read_episode(path)

    assert result.passed, result.reason
    assert result.loops == episode.feedback_loops >= 1
    assert result.unsafe == 0
    assert result.model_calls == len(episode.model_calls) > 0
    assert result.robot_s > episode.robot_s > 0
    assert 'table' in {item.name for item in result.settled}
    assert episode.id == 'red_triangle-t000-k3'


def test_a_replay_is_the_same_episode_and_asks_nobody(recorded: EpisodeRecord) -> None:
    job = replace(job_of(llm=LlmConfig(brain=NOWHERE, body=NOWHERE)), replay=recorded.recording)

    again = play(job)

    assert timeless(again) == timeless(recorded)


def test_without_feedback_what_is_out_of_reach_stays_undone() -> None:
    result = play(job_of(k=0)).result

    assert (result.verdict, result.loops) == ('failed', 0)
    assert result.codes['OUT_OF_WORKSPACE'] >= 1


def test_a_server_that_is_down_loses_the_episode(tmp_path: Path) -> None:
    played = play(job_of(llm=LlmConfig(brain=NOWHERE, body=NOWHERE)))

    assert played.result.lost
    assert played.result.error == 'ModelUnavailableError'
    assert '127.0.0.1:9' in played.result.reason
    assert '"ended"' in played.journal


def test_a_key_that_is_missing_is_no_result_but_an_error() -> None:
    hosted = ModelConfig(provider='openai', model='gpt-4o')

    with pytest.raises(ConfigError, match='OPENAI_API_KEY'):
        play(job_of(llm=LlmConfig(brain=hosted, body=hosted)))
