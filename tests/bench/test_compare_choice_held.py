"""Who is named beside `all` plays once, and nobody is told of loops that a planner has not."""

from __future__ import annotations

from pathlib import Path

from bbllm.bench.compare.choice import choose
from bbllm.bench.runner.run_setup import RunRequest, prepare


def test_who_is_named_beside_all_plays_once(tmp_path: Path) -> None:
    request = RunRequest(suite='tabletop', brain='offline', body='offline', trials=1)

    choice = choose(request, 'brain_body,all', tmp_path / 'out')

    assert [item.planner for item in choice.contenders] == ['brain_body', 'base_llm']
    left_out = [item.planner for item in choice.left_out]
    assert len(left_out) == len({*left_out})
    assert 'brain_body' not in left_out


def test_that_a_planner_has_no_feedback_loops_is_no_notice_of_a_comparison(
    tmp_path: Path,
) -> None:
    request = RunRequest(
        suite='household', planner='base_llm', brain='expert', body='expert', trials=1, ks=(2,)
    )

    choice = choose(request, 'base_llm,brain_body', tmp_path / 'out')

    assert any('no feedback loops' in text for text in prepare(request, tmp_path / 'x').notices)
    assert not any('no feedback loops' in text for text in choice.notices)
