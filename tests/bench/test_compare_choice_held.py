"""Who is named beside `all` plays once."""

from __future__ import annotations

from pathlib import Path

from bbllm.bench.compare_choice import choose
from bbllm.bench.run_setup import RunRequest


def test_who_is_named_beside_all_plays_once(tmp_path: Path) -> None:
    request = RunRequest(suite='tabletop', brain='offline', body='offline', trials=1)

    choice = choose(request, 'brain_body,all', tmp_path / 'out')

    assert [item.planner for item in choice.contenders] == ['brain_body', 'base_llm']
    left_out = [item.planner for item in choice.left_out]
    assert len(left_out) == len({*left_out})
    assert 'brain_body' not in left_out
