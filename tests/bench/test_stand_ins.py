"""Whatever tells of a run that stand-ins made says what they are."""

from __future__ import annotations

import pytest
from made_results import make_result, make_settings

from bbllm.bench.report.summary import summarize_run
from bbllm.bench.report.summary_table import lines_for_terminal
from bbllm.bench.stand_ins import STAND_INS, notices_about, roles_of
from bbllm.llm.expert.brief import TOLD

PLUMBING = 'it measures the plumbing, not planning.'


@pytest.mark.parametrize('name', TOLD)
def test_summary_and_terminal_say_that_the_plumbing_was_measured(name: str) -> None:
    summary = summarize_run(make_settings(brain=name), [make_result()], [])

    (notice,) = summary.notices
    assert notice.startswith(f'Brain: {name} is a deterministic stand-in that is told the goal')
    assert notice.endswith(PLUMBING)
    assert notice in lines_for_terminal(summary)


def test_a_replay_of_what_they_said_says_so_too() -> None:
    summary = summarize_run(make_settings(brain='replay of expert'), [make_result()], [])

    assert PLUMBING in summary.notices[0]


def test_of_models_nothing_is_said() -> None:
    summary = summarize_run(make_settings(brain='my-expert-7b', body='offline'), [], [])

    assert summary.notices == ()


def test_the_body_may_be_the_stand_in() -> None:
    settings = {'brain': 'gpt-4o', 'body': 'offline'}

    assert roles_of('offline', settings, {}) == ['Body']
    assert roles_of('offline', settings, {'brain': ['offline']}) == ['Brain', 'Body']
    assert notices_about(STAND_INS, settings, {}) == [f'Body: offline {STAND_INS["offline"]}.']


@pytest.mark.parametrize(
    'planner',
    ['llm_pop', 'ft_cot', 'base_llm', 'prog_prompt', 'prog_prompt:check=graph,grounding=nearest'],
)
def test_of_a_body_that_nobody_asks_nothing_is_said(planner: str) -> None:
    settings = {'planner': planner, 'brain': 'offline', 'body': 'offline'}

    assert roles_of('offline', settings, {}) == ['Brain']
    assert roles_of('offline', {**settings, 'brain': 'gpt-4o'}, {}) == []
    # Whatever the planner says of itself: one that has answered was asked.
    assert roles_of('offline', settings, {'body': ['offline']}) == ['Brain', 'Body']


@pytest.mark.parametrize(
    'planner', ['brain_body', 'brain_body:grounding=random', 'one of somebody else']
)
def test_of_a_body_that_may_be_asked_it_is_said(planner: str) -> None:
    settings = {'planner': planner, 'brain': 'gpt-4o', 'body': 'offline'}

    assert roles_of('offline', settings, {}) == ['Body']
