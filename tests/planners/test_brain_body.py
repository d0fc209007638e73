"""Algorithm 1, branch by branch."""

from __future__ import annotations

from typing import Any

import pytest
from symbolic_table import Diary, busy_table

from bbllm.core.errors import ParseError
from bbllm.core.protocols import PASS, Body, Pass
from bbllm.core.types import Code, PlanStep, Scene, SkillCall, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.brain_body.planner import BrainBody

TASK = Task('t', 'put the red cube on location_A')
PLAN = '0: pick(red_cube)\n1: place(location_A)\n2: return_to_base()'
ABORTED = ('place(location_A)', Code.CONTROLLER_ABORTED, 'The controller gave up.')


class LiteralBody:
    """Takes steps that are written as calls by their word; passes on `admire`."""

    name = 'literal'

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        skill, _, rest = step.text.partition('(')
        if skill.startswith('admire'):
            return PASS
        if skill == 'mumble':
            raise ParseError('No action was found.')
        return SkillCall(skill, tuple(arg for arg in rest.strip(')').split(', ') if arg))


def run(
    brain: ScriptedModel, world: Any, context: Any, *, k: int = 3, body: Body | None = None
) -> None:
    BrainBody(brain, body or LiteralBody(), k=k).run(TASK, world, context)


def test_a_plan_without_failures_takes_one_call_of_the_brain() -> None:
    world, context, brain = busy_table(), Diary(), ScriptedModel([PLAN])

    run(brain, world, context)

    assert world.on('red_cube') == 'location_A'
    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert len(brain.requests) == 1
    assert context.lines[0] == 'plan from 0'
    assert not context.repairs and not context.failed


def test_a_step_that_the_body_passes_on_is_left_out() -> None:
    world, context = busy_table(), Diary()

    run(ScriptedModel(['0: admire the cube\n1: pick(red_cube)']), world, context)

    assert world.calls == ['pick(red_cube)']
    assert 'pass 0' in context.lines
    assert not context.failed


def test_a_failed_step_goes_back_to_the_brain_which_plans_on_from_it() -> None:
    world, context = busy_table(unreachable=['location_A']), Diary()
    brain = ScriptedModel(
        [PLAN, 'Explanation: too far.\nNew plan:\n1: place(location_B)\n2: return_to_base()']
    )

    run(brain, world, context)

    assert world.on('red_cube') == 'location_B'
    assert context.repairs == ['location_A is out of the workspace of the robot.']
    assert context.lines[3:6] == ['repair 1', 'plan from 1', 'step 1: place(location_B)']
    assert [step.text for step in context.plans[-1].steps] == [
        'pick(red_cube)',
        'place(location_B)',
        'return_to_base()',
    ]
    prompt = brain.requests[1].prompt
    assert 'Earlier plan:\n0: pick(red_cube)\n1: place(location_A)' in prompt
    assert 'Error step: 1\nFeedback: location_A is out of the workspace of the robot.' in prompt
    assert '(red_cube held_by hand)' in prompt


def test_feedback_loops_are_counted_over_the_whole_episode_and_then_steps_stay_failed() -> None:
    world = busy_table(unreachable=['red_cube', 'green_cube', 'blue_cube'])
    context = Diary()
    brain = ScriptedModel(
        [
            '0: pick(red_cube)\n1: wait(1)',
            'New plan:\n0: wait(2)\n1: pick(green_cube)\n2: wait(1)',
            'New plan:\n1: pick(blue_cube)\n2: pick(red_cube)\n3: wait(3)',
        ]
    )

    run(brain, world, context, k=2)

    assert len(context.repairs) == 2
    assert context.failed == [
        (1, 'blue_cube is out of the workspace of the robot.'),
        (2, 'red_cube is out of the workspace of the robot.'),
    ]
    assert world.calls[-1] == 'wait(3)'


def test_a_repair_may_find_that_nothing_is_left_to_do() -> None:
    world, context = busy_table(faults=[ABORTED]), Diary()

    run(ScriptedModel([PLAN, 'New plan:\n1: Done']), world, context)

    assert world.calls == ['pick(red_cube)', 'place(location_A)']
    assert not context.failed


def test_a_step_that_the_body_cannot_put_into_a_call_fails_with_that_reason() -> None:
    world, context = busy_table(), Diary()
    brain = ScriptedModel(['0: mumble\n1: pick(red_cube)', 'New plan:\n0: pick(red_cube)'])

    run(brain, world, context)

    assert world.calls == ['pick(red_cube)']
    assert context.repairs == ['This step could not be turned into a call. No action was found.']


def test_a_first_plan_that_does_not_parse_twice_ends_the_run() -> None:
    brain = ScriptedModel(['hello', '3: pick(red_cube)'])

    context = Diary()

    with pytest.raises(ParseError, match=r'^scripted was asked twice.* begins with number 3'):
        run(brain, busy_table(), context)

    (warning,) = context.warnings
    assert warning.startswith('A reply of scripted cannot be read')
    assert 'No numbered step was found' in warning
    assert 'No numbered step was found' in brain.requests[1].prompt


def test_a_refusal_is_quoted_in_one_line_that_can_be_printed() -> None:
    refusal = "I can't help\n with\x1b[2J that.\u202e " + 100 * 'Sorry. '

    with pytest.raises(ParseError) as caught:
        run(ScriptedModel([refusal, refusal]), busy_table(), Diary())

    said = str(caught.value).partition('It said: ')[2]
    assert said.startswith('"I can\'t help with [2J that. Sorry.')
    assert said.endswith(' ..."')
    assert len(said) < 210
    assert said.isprintable()


def test_a_repair_that_does_not_parse_twice_costs_its_loop_and_the_plan_goes_on() -> None:
    world, context = busy_table(unreachable=['location_A']), Diary()
    brain = ScriptedModel([PLAN, 'sorry', 'sorry'])

    run(brain, world, context)

    assert context.failed == [(1, 'location_A is out of the workspace of the robot.')]
    assert 'asked again. No numbered step' in context.warnings[0]
    assert 'from step 1 on that can be read: scripted was asked twice' in context.warnings[1]
    assert world.calls[-1] == 'return_to_base()'


def test_what_a_person_says_between_steps_is_feedback_on_the_next_step() -> None:
    world, context = busy_table(), Diary({1: 'location_B is better'})
    brain = ScriptedModel([PLAN, 'New plan:\n1: place(location_B)'])

    run(brain, world, context)

    assert world.calls == ['pick(red_cube)', 'place(location_B)']
    assert context.repairs == ['Before this step a person said: location_B is better']
    assert 'Human feedback: location_B is better\n' in brain.requests[1].prompt
    assert 'step 1: place(location_A)' not in context.lines


def test_what_a_person_says_when_the_loops_are_used_up_is_too_late() -> None:
    world, context = busy_table(), Diary({1: 'stop that'})

    run(ScriptedModel([PLAN]), world, context, k=0)

    assert world.on('red_cube') == 'location_A'
    assert "too late: 'stop that'" in context.warnings[0]


def test_a_person_who_is_not_understood_by_the_brain_does_not_cost_the_step() -> None:
    world, context = busy_table(), Diary({1: 'mumble'})

    run(ScriptedModel([PLAN, 'eh?', 'eh?']), world, context)

    assert world.on('red_cube') == 'location_A'
    assert not context.failed
