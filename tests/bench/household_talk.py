"""A recording of a run of the suite `household`, as a model would have answered: no server."""

from pathlib import Path

from household_cases import OFFLINE, PLANNER, case_of

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.runner.episode_setup import Alone
from bbllm.bench.runner.play_household import play_with
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models, record_models
from bbllm.llm.scripted import ScriptedModel

PROGRAMS = {
    'watch_tv': """
    # 1: go to the tv
    find('tv')
    # 2: switch it on
    switchon('tv')
    """,
    'throw_away_apple': """
    # 1: take the apple
    find('apple')
    grab('apple')
    # 2: throw it away
    find('garbagecan')
    assert('garbagecan' is 'opened')
        else: open('garbagecan')
    putin('apple', 'garbagecan')
    """,
}
"""The second knows nothing of an apple in a closed fridge."""


def write_talk(path: Path, trials: int) -> None:
    """Record every episode of both tasks."""
    for task, program in PROGRAMS.items():
        for trial in range(trials):
            key = EpisodeKey(task, trial, 0)
            scripted = Models(ScriptedModel([program]), ScriptedModel([]), ())
            config = RunConfig(planner=PLANNER, llm=LlmConfig(brain=OFFLINE, body=OFFLINE))
            job = EpisodeSpec(key=key, case=case_of(task, trial), config=config)
            models = record_models(scripted, path, episode=key.name)
            play_with(job, models, lambda event: None, Alone())
