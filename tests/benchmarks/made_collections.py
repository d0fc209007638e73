"""Workers of the data pipeline whose episodes are made up, and what they play."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from bbllm.llm.config import LlmConfig
from bbllm_bench.benchmarks.finetuning.collected import Collected
from bbllm_bench.benchmarks.finetuning.collecting import Wanted, collect
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.runner.worker_result import Answer
from tests.bench.made_results import make_result
from tests.benchmarks import made_pairs as made

TASKS = [made.data_task(number=number) for number in range(4)]


def talk_of(job: EpisodeSpec) -> list[tuple[str, str]]:
    """Return a conversation that fits the blocks of a job, and that no other job has."""
    first, second = job.case.scene.objects
    weighed = made.weighing(made.felt(first.mass, second.mass))
    text = json.dumps(made.conversation(weighed)).replace(
        'Stack the', f'{job.key.name}: stack the'
    )
    text = text.replace('red_cube', 'FIRST').replace('blue_cube', second.name)
    return [(asked, said) for asked, said in json.loads(text.replace('FIRST', first.name))]


def played(job: EpisodeSpec, verdict: str = 'passed', **changes: Any) -> EpisodeRecord:
    result = make_result(job.key.task, job.key.trial, job.key.k, verdict, **changes)
    return EpisodeRecord(result=result, journal='', recording=made.recording(talk_of(job)))


class Here:
    """Workers whose answers are made up."""

    def __init__(self, answer: Callable[[EpisodeSpec], Answer] = played, size: int = 3):
        self.size = size
        self.jobs: list[EpisodeSpec] = []
        self._answer = answer

    def submit(self, job: EpisodeSpec) -> Future[Answer]:
        self.jobs.append(job)
        future: Future[Answer] = Future()
        try:
            future.set_result(self._answer(job))
        except BaseException as error:  # raised where somebody takes the result
            future.set_exception(error)
        return future

    def close(self) -> None:
        pass


def gather(workers: Here, pairs: int, **options: Any) -> Collected:
    wanted = Wanted(tasks=TASKS, pairs=pairs, seed=0)
    return collect(wanted, workers, llm=LlmConfig(), **options)
