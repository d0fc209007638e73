"""LLM-POP among people, with models of short memory, and on record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pop_runs import ACT, DONE, LIGHTER, TASK, UNKNOWN, WEIGH, NoBody, run, section

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelRefusedError, PromptTooLongError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.llm_pop.planner import LLMPop

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]


def test_what_a_person_says_before_it_begins_is_in_the_first_prompt(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    model = ScriptedModel([DONE])

    run(model, busy_table(), diary({0: 'mind\nthe lamp'}))

    assert section(model.requests[0], 'History') == 'Person: mind the lamp'


def test_what_a_person_says_within_a_round_ends_it_and_is_heard_in_the_next(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(), diary({1: 'leave the blue one alone'})
    model = ScriptedModel([UNKNOWN, WEIGH, LIGHTER, 'EXECUTE\nACTION RESET', DONE])

    run(model, world, context)

    assert world.calls == ['pick(red_cube)', 'return_to_base()']
    history = section(model.requests[2], 'History').splitlines()
    assert history[-3:] == [
        'Action 3: PLACE [0.51 0.12 0.02 1 0 0 0]',
        'Result 3: not tried',
        'Person: leave the blue one alone',
    ]
    assert context.plans[1].steps[1].text == 'RESET'


def test_what_a_person_says_in_the_last_round_waits_for_its_end(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(), diary({1: 'stop that'})
    model = ScriptedModel([UNKNOWN, ACT, DONE])

    run(model, world, context, k=0)

    assert len(world.calls) == 3
    assert section(model.requests[2], 'History').endswith('Person: stop that')


def test_a_history_longer_than_its_budget_is_shortened_and_that_is_said_once(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    context = diary()
    model = ScriptedModel([UNKNOWN, WEIGH] * 4 + [DONE])

    run(model, busy_table(), context, history=4500)

    assert len(context.warnings) == 1
    assert 'longer than the 4500 characters' in context.warnings[0]
    history = section(model.requests[-1], 'History')
    assert history.startswith('Round 0 in short: PICK red_cube done, force z -1.00; PLACE')
    assert '\n== Round 3 ==\n' in history


def test_a_prompt_that_the_model_finds_too_long_is_sent_with_less_history(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    context = diary()
    too_long = PromptTooLongError('The context is 4096 tokens.')
    model = ScriptedModel(
        [UNKNOWN, WEIGH, UNKNOWN, WEIGH, UNKNOWN, WEIGH, too_long, LIGHTER, ACT, DONE]
    )

    run(model, busy_table(), context)

    refused, sent = model.requests[6:8]
    assert len(sent.prompt) < len(refused.prompt)
    assert section(refused, 'Current observation') == section(sent, 'Current observation')
    assert 'Round 0 in short: ' in section(sent, 'History')
    assert len(context.warnings) == 1


def test_a_prompt_that_is_too_long_without_a_history_ends_the_run(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    with pytest.raises(ModelRefusedError, match='4096'):
        run(ScriptedModel([PromptTooLongError('4096 tokens')]), busy_table(), diary())


def test_in_the_journal_failures_within_rounds_do_not_spoil_a_task_that_was_done(
    busy_table: Tabletop,
) -> None:
    faults = [('pick(red_cube)', Code.GRASP_FAILED, 'The fingers closed on nothing.')]
    model = ScriptedModel([UNKNOWN, ACT, UNKNOWN, ACT, DONE])
    episode_run = EpisodeRun(TASK, planner='llm_pop', brain='scripted', body='none')
    planner = LLMPop(episode_run.model(model, 'brain'), NoBody())

    episode = episode_run.execute(planner, busy_table(faults=faults))

    assert episode.ending is Ending.FINISHED
    assert episode.feedback_loops == 1
    kinds = [event.kind for event in episode.events]
    assert kinds.count(EventKind.SENSED) == kinds.count(EventKind.OUTCOME) == 4
    steps = [event.data.index for event in episode.events if event.kind is EventKind.STEP]
    assert steps == [0, 1, 2, 3]
