"""Base-LLM: a program at once, carried out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import GaveUpError, ModelUnavailableError, ParseError
from bbllm.core.events import Ending, EventKind
from bbllm.core.protocols import Pass
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.brain_body.base_llm import BaseLLM

TASK = Task('t', 'put the red cube on location_A')
PROGRAM = """0: <rob0>[pick] <red_cube>
1: <rob0>[place] <location_A>
2: <rob0>[return_to_base]
3: Done"""

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]


class NoBody:
    """A Body that must not be asked."""

    name = 'none'

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        raise AssertionError(f'the Body was asked: {step}')


def run(model: Any, world: Any, context: Any, *, task: Task = TASK, k: int = 3) -> None:
    BaseLLM(model, NoBody(), k=k).run(task, world, context)


def test_one_request_becomes_all_calls(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context, model = busy_table(), diary(), ScriptedModel([PROGRAM])

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
def test_a_failure_is_told_and_the_program_goes_on(
    busy_table: Tabletop, diary: DiaryType, k: int
) -> None:
    world, context = busy_table(unreachable=['red_cube']), diary()
    model = ScriptedModel([PROGRAM])

    run(model, world, context, k=k)

    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert context.failed == [
        (0, 'red_cube is out of the workspace of the robot.'),
        (1, 'Nothing is in the hand that could be placed.'),
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
    busy_table: Tabletop, diary: DiaryType, line: str, cause: str
) -> None:
    world, context = busy_table(), diary()

    run(ScriptedModel([f'0: {line}\n1: <rob0>[return_to_base]']), world, context)

    assert world.calls == ['return_to_base()']
    assert context.lines[1:3] == [f'step 0: {line}', 'failed 0']
    assert cause in context.failed[0][1]


def test_a_pass_is_told_as_one(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(), diary()

    run(ScriptedModel(['0: <pass>\n1: <rob0>[return_to_base]']), world, context)

    assert 'pass 0' in context.lines
    assert world.calls == ['return_to_base()']


def test_a_reply_without_a_line_is_asked_for_once_more(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(), diary()

    run(ScriptedModel(['Certainly!', PROGRAM]), world, context)

    assert world.on('red_cube') == 'location_A'
    assert len(context.warnings) == 1
    with pytest.raises(ParseError, match='asked twice'):
        run(ScriptedModel(['Certainly!', 'Of course!']), busy_table(), diary())


@pytest.mark.parametrize(
    ('reply', 'error'),
    [('cannot: there is no shirt', GaveUpError), (ModelUnavailableError('down'),) * 2],
)
def test_giving_up_and_errors_pass_through(
    busy_table: Tabletop, diary: DiaryType, reply: Any, error: Any
) -> None:
    expected = error if isinstance(error, type) else type(error)
    world = busy_table()

    with pytest.raises(expected):
        run(ScriptedModel([reply]), world, diary())
    assert world.calls == []


def test_in_the_journal_a_line_that_is_no_call_is_a_step_without_a_call(
    busy_table: Tabletop,
) -> None:
    model = ScriptedModel(['0: <rob0>[fly] <red_cube>\n1: <rob0>[return_to_base]'])
    episode_run = EpisodeRun(TASK, planner='base_llm', brain='scripted', body='none')

    episode = episode_run.execute(
        BaseLLM(episode_run.model(model, 'brain'), NoBody()), busy_table()
    )

    kinds = [event.kind for event in episode.events]
    start = kinds.index(EventKind.STEP)
    assert kinds[start : start + 5] == [
        EventKind.STEP,
        EventKind.FAILED,
        EventKind.STEP,
        EventKind.CALL,
        EventKind.OUTCOME,
    ]
    assert episode.ending is Ending.GAVE_UP
    assert 'fly' in episode.message
    assert episode.feedback_loops == 0
