"""Workers of the data pipeline whose episodes are made up, and what they play."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import made_pairs as made
from made_results import make_result

from bbllm.bench.log.episodes import Job, Played
from bbllm.bench.runner.worker_result import Answer, Done
from bbllm.llm.config import LlmConfig
from benchmarks.finetuning.collected import Collected
from benchmarks.finetuning.collecting import Wanted, collect

TASKS = [made.data_task(number=number) for number in range(4)]


def talk_of(job: Job) -> list[tuple[str, str]]:
    """Return a conversation that fits the blocks of a job, and that no other job has."""
    first, second = job.case.scene.objects
    weighed = made.weighing(made.felt(first.mass, second.mass))
    text = json.dumps(made.conversation(weighed)).replace(
        'Stack the', f'{job.key.name}: stack the'
    )
    text = text.replace('red_cube', 'FIRST').replace('blue_cube', second.name)
    return [(asked, said) for asked, said in json.loads(text.replace('FIRST', first.name))]


def played(job: Job, verdict: str = 'passed', **changes: Any) -> Done:
    result = make_result(job.key.task, job.key.trial, job.key.k, verdict, **changes)
    return Done(Played(result=result, journal='', recording=made.recording(talk_of(job))))


class Here:
    """Workers whose answers are made up, and come newest first."""

    def __init__(self, answer: Callable[[Job], Answer] = played, size: int = 3):
        self.size = size
        self.jobs: list[Job] = []
        self._answer = answer
        self._under_way: list[Job] = []

    def submit(self, job: Job) -> None:
        assert len(self._under_way) < self.size
        self.jobs.append(job)
        self._under_way.append(job)

    def collect(self, timeout_s: float) -> list[Answer]:
        return [self._answer(self._under_way.pop())]

    def close(self) -> None:
        pass


def gather(workers: Here, pairs: int, **options: Any) -> Collected:
    wanted = Wanted(tasks=TASKS, pairs=pairs, seed=0)
    return collect(wanted, workers, llm=LlmConfig(), **options)
