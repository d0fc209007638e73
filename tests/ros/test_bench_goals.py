"""An episode over ROS has the goal of its own case written down for the node that plans."""

from __future__ import annotations

from pathlib import Path

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.oracle.case_goals import brief_of
from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.suite import load_suite
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.models.factory import load_config, make_models
from bbllm.ros.bench.episode import _Files


def test_the_node_that_plans_reads_the_brief_of_its_case(tmp_path: Path) -> None:
    llm = LlmConfig(brain=ModelConfig(provider='uninformed'), body=ModelConfig(provider='offline'))
    config = RunConfig(planner='llm_pop', brain=None, body=None, mapping='auto', llm=llm)
    case = make_case(load_suite('partial'), 'tower_by_weight', seed=3, trial=1)
    files = _Files(
        tmp_path, EpisodeSpec(key=EpisodeKey('tower_by_weight', 1, 3), case=case, config=config)
    )

    files.write()

    config = load_config(Path(str(files.params()['brain_planner']['llm_config'])))
    assert GoalBrief.model_validate(config.brain.goal) == brief_of(case, case.seed)
    assert make_models(config).brain.name == 'uninformed'
