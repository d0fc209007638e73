"""The benchmark itself, where `make libero` has installed it; skipped elsewhere."""

import pytest

from bbllm_libero.client import RefusedError, Worker

SUITE = 'libero_object'


@pytest.mark.slow
def test_a_task_begins_steps_and_is_checked(worker: Worker) -> None:
    assert len(worker.tasks(SUITE)) == 10
    panda = worker.reset(SUITE, task=0, init_state=0)
    height_m = panda.state.tool.position_m[2]

    for _ in range(10):
        state = panda.step([0, 0, -0.5, 0, 0, 0, -1])

    assert state.steps == 10
    assert state.tool.position_m[2] < height_m - 0.01
    assert not state.success
    assert panda.task.goal == (('in', 'alphabet_soup_1', 'basket_1_contain_region'),)
    assert ('alphabet_soup_1', 'on', 'floor_target_object_region') in worker.facts()
    assert any((piece.half_m > 0).all() for piece in worker.shape('basket_1'))
    again = worker.reset(SUITE, task=0, init_state=0)
    assert again.state.tool.position_m[2] == pytest.approx(height_m, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize('change', ['lan', 'task'])
def test_a_perturbed_task_asks_in_its_own_words_for_its_own_goal(
    worker: Worker, change: str
) -> None:
    plain, perturbed = worker.tasks(SUITE), worker.tasks(f'{SUITE}_{change}')

    for one, other in zip(plain, perturbed, strict=True):
        assert other.language != one.language
        item = other.goal[0][1].removesuffix('_1').replace('_', ' ')
        assert item in other.language


@pytest.mark.slow
def test_tasks_that_the_benchmark_does_not_ship_are_refused(worker: Worker) -> None:
    with pytest.raises(RefusedError, match='missing'):
        worker.tasks('libero_object_env')
    with pytest.raises(RefusedError, match='initial states 0 to 49'):
        worker.reset(SUITE, task=0, init_state=50)
