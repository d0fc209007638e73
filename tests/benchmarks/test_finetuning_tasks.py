"""The tasks of a data set: different from each other, playable, and enough with a star."""

import re

import pytest

from bbllm.core.errors import ConfigError
from bbllm.testing import Request, ScriptedModel
from bbllm_bench.benchmarks.finetuning.kinds import KINDS, Kind
from bbllm_bench.benchmarks.finetuning.paraphrases import ask_wordings, fault_of
from bbllm_bench.benchmarks.finetuning.tasks import (
    STARRED_LEAST,
    check_count,
    count_tasks,
    generate_tasks,
    starred_share,
    suite_of,
)
from bbllm_bench.oracle.case_goals import brief_of
from bbllm_bench.scene_sampling.generator import make_case

EVERY_KIND = pytest.mark.parametrize('kind', KINDS, ids=lambda kind: kind.name)
LIGHTER = next(kind for kind in KINDS if kind.name == 'lighter_on_heavier')


@EVERY_KIND
def test_all_own_sentences_of_a_kind_ask_for_it_and_are_whole(kind: Kind) -> None:
    assert {fault_of(sentence, kind) for sentence in kind.sentences} == {''}
    for sentence in kind.sentences:
        assert re.fullmatch(r'[A-Z][^{}|#]*\.', sentence)
        assert not re.search(r'[a-z] {2}|\.[A-Z]', sentence)


@EVERY_KIND
def test_a_task_of_every_kind_has_a_table_and_a_goal_that_expert_can_be_told(kind: Kind) -> None:
    (task,) = (task for task in generate_tasks(len(KINDS), 0) if task.kind is kind)

    case = make_case(suite_of(generate_tasks(len(KINDS), 0)), task.name, seed=3, trial=1)

    assert len(case.scene.objects) == kind.blocks
    assert sum(spec.fixed for spec in case.scene.objects) == kind.fixed
    assert case.needs == kind.needs
    assert brief_of(case, 0).needs == kind.needs
    assert case.out_of_reach == ()


@pytest.mark.parametrize('seed', [0, 1])
def test_no_two_tasks_say_the_same_and_enough_of_them_need_to_find_out(seed: int) -> None:
    tasks = generate_tasks(300, seed)

    said = {(task.kind.blocks, task.instruction.lower()) for task in tasks}
    assert len(said) == len({task.name for task in tasks}) == 300
    assert starred_share(tasks) >= STARRED_LEAST
    assert {task.kind.name for task in tasks} == {kind.name for kind in KINDS}


def test_a_number_of_tasks_is_held_to_what_a_model_could_add_before_it_is_asked() -> None:
    most = count_tasks()

    check_count(most + 10, 0, asked=10)
    with pytest.raises(
        ConfigError, match=rf'Ask for {most + 10} or fewer \(--tasks {most + 10}\)'
    ):
        check_count(most + 11, 0, asked=10)
    with pytest.raises(ConfigError, match='--brain MODEL'):
        check_count(most + 1, 0)
    with pytest.raises(ConfigError, match='14 tasks or more would do'):
        check_count(3, 0, asked=280)


@pytest.mark.parametrize(
    ('sentence', 'kind', 'fault'),
    [
        ('Put the lighter block on the heavier one.', LIGHTER, ''),
        ('Stack.', LIGHTER, 'not of 3 words'),
        ('Put the lighter block on the heavier one, ' + 'please ' * 40 + '.', LIGHTER, 'not of 3'),
        ('Put the lighter block on the heavier one', LIGHTER, 'no whole sentence'),
        ('Put the light red block on the heavier one.', LIGHTER, 'names a colour'),
        ('Put the lighter block into the cups.', LIGHTER, 'names what is not there'),
        ('Put the lightest of three blocks on the heaviest.', LIGHTER, 'counts more blocks'),
    ],
)
def test_what_a_model_makes_up_is_about_the_blocks_that_there_are(
    sentence: str, kind: Kind, fault: str
) -> None:
    assert fault_of(sentence, kind).startswith(fault)
    assert bool(fault_of(sentence, kind)) is bool(fault)


def test_a_models_sentences_come_first_and_what_cannot_be_used_is_counted() -> None:
    reply = '\n'.join(
        [
            '1. Weigh the blocks and let the light one rest on the heavy one.',
            '- Weigh the blocks and let the light one rest on the heavy one!',
            '* Set the lighter cube on the heavier one.',
            'Put the lighter block into a cup.',
            'Put the heavier block on the lighter one.',
            '',
        ]
    )
    model = ScriptedModel([reply, '1: 5\n2: 0'])

    found = ask_wordings(model, 4, kinds=[LIGHTER])

    assert found.kept == {
        'lighter_on_heavier': ('Weigh the blocks and let the light one rest on the heavy one.',)
    }
    assert found.refused == {
        'a duplicate': 2,
        'names what is not there': 1,
        'asks for something else': 1,
    }
    tasks = generate_tasks(len(KINDS), 0, more=found.kept)
    assert [task.instruction for task in tasks if task.kind is LIGHTER] == [
        *found.kept['lighter_on_heavier']
    ]


def test_a_model_is_asked_for_each_kind_with_examples_and_sorts_what_it_wrote() -> None:
    def write(request: Request) -> str:
        assert 'Write 7 sentences' in request.prompt
        return next(
            line.removeprefix('- ').replace('.', ', please.', 1)
            for line in request.prompt.splitlines()
            if line.startswith('- ')
        )

    def sort(request: Request) -> str:
        *tasks, said = re.findall(r'^(\d+)\. (.*)$', request.prompt, re.MULTILINE)
        plain = said[1].replace(', please', '')
        return f'1: {next(number for number, task in tasks if task == plain)}'

    model = ScriptedModel([write, sort] * len(KINDS))

    found = ask_wordings(model, 7)

    assert len(model.requests) == 2 * len(KINDS)
    assert all(len(kept) == 1 for kept in found.kept.values())


def test_a_sentence_that_is_sorted_elsewhere_or_not_at_all_is_refused() -> None:
    said = 'Weigh the blocks and let the light one rest on the heavy one.'
    for sorted_as in ('1: 1', '1: 0', '2: 5', 'All of them.'):
        with pytest.raises(ConfigError, match='None of the 1 lines'):
            ask_wordings(ScriptedModel([said, sorted_as]), 1, kinds=[LIGHTER])
