"""Planners by name on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result

from bbllm.cli.views.progress import Progress, StepState
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import PlanMade, RepairBegun, StepBegun
from bbllm.core.registry import planner_names
from bbllm.core.types import Code, Outcome, Plan, PlanStep, SkillCall, Status, Task

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


def test_of_a_planner_that_goes_on_from_what_it_observes_failed_actions_show_as_failed() -> None:
    progress = Progress()
    run = EpisodeRun(Task('t', TASK), planner='p', brain='b', body='b', sinks=[progress.take])
    weigh = Plan(tuple(PlanStep(i, text) for i, text in enumerate(('PICK a', 'WAIT', 'RESET'))))
    go_on = Plan((weigh.steps[0], PlanStep(1, 'PLACE [1 2 3]'), PlanStep(2, 'PICK b')))

    run.emit(PlanMade.of(weigh, 0))
    run.emit(StepBegun.of(weigh.steps[0]))
    run.emit(SkillCall('pick', ('a',)))
    run.emit(
        Outcome(
            call=SkillCall('pick', ('a',)),
            status=Status.FAILED,
            code=Code.WOULD_NOT_RISE,
            message='It is fixed.',
        )
    )
    run.emit(RepairBegun.of(go_on.steps[1], 'a is fixed.'))
    run.emit(PlanMade.of(go_on, 1))
    run.emit(StepBegun.of(go_on.steps[1]))
    run.emit(StepBegun.of(go_on.steps[2]))

    rows = [(row.text, row.state, row.note) for row in progress.rows]
    assert rows[0] == ('PICK a', StepState.FAILED, 'It is fixed.')
    assert rows[-2:] == [
        ('PLACE [1 2 3]', StepState.FAILED, ''),
        ('PICK b', StepState.RUNNING, ''),
    ]


def test_options_of_a_planner_go_after_a_colon_and_stay_part_of_its_name(
    bbllm: Command, script: Script
) -> None:
    spec = 'prog_prompt:check=graph,grounding=nearest'
    recovery = "assert('red_cube' in 'hands')\n\telse: pick('red_cube')"
    script(f"# 1: take it\n{recovery}\nplace('location_B')")

    result = bbllm('plan', TASK, '--planner', spec, '--json')

    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told['planner'] == spec
    assert [row['call'] for row in told['plan']] == ['pick(red_cube)', 'place(location_B)']


def test_an_option_that_is_none_is_refused_with_those_there_are(bbllm: Command) -> None:
    result = bbllm('plan', TASK, '--planner', 'prog_prompt:chek=graph')

    assert result.exit_code == 2
    assert "Did you mean 'check'?" in ' '.join(result.output.split())


def test_a_planner_that_matches_by_embedding_is_refused_without_it(
    bbllm: Command, script: Script
) -> None:
    script('0: Done')

    result = bbllm('plan', TASK, '--planner', 'huang')

    assert result.exit_code == 2
    assert '`--mapping embedding`' in ' '.join(result.output.split())
