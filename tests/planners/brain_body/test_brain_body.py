"""Algorithm 1, branch by branch."""

from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ParseError
from bbllm.core.events import Episode, EventKind
from bbllm.core.protocols import PASS, Body, Pass
from bbllm.core.types import Code, Fact, PlanStep, Scene, SkillCall, Task
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.common.belief.open_state import OpenState, with_open_facts
from bbllm.testing import ScriptedModel
from tests.planners.chosen import chosen
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'put the red cube on location_A')
PLAN = '0: pick(red_cube)\n1: place(location_A)\n2: return_to_base()'


class LiteralBody:
    """Takes steps that are written as calls by their word; passes on `admire`."""

    name, reads_calls = 'literal', False

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


NO_ACTION = 'The Body found no action for this step: no listed action does what it says.'


def test_a_step_that_is_passed_or_no_call_goes_back_to_the_brain_with_the_reason() -> None:
    world, context = busy_table(), Diary()
    brain = ScriptedModel(
        [
            '0: admire the cube\n1: pick(red_cube)',
            'New plan:\n0: mumble\n1: pick(red_cube)',
            'New plan:\n0: pick(red_cube)',
        ]
    )

    run(brain, world, context)

    assert world.calls == ['pick(red_cube)']
    assert 'pass 0' not in context.lines and not context.failed
    assert context.repairs == [
        NO_ACTION,
        'This step could not be turned into a call. No action was found.',
    ]
    assert f'Feedback: {NO_ACTION}' in brain.requests[1].prompt


@pytest.mark.parametrize(('replies', 'k'), [([], 0), (['eh?', 'eh?'], 1)])
def test_a_step_that_no_repair_replaces_stays_passed_and_does_not_fail(
    replies: list[str], k: int
) -> None:
    world, context = busy_table(), Diary()

    run(ScriptedModel(['0: admire it\n1: pick(red_cube)', *replies]), world, context, k=k)

    assert world.calls == ['pick(red_cube)']
    assert 'pass 0' in context.lines and not context.failed
    assert context.warnings[-1] == f"Step 0 ('admire it') was passed: {NO_ACTION}"


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


def test_a_first_plan_that_does_not_parse_twice_ends_the_run() -> None:
    brain = ScriptedModel(['hello', '3: pick(red_cube)'])

    context = Diary()

    with pytest.raises(ParseError, match=r'^Neither of two replies.* begins with number 3'):
        run(brain, busy_table(), context)

    (warning,) = context.warnings
    assert warning.startswith('A reply of scripted cannot be read')
    assert 'No numbered step was found' in warning
    assert 'No numbered step was found' in brain.requests[1].prompt


def test_a_refusal_is_quoted_in_one_line_that_can_be_printed() -> None:
    refusal = "I can't help\n with\x1b[2J that.\u202e " + 100 * 'Sorry. '

    with pytest.raises(ParseError) as caught:
        run(ScriptedModel([refusal, refusal]), busy_table(), Diary())

    remark = str(caught.value).partition('The second was: ')[2]
    assert remark.startswith('"I can\'t help with [2J that. Sorry.')
    assert remark.endswith(' ..."')
    assert len(remark) < 210
    assert remark.isprintable()


def test_a_repair_that_does_not_parse_twice_costs_its_loop_and_the_plan_goes_on() -> None:
    world, context = busy_table(unreachable=['location_A']), Diary()
    brain = ScriptedModel([PLAN, 'sorry', 'sorry'])

    run(brain, world, context)

    assert context.failed == [(1, 'location_A is out of the workspace of the robot.')]
    assert 'asked again. No numbered step' in context.warnings[0]
    assert 'from step 1 on that can be read: Neither of two replies' in context.warnings[1]
    assert world.calls[-1] == 'return_to_base()'


@pytest.mark.parametrize('k', [0, 3])
def test_a_remark_between_steps_joins_the_task_and_costs_no_loop(k: int) -> None:
    world, context = busy_table(), Diary({1: 'location_B is better'})
    brain = ScriptedModel([PLAN, 'New plan:\n1: place(location_B)'])

    run(brain, world, context, k=k)

    assert world.calls == ['pick(red_cube)', 'place(location_B)']
    assert context.repairs == ['Before this step a person said: location_B is better']
    prompt = brain.requests[1].prompt
    assert f'\nTask: {TASK.instruction}\nThe person added: location_B is better\n' in prompt
    assert prompt.count('location_B is better') == 1
    assert f'Left after this reply: {k} repairs of a step that fails.\n' in prompt
    assert 'step 1: place(location_A)' not in context.lines


def test_a_remark_for_which_no_plan_can_be_read_does_not_cost_the_step() -> None:
    world, context = busy_table(), Diary({1: 'mumble'})

    run(ScriptedModel([PLAN, 'eh?', 'eh?']), world, context)

    assert world.on('red_cube') == 'location_A'
    assert 'asked again' in context.warnings[0] and not context.failed


MISSED = ('pick(red_cube)', Code.GRASP_FAILED, 'The fingers closed on nothing.')
AGAIN = 'Explanation: once more.\nNew plan:\n0: pick(red_cube)\n1: place(location_A)'
HEADING = 'Believed, not sensed:'


def play(
    brain: Any, world: Any, *, task: Task = TASK, body: Any = None, k: int = 3, **options: str
) -> Episode:
    run = EpisodeRun(task, planner='brain_body', brain='b', body='b')
    planner = BrainBody(
        run.model(brain, 'brain'),
        body or LiteralBody(),
        k=k,
        options=chosen('brain_body', **options),
    )
    return run.execute(planner, world)


def believed_in(prompt: str) -> list[str]:
    """Return the lines under the last heading."""
    lines = prompt.rpartition(f'{HEADING}\n')[2] if HEADING in prompt else ''
    return lines.partition('\n\n')[0].splitlines()


def test_without_beliefs_in_scenes_or_with_no_prompts_are_what_they_were() -> None:
    silent, plain, given = (ScriptedModel([PLAN, AGAIN]) for _ in range(3))

    play(plain, busy_table(faults=[MISSED]))
    play(silent, Believing(busy_table(faults=[MISSED])), open_state='no')
    play(given, Believing(busy_table(faults=[MISSED])))

    assert HEADING not in plain.requests[1].prompt
    # What a node adds to scenes changes nothing for who does not read it.
    assert [r.prompt for r in plain.requests] == [r.prompt for r in silent.requests]
    assert all(believed_in(r.prompt) for r in given.requests)


class Believing:
    """A world whose scenes bring an open state, as those of the node may."""

    def __init__(self, inner: Any):
        self._inner = inner
        self.skills, self.execute, self.stop = inner.skills, inner.execute, inner.stop

    def observe(self) -> Scene:
        return with_open_facts(
            self._inner.observe(), OpenState({'blue_cube': ('fixed_or_heavy',)})
        )


def test_beliefs_of_scenes_reach_the_prompt_and_nothing_is_estimated_twice() -> None:
    brain = ScriptedModel([PLAN, AGAIN])

    episode = play(brain, Believing(busy_table(faults=[MISSED])), open_state='rules')

    fixed = str(Fact('blue_cube', 'is', 'fixed_or_heavy'))
    assert [believed_in(request.prompt) for request in brain.requests] == [[fixed], [fixed]]
    assert not [event for event in episode.events if event.kind is EventKind.ESTIMATED]
