"""Whether a goal was ever reached, which is how FLTRNN judges, beside what is left at the end."""

from __future__ import annotations

import dataclasses
import io

import pytest
from household_cases import case_of
from made_results import make_result, make_settings
from rich.console import Console
from test_play_household import PROGRAM, played

from bbllm.bench.metrics import figures_of
from bbllm.bench.summary import summarize_run
from bbllm.bench.summary_table import print_summary

SPOILT = f"{PROGRAM.rstrip()}\n    open('fridge')\n    grab('salmon')\n"


def test_a_goal_that_is_spoilt_again_was_held_once_and_has_failed() -> None:
    kept, _ = played(PROGRAM)
    spoilt, _ = played(SPOILT)

    assert (kept.verdict, kept.held_once) == ('passed', True)
    assert (spoilt.verdict, spoilt.held_once) == ('failed', True)


def test_a_goal_that_was_never_reached_was_not_held() -> None:
    never, _ = played("    # 1: go\n    find('salmon')")
    refused, _ = played("    # 1: take\n    grab('unicorn')\n    open('fridge')")

    assert (never.held_once, refused.held_once) == (False, False)


def test_where_nothing_is_left_to_do_no_step_is_needed() -> None:
    case = case_of('put_salmon_in_the_fridge')
    ids = {node['class_name']: node['id'] for node in case.house.graph['nodes']}
    edges = [edge for edge in case.house.graph['edges'] if edge['from_id'] != ids['salmon']]
    inside = {'from_id': ids['salmon'], 'relation_type': 'INSIDE', 'to_id': ids['fridge']}
    graph = {**case.house.graph, 'edges': [*edges, inside]}
    there = dataclasses.replace(case, scene=case.house.model_copy(update={'graph': graph}))

    result, _ = played('cannot: it is there', case=there, planner='llm_state:states=no')

    assert (result.verdict, result.attempted, result.held_once) == ('passed', 0, True)


def test_the_share_is_over_the_episodes_in_which_somebody_looked() -> None:
    results = [
        make_result(trial=0, held_once=True),
        make_result(trial=1, verdict='failed', held_once=True),
        make_result(trial=2, verdict='failed', held_once=False),
        make_result(trial=3),
        make_result(trial=4, verdict='lost'),
    ]

    figures = figures_of(results)
    stream = io.StringIO()
    print_summary(summarize_run(make_settings(), results, []), Console(file=stream, width=200))

    assert (figures.held_once.value, figures.held_once.n) == (pytest.approx(2 / 3), 3)
    assert 'so after some step with K = 3, as FLTRNN judges: 0.67 [' in stream.getvalue()
    assert figures_of([make_result()]).held_once.n == 0
