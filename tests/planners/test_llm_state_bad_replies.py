"""LLM-State and replies that are no plan: never taken for the end of the task, and all told."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from small_house import SmallHouse

from bbllm.core.budget import Limits
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.types import Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.llm_state.planner import LLMState

NOBODY: Any = None
TASK = Task('t', 'put salmon1 in the fridge')


def play(replies: list[str], **limits: int) -> Episode:
    run = EpisodeRun(TASK, planner='p', brain='b', body='b', limits=Limits(**limits))
    planner = LLMState(
        run.model(ScriptedModel(replies), 'brain'),
        NOBODY,
        options=chosen('llm_state', states='no'),
    )
    return run.execute(planner, SmallHouse())


def test_plans_that_only_wait_end_it_with_a_reason_before_the_limit_of_plans() -> None:
    wait = '1. wait()\n2. wait()'
    episode = play([wait, wait, '1. wait()\n2. move(fridge1)', *[wait] * 20], steps=10)

    assert episode.ending is Ending.GAVE_UP
    assert 'In 3 rounds in a row' in episode.message
    assert len(episode.model_calls) == 6


def test_waiting_between_other_actions_has_a_limit_of_its_own() -> None:
    plan = 'wait()\n' * 18 + 'move(fridge1)'
    episode = play([plan] * 100, steps=60)

    assert episode.ending is Ending.GAVE_UP
    assert 'has waited 150 times' in episode.message
    assert len(episode.model_calls) == 9


@pytest.mark.parametrize(
    'prose',
    ['First go to the fridge.', '- go to fridge1\n- open fridge1', '1. go to fridge1'],
)
def test_prose_below_the_heading_is_asked_for_once_more_and_never_the_end(prose: str) -> None:
    reply = f'Low-level Action Plan:\n{prose}'

    twice = play([reply, reply])
    mended = play([reply, '1. move(fridge1)', 'done'])

    assert twice.ending is Ending.MODEL_FAILED
    assert mended.ending is Ending.FINISHED
    assert sum(event.kind is EventKind.OUTCOME for event in mended.events) == 1


def test_actions_of_a_reply_that_is_refused_are_told_with_what_is_wrong_with_them() -> None:
    episode = play(['1. fly(fridge1)', '1. fly(fridge1)\n2. swim(sink1)'])

    told = [event.data for event in episode.events if event.kind is EventKind.DISCARDED]
    assert episode.ending is Ending.MODEL_FAILED
    assert [data.text for data in told] == ['1. fly(fridge1)', '2. swim(sink1)']
    assert {data.code.name for data in told} == {'UNKNOWN_SKILL'}


def test_a_heading_that_says_done_above_a_plan_is_asked_about_and_ends_nothing() -> None:
    plan = '1. move(fridge1)\n2. open(fridge1)'

    episode = play([f'## Done (step 1 of 2)\n{plan}', plan, 'done'])

    assert (episode.ending, episode.steps) == (Ending.FINISHED, 2)
    left_out = [event.data for event in episode.events if event.kind is EventKind.DISCARDED]
    assert [item.text for item in left_out] == ['2 more lines']
