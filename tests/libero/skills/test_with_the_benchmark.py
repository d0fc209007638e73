"""Skills on the benchmark's own robot, judged by its own check."""

from collections.abc import Iterator

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.types import Status
from bbllm_libero.client import Worker, interpreter
from bbllm_libero.skills import SKILLS


@pytest.fixture
def worker() -> Iterator[Worker]:
    try:
        interpreter()
    except ConfigError as error:
        pytest.skip(str(error))
    with Worker() as started:
        yield started


@pytest.mark.slow
def test_a_can_is_picked_and_placed_in_the_basket(worker: Worker) -> None:
    panda = worker.reset('libero_object', task=0, init_state=0)
    skills = {skill.signature.name: skill for skill in SKILLS}

    picked = skills['pick'].run(panda, ('alphabet_soup_1',), None)
    placed = skills['place'].run(panda, ('basket_1_contain_region',), picked.held)

    assert (picked.status, picked.held) == (Status.SUCCEEDED, 'alphabet_soup_1'), picked.message
    assert (placed.status, placed.held) == (Status.SUCCEEDED, None), placed.message
    assert worker.goal_holds() == (True,)
