"""Episodes whose scenes come from pictures: judged by truth, and by pictures beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, PictureResult
from bbllm_bench.runner import play_tabletop
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite
from tests.worlds.stand_in_cameras import StandIn, stand_in_source

OFFLINE = ModelConfig(provider='offline')


def play_seen(
    patch: pytest.MonkeyPatch, task: str, on_made: Callable[[StandIn], Any] = lambda _: None
) -> EpisodeRecord:
    """Play an episode whose pictures a stand-in takes."""
    patch.setattr(play_tabletop, 'source_of', lambda job: stand_in_source(job.case.table, on_made))
    job = EpisodeSpec(
        key=EpisodeKey(task, 0, 3),
        case=make_case(load_suite('tabletop'), task, seed=0, trial=0),
        config=RunConfig(
            planner='brain_body', llm=LlmConfig(brain=OFFLINE, body=OFFLINE), sources='camera'
        ),
    )
    return play(job)


def pictures_of(played: EpisodeRecord) -> PictureResult:
    assert played.result.by_pictures is not None
    return played.result.by_pictures


def test_an_episode_by_pictures_is_judged_by_truth_and_by_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = play_seen(monkeypatch, 'pairs_a_side')

    result, seen = played.result, pictures_of(played)
    assert result.passed, result.reason
    assert seen.accepted, seen.reason
    assert result.judge_agrees
    assert seen.recall == seen.precision == 1.0
    assert seen.position_mm is not None
    assert 0.2 < seen.position_mm < 3.0
    assert seen.pictures > seen.scenes > 1


def test_what_a_camera_never_shows_is_missed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[str] = []

    def cover(stand_in: StandIn) -> None:
        movables = stand_in.driver.robot.simulation.scene.movables
        hidden.append(movables[0].name)
        stand_in.covered = hidden

    played = play_seen(monkeypatch, 'pairs_a_side', cover)

    seen = pictures_of(played)
    assert seen.recall is not None
    assert seen.recall < 1.0
    assert seen.precision == 1.0
    assert hidden[0] in {item.name for item in played.result.settled}


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        ({'suite': 'tabletop', 'trouble': 'light'}, 'add --sources camera'),
        ({'suite': 'household', 'planner': 'prog_prompt', 'sources': 'camera'}, 'household'),
        ({'suite': 'tabletop', 'world': 'ros', 'sources': 'camera'}, 'world ros'),
    ],
)
def test_pictures_are_for_simulated_tables_in_worker_processes(
    changes: dict[str, Any], reported: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=reported):
        prepare(BenchRequest(brain='offline', body='offline', **changes), tmp_path)
