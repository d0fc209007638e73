"""Base-LLM: a program at once, carried out once."""

from typing import Any

import pytest

from bbllm.core.types import Task
from bbllm.planners.brain_body.base_llm import BaseLLM
from bbllm.testing import ScriptedModel
from tests.planners.pop_runs import NoBody
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'put the red cube on location_A')
PROGRAM = """0: <rob0>[pick] <red_cube>
1: <rob0>[place] <location_A>
2: <rob0>[return_to_base]
3: Done"""


def run(model: Any, world: Any, context: Any, *, task: Task = TASK, k: int = 3) -> None:
    BaseLLM(model, NoBody(), k=k).run(task, world, context)


def test_one_request_becomes_all_calls() -> None:
    world, context, model = busy_table(), Diary(), ScriptedModel([PROGRAM])

    run(model, world, context)

    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert world.on('red_cube') == 'location_A'
    assert len(model.requests) == 1
    assert context.lines == [
        'plan from 0',
        'step 0: <rob0>[pick] <red_cube>',
        'step 1: <rob0>[place] <location_A>',
        'step 2: <rob0>[return_to_base]',
    ]


@pytest.mark.parametrize('k', [0, 3])
def test_a_failure_is_reported_and_the_program_continues(k: int) -> None:
    world, context = busy_table(unreachable=['red_cube']), Diary()
    model = ScriptedModel([PROGRAM])

    run(model, world, context, k=k)

    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert context.failed == [
        (0, 'red_cube is out of the workspace of the robot.'),
        (1, 'nothing is in the hand, so nothing can be placed; pick an object first.'),
    ]
    assert context.repairs == []
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ('line', 'cause'),
    [
        ('<rob0>[polish] <red_cube>', "There is no skill named 'polish'"),
        ('<rob0>[pick] <unicorn>', "There is no object named 'unicorn'"),
        ('<rob0>[pick]', 'pick takes object, but got 0 arguments'),
        ('take the red cube', 'No action was found'),
        ('<rob0>[place] <9 9 9>', 'too far away'),
        ('os.system("true")', 'No action was found'),
    ],
)
def test_a_line_that_is_no_call_never_reaches_the_world_and_counts_as_a_failed_step(
    line: str, cause: str
) -> None:
    world, context = busy_table(), Diary()

    run(ScriptedModel([f'0: {line}\n1: <rob0>[return_to_base]']), world, context)

    assert world.calls == ['return_to_base()']
    assert context.lines[1:3] == [f'step 0: {line}', 'failed 0']
    assert cause in context.failed[0][1]
