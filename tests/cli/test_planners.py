"""Planners by name on the command line."""

from __future__ import annotations

from collections.abc import Callable

from typer.testing import Result

from bbllm.core.registry import planner_names

Command = Callable[..., Result]
Script = Callable[..., None]
TASK = 'put the lighter cube on location_B'


def test_plan_of_a_planner_that_observes_first_is_its_first_round(
    bbllm: Command, script: Script
) -> None:
    unknown = 'FAIL\nThe weight of red_cube is not known.'
    script(unknown, 'EXPLAIN\nWeigh it.\nEXECUTE\nACTION PICK red_cube', unknown)

    result = bbllm('plan', TASK, '--planner', 'llm_pop')

    assert result.exit_code == 0
    lines = [' '.join(line.split()) for line in result.stdout.splitlines()]
    assert lines[1] == '0 PICK red_cube pick(red_cube)'
    assert lines[2].startswith('That is the first round.')


def test_help_lists_every_planner(bbllm: Command) -> None:
    words = bbllm('plan', '--help').output

    assert [name for name in planner_names() if name not in words] == []
