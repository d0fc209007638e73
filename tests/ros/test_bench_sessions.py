"""A session through the nodes: what the first episode finds out is in the prompts of the next."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.suite import load_suite
from bbllm.llm.config import LlmConfig
from bbllm.planners.common.prompting import BELIEVED
from bbllm.ros.bench.episode import play

pytestmark = pytest.mark.ros


def test_what_the_first_episode_found_out_is_told_to_the_brain_of_the_next() -> None:
    case = make_case(load_suite('tabletop_sessions'), 'second', seed=0, trial=0)
    (fixed,) = case.table.fixed
    other = next(spec.name for spec in case.table.objects[3:])
    case = replace(case, earlier=(f'Pick {fixed}.',), instruction=f'Put {other} on location_A.')
    config = RunConfig(
        planner='brain_body:open_state=rules',
        brain='offline',
        body='offline',
        mapping='auto',
        llm=LlmConfig(),
        record=True,
    )

    game = play(EpisodeSpec(key=EpisodeKey('second', 0, 0), case=case, config=config))

    brain = [
        line for line in map(json.loads, game.recording.splitlines()) if line['role'] == 'brain'
    ]
    first, last = (json.dumps(line['messages']) for line in (brain[0], brain[-1]))
    assert BELIEVED not in first
    assert f'({fixed} is fixed_or_heavy)' in last.partition(BELIEVED)[2]
    assert case.instruction in game.journal.splitlines()[0]
