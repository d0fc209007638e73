"""Episodes are played until there are pairs enough, and count in one order however they come."""

import json
from typing import Any

import pytest

from bbllm.llm.config import LlmConfig
from bbllm_bench.benchmarks.finetuning import collecting
from bbllm_bench.benchmarks.finetuning.card import card_page, make_card
from bbllm_bench.benchmarks.finetuning.collected import Collected
from bbllm_bench.benchmarks.finetuning.collecting import EPISODES_FOR_A_PAIR, Wanted, collect
from bbllm_bench.benchmarks.finetuning.folder import Begun, DataSettings
from bbllm_bench.benchmarks.finetuning.reading import read_pair
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.worker_result import Answer, Refused
from bbllm_bench.scene_sampling.generator import CaseError, make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import Suite
from tests.benchmarks import made_pairs as made
from tests.benchmarks.made_collections import TASKS, Here, gather, played

SETTINGS = DataSettings(pairs=8, tasks=2, seed=0, planner='ft_cot')


def test_the_pairs_are_the_same_however_many_are_played_at_once() -> None:
    one, many = gather(Here(size=1), 20), gather(Here(size=7), 20)

    assert [pair.id for pair in one.pairs] == [pair.id for pair in many.pairs]
    assert one.pairs == many.pairs


def test_each_task_is_played_once_before_one_is_played_on_another_table() -> None:
    workers = Here(size=1)

    gather(workers, 4 * 6)

    assert [(job.key.task, job.key.trial) for job in workers.jobs[:6]] == [
        *((task.name, 0) for task in TASKS),
        *((task.name, 1) for task in TASKS[:2]),
    ]
    assert len({str(job.case.scene.objects) for job in workers.jobs[:6]}) == 6


@pytest.mark.parametrize(
    ('changes', 'rule', 'found'),
    [
        ({'verdict': 'failed'}, 'episode failed', 'It failed.'),
        ({'verdict': 'lost'}, 'episode lost', 'It lost.'),
        ({'informed': False, 'information': 'A guess.'}, 'episode uninformed', 'A guess.'),
    ],
)
def test_episodes_that_did_not_succeed_knowingly_give_no_pairs_and_are_counted(
    changes: dict[str, Any], rule: str, found: str
) -> None:
    def every_other(job: EpisodeSpec) -> Answer:
        bad = job.key.task == TASKS[1].name
        return played(job, **(changes if bad else {}))

    checked = gather(Here(every_other), 8)

    assert not any(TASKS[1].name in pair.id for pair in checked.pairs)
    assert checked.refused == {rule: 4}
    assert found in checked.examples[rule]
    assert checked.refused_share == pytest.approx(4 / 12)


def test_what_there_is_stays_where_no_more_can_be_played() -> None:
    def refused_later(job: EpisodeSpec) -> Answer:
        if job.key.task == TASKS[2].name:
            return Refused(key=job.key, reason='The disk is full.')
        return played(job)

    found = gather(Here(refused_later, size=1), 100)

    assert len(found.pairs) == 8
    assert found.reason.endswith('cannot be played: The disk is full.')
    assert not found.stopped


def test_a_table_that_cannot_be_made_is_counted_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_room(suite: Suite, task: str, **which: int) -> Case:
        if task == TASKS[1].name:
            raise CaseError('There is no room.')
        return make_case(suite, task, **which)

    monkeypatch.setattr(collecting, 'make_case', no_room)

    found = gather(Here(), 16)

    assert found.endings == {'succeeded': 4, 'no table': 1}
    assert found.examples['episode no table'].endswith('There is no room.')
    assert found.refused.total() == 0


def test_it_does_not_play_on_for_ever_where_nothing_succeeds() -> None:
    found = gather(Here(lambda job: played(job, 'failed')), 2)

    assert found.episodes == 2 * EPISODES_FOR_A_PAIR
    assert found.reason.startswith(f'{found.episodes} episodes gave 0 pairs of 2')
    assert found.reason.endswith('begin anew with another --out.')
    assert found.hopeless


def test_what_there_is_stays_when_somebody_ends_it() -> None:
    told: list[int] = []

    def note(found: Collected) -> None:
        told.append(found.episodes)

    found = gather(Here(size=1), 100, on_episode=note, wants_end=lambda: len(told) == 3)

    assert told == [1, 2, 3]
    assert len(found.pairs) == 12
    assert found.reason == 'Stopped from the keyboard.'
    assert found.stopped


def test_a_card_counts_what_is_in_the_set_and_says_that_no_model_answered() -> None:
    found = gather(Here(lambda job: played(job, 'passed')), 8)
    found.refuse('force', 'pair | 3', 2)
    begun = Begun(settings=SETTINGS, chosen=(), kept={}, refused={})
    card = make_card(begun, TASKS, found, 12.0)
    page = card_page(card)

    assert card['pairs'] == card['pairs_of_starred_tasks'] == 8
    assert card['pairs_by_question'] == {'enough': 4, 'gather': 2, 'solve': 2}
    assert card['pairs_by_tag'] == {'<weight>': 8}
    assert (card['refused'], card['exchanges'], card['refused_share']) == (2, 10, 0.2)
    assert card['tasks'] == [str(task) for task in TASKS[:2]]
    assert card['tables_of_a_task'] == {'least': 1, 'most': 1}
    assert json.loads(json.dumps(card)) == card
    assert '2 of 10 exchanges (20.0%)' in page
    assert '| force | 2 | pair \\| 3 |' in page
    assert 'no language model' in page


def test_pairs_from_the_simulator_stand_up_to_every_check() -> None:
    tasks = [made.data_task(), made.data_task('movable_on_fixed')]
    wanted = Wanted(tasks=tasks, pairs=8, seed=0)
    workers = Here(play, size=1)

    found = collect(wanted, workers, llm=LlmConfig())

    assert found.examples == {}
    questions = [read_pair(pair).question.name for pair in found.pairs]
    assert questions == ['ENOUGH', 'GATHER', 'ENOUGH', 'SOLVE'] * 2
    assert found.endings == {'succeeded': 2}
