"""Cases of the suite `household`, and episodes of scripted replies."""

from typing import Any

from bbllm.core.events import Event
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import visibility_of
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_household import play_with
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite

SUITE = load_suite('household')
TASKS = tuple(spec.name for spec in SUITE.tasks)


def case_of(task: str, trial: int = 0, seed: int = 0) -> Case:
    return make_case(SUITE, task, seed=seed, trial=trial)


def world_of(case: Case) -> HouseholdWorld:
    """The world that a case is played in."""
    house = case.house
    return HouseholdWorld(
        house.build(), mode=house.mode, visibility=visibility_of(house.visibility)
    )


OFFLINE = ModelConfig(provider='offline')
PLANNER = 'prog_prompt:check=graph,grounding=nearest'
TASK = 'put_salmon_in_the_fridge'
PROGRAM = """
    # 1: take the salmon
    find('salmon')
    grab('salmon')
    # 2: put it into the fridge
    find('fridge')
    assert('fridge' is 'opened')
        else: open('fridge')
    putin('salmon', 'fridge')
    # 3: done
"""


def played(
    *replies: Any, case: Case | None = None, planner: str = PLANNER
) -> tuple[EpisodeResult, list[Event]]:
    case = case or case_of(TASK)
    events: list[Event] = []
    config = RunConfig(planner=planner, llm=LlmConfig(brain=OFFLINE, body=OFFLINE))
    job = EpisodeSpec(key=EpisodeKey(case.task, case.trial, 0), case=case, config=config)
    models = Models(ScriptedModel(replies), ScriptedModel([]), ())
    return play_with(job, models, events.append, Alone()), events
