"""Plays nothing: what becomes of an episode is in the name of its task. For tests of runners."""

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.llm.config import LlmConfig
from bbllm.scene.scene_file import load_scene
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Conditions
from tests.bench.made_results import make_result

SLOW_S = 0.15
DEATHS = {'dies': 99, 'dies_once': 1}
"""How many workers an episode of these tasks kills, where there are marks."""
MARKS = 'BBLLM_TEST_MARKS'
"""Variable with a folder in which players leave marks."""


def play(job: EpisodeSpec) -> EpisodeRecord:
    """Do what the task's name says."""
    task = job.key.task
    if task == 'slow':
        time.sleep(SLOW_S)
    if task == 'hangs':
        time.sleep(3600)
    if MARKS in os.environ and _times_before(job) < DEATHS.get(task, 0):
        os.kill(os.getpid(), signal.SIGKILL)
    if task == 'litters':
        print(f'Look: {tempfile.mkdtemp()}.', flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if task == 'faulty':
        raise RuntimeError('a wheel came off')
    if task == 'refused':
        raise ConfigError('$SOME_KEY is not set.')
    changes: dict[str, Any] = {'wall_s': 0.0, 'model_s': 0.0}
    if task in ('ModelError', 'ParseError'):
        changes |= {'error': task, 'ending': 'MODEL_FAILED', 'message': 'It gave an empty reply.'}
    verdict = 'lost' if task == 'lost' else 'passed' if job.key.trial % 2 == 0 else 'failed'
    result = make_result(task, job.key.trial, job.key.k, verdict, **changes)
    if job.talk is not None:
        job.talk.parent.mkdir(exist_ok=True)
        job.talk.touch()
    line = f'{{"episode": "{job.key.name}", "n": {job.key.k}}}\n'
    return EpisodeRecord(
        result=result,
        journal=f'{{"of": "{job.key.name}"}}\n',
        recording=line if job.config.records else '',
    )


def _times_before(job: EpisodeSpec) -> int:
    """Leave a mark, and return how many there were."""
    path = Path(os.environ[MARKS]) / job.key.name
    times = len(path.read_text()) if path.exists() else 0
    path.write_text('x' * (times + 1))
    return times


def make_case(task: str, trial: int) -> Case:
    """Return a case of which only the names matter."""
    return Case(
        suite='fake',
        task=task,
        trial=trial,
        seed=0,
        instruction='do nothing',
        scene=load_scene('plus_sign'),
        goal=Conditions(kind='conditions', text='on(red_cube, table)', level_m=0.01, tilt_deg=18),
        difficulty='easy',
        least_loops=0,
        out_of_reach=(),
    )


def make_job(task: str = 'fine', trial: int = 0, k: int = 0, **config: Any) -> EpisodeSpec:
    """Return a job of the fake suite."""
    return EpisodeSpec(
        key=EpisodeKey(task, trial, k), case=make_case(task, trial), config=make_config(**config)
    )


def make_config(**changes: Any) -> RunConfig:
    """Return a config of which only limits and recording matter."""
    return RunConfig(planner='brain_body', llm=LlmConfig(), **changes)
