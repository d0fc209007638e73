"""A task of every suite, played by the calls of `expert` and judged by the benchmark."""

import pytest

from bbllm_libero.client import Worker
from bbllm_libero.expert import calls_for
from bbllm_libero.skills import SKILLS
from bbllm_libero.world import LiberoWorld

SAMPLE = [
    ('libero_object', 3),
    ('libero_spatial', 0),
    ('libero_goal', 7),
    ('libero_10', 0),
    ('libero_goal_object', 0),
    ('libero_object_swap', 0),
    ('libero_object_lan', 0),
    ('libero_object_task', 0),
]
"""Suites, LIBERO-PRO's among them, and a task of each."""


@pytest.mark.slow
@pytest.mark.parametrize(('suite', 'task'), SAMPLE)
def test_a_task_of_the_suite_is_solved_by_truth(worker: Worker, suite: str, task: int) -> None:
    worker.reset(suite, task=task, init_state=0)
    world = LiberoWorld(worker, SKILLS)

    outcomes = [world.execute(call) for call in calls_for(worker.task.goal, world.observe())]

    assert world.passed, (worker.task.language, outcomes)
