"""Which cases a shard has."""

import random
from collections import Counter

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.log.run_settings import join
from bbllm_bench.log.shards import Shard, parse_shard
from tests.bench.made_results import make_settings

TASKS = [f'task_{i:02d}' for i in range(7)]


@pytest.mark.parametrize(('n_tasks', 'trials'), [(1, 1), (7, 1), (4, 3), (7, 5)])
@pytest.mark.parametrize('of', [1, 2, 3, 4, 9])
def test_each_case_is_in_one_shard_and_all_are_of_one_size(
    n_tasks: int, trials: int, of: int
) -> None:
    shards = [Shard(i + 1, of).cases(TASKS[:n_tasks], trials) for i in range(of)]

    counts = Counter(case for shard in shards for case in shard)
    assert set(counts) == {(task, trial) for task in TASKS[:n_tasks] for trial in range(trials)}
    assert set(counts.values()) == {1}
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_the_order_of_tasks_decides_nothing() -> None:
    mixed = random.Random(3).sample(TASKS, len(TASKS))

    assert Shard(2, 3).cases(mixed, 4) == Shard(2, 3).cases(TASKS, 4)


def test_the_split_is_the_same_in_every_version() -> None:
    assert sorted(Shard(1, 2).cases(['c', 'a', 'b'], 2)) == [('a', 0), ('c', 0), ('c', 1)]
    assert sorted(Shard(2, 2).cases(['c', 'a', 'b'], 2)) == [('a', 1), ('b', 0), ('b', 1)]


def test_more_trials_move_no_case() -> None:
    few, many = (Shard(2, 3).cases(TASKS, trials) for trials in (2, 6))

    assert few == {case for case in many if case[1] < 2}


def test_the_trials_of_a_task_are_not_all_in_one_shard() -> None:
    shards = [Shard(i + 1, 4).cases(TASKS[:4], 4) for i in range(4)]

    assert all({task for task, _ in shard} == {*TASKS[:4]} for shard in shards)


def test_all_k_of_a_case_are_in_its_shard() -> None:
    of = {'tasks': TASKS, 'ks': (0, 1, 3), 'trials': 3}
    shards = [make_settings(**of, shard=f'{i + 1}/4').keys for i in range(4)]

    assert sorted(key for shard in shards for key in shard) == sorted(make_settings(**of).keys)
    for shard in shards:
        counts = Counter((key.task, key.trial) for key in shard)
        assert set(counts.values()) == {3}


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        ('0/4', 'counts from 1 to 4'),
        ('5/4', 'counts from 1 to 4'),
        ('1/0', 'is no part of a number of parts'),
        ('1', 'is no part of a number of parts'),
        ('-1/4', 'is no part'),
        ('1/4/4', 'is no part'),
        ('first/4', 'is no part'),
        ('', 'is no part'),
    ],
)
def test_what_is_no_shard_is_refused_with_an_example(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f'{reason}.*Use for example 1/4'):
        parse_shard(text)


def test_a_shard_is_resumed_as_the_same_shard_with_the_same_tasks() -> None:
    was = make_settings(tasks=TASKS[:3], shard='1/2')

    assert join(was, was.model_copy(update={'trials': 9}), 'runs/1').trials == 9
    with pytest.raises(ConfigError, match='shard: was 1/2, is 2/2'):
        join(was, was.model_copy(update={'shard': Shard(2, 2)}), 'runs/1')
    with pytest.raises(ConfigError, match='tasks: was without task_03, is with them'):
        join(was, make_settings(tasks=TASKS[:4], shard='1/2'), 'runs/1')
