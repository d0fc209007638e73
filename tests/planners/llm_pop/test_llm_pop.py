"""LLM-POP's loop: evaluate, plan, carry out, observe, and again."""

import pytest

from bbllm.core.errors import GaveUpError, ParseError, PromptTooLongError
from bbllm.testing import ScriptedModel
from tests.planners.pop_runs import ACT, BOTH, DONE, LIGHTER, UNKNOWN, WEIGH, Scales, run, section
from tests.planners.symbolic_table import Diary, busy_table


def test_what_is_not_known_is_found_out_before_it_acts() -> None:
    world, context = Scales(busy_table(), {'red_cube': 0.6, 'blue_cube': 1.1}), Diary()

    run(ScriptedModel([UNKNOWN, WEIGH, LIGHTER, ACT, DONE]), world, context)

    assert world.table.on('red_cube') == 'location_A'
    assert context.repairs == [LIGHTER.removeprefix('FAIL\n')]
    first, second = ([step.text for step in plan.steps] for plan in context.plans)
    assert first[:2] == ['PICK red_cube', 'PLACE [0.35 0.12 0.02 1 0 0 0]'] == second[:2]
    assert [step.index for step in context.plans[1].steps] == list(range(7))
    assert context.lines[5:8] == ['repair 4', 'plan from 4', 'step 4: PICK red_cube']
    assert not context.failed and not context.warnings


def test_a_failed_action_ends_its_round_and_what_came_after_is_not_tried() -> None:
    world, context = busy_table(unreachable=['location_A']), Diary()
    model = ScriptedModel([UNKNOWN, ACT, 'FAIL\nIt is too far away.', WEIGH, DONE])

    run(model, world, context)

    assert world.calls[:2] == ['pick(red_cube)', 'place(0.54 -0.18 0.02 1 0 0 0)']
    assert section(model.requests[2], 'History').splitlines()[-4:-1] == [
        'Result 1: failed: location_A is out of the workspace of the robot.',
        section(model.requests[2], 'History').splitlines()[-3],
        'Action 2: RESET',
    ]
    assert section(model.requests[2], 'History').endswith('\nResult 2: not tried')
    assert [step.text for step in context.plans[1].steps[1:3]] == [
        'PLACE [0.54 -0.18 0.02 1 0 0 0]',
        'PICK red_cube',
    ]
    assert context.plans[1].steps[2].index == 2
    assert not context.failed


@pytest.mark.parametrize(
    ('pose', 'states'),
    [
        ('0.5 0 0.02', 'has 3 numbers, but PLACE takes a pose of seven'),
        ('0.5 0 0.02 0 0 0 1', 'degrees away from straight down'),
        ('0.5 0 0.02 1 1 0 0', 'has a quaternion of length 1.41'),
    ],
)
def test_a_pose_that_will_not_do_comes_back_as_the_result_and_nothing_moves(
    pose: str, states: str
) -> None:
    world = busy_table()
    plan = f'EXPLAIN\nx\nEXECUTE\nACTION PICK red_cube\nACTION PLACE [{pose}]\nACTION RESET'
    model = ScriptedModel([UNKNOWN, plan, DONE])

    run(model, world, Diary())

    assert world.held == 'red_cube'
    (line,) = (line for line in model.requests[2].prompt.splitlines() if line[:9] == 'Result 1:')
    assert line.startswith('Result 1: failed: ')
    assert states in line


@pytest.mark.parametrize('k', [0, 1, 3])
def test_when_the_rounds_are_used_up_the_evaluator_has_the_last_word(k: int) -> None:
    context = Diary()
    model = ScriptedModel([UNKNOWN, WEIGH] * (k + 1) + ['FAIL\nIt fell over.'])

    with pytest.raises(GaveUpError, match=r'^The task is not done, and .*: It fell over\.$'):
        run(model, busy_table(), context, k=k)

    assert len(context.repairs) == k
    assert len(model.requests) == 2 * (k + 1) + 1


def test_without_evaluator_more_actions_than_rounds_are_not_carried_out() -> None:
    world = busy_table()

    with pytest.raises(GaveUpError, match='all 1 feedback loops are used up: The red one goes'):
        run(ScriptedModel([WEIGH, WEIGH, ACT]), world, Diary(), evaluator=False, k=1)

    assert world.calls[:3] == BOTH
    assert len(world.calls) == 8


@pytest.mark.parametrize('replies', [['eh?', 'eh?'], [UNKNOWN, 'eh?', 'eh?']])
def test_a_reply_that_cannot_be_read_twice_ends_the_run_before_anything_moves(
    replies: list[str],
) -> None:
    world, context = busy_table(), Diary()

    with pytest.raises(ParseError, match='Neither of two replies'):
        run(ScriptedModel(replies), world, context)

    assert world.calls == []
    assert len(context.warnings) == 1


def test_a_remark_within_a_round_ends_it_and_is_part_of_the_task_from_then_on() -> None:
    world, context = busy_table(), Diary(between={0: 'leave the blue one alone'})
    model = ScriptedModel([UNKNOWN, WEIGH, LIGHTER, 'EXECUTE\nACTION RESET', DONE])

    run(model, world, context)

    assert world.calls == ['pick(red_cube)', 'return_to_base()']
    history = section(model.requests[2], 'History').splitlines()
    assert history[-1] == 'Result 3: not tried'
    for request in model.requests[2:]:
        assert request.prompt.count('The person added: leave the blue one alone\n') == 1
    assert context.plans[1].steps[1].text == 'RESET'


def test_a_prompt_that_the_model_finds_too_long_is_sent_with_less_history() -> None:
    context = Diary()
    too_long = PromptTooLongError('The context is 4096 tokens.')
    model = ScriptedModel(
        [UNKNOWN, WEIGH, UNKNOWN, WEIGH, UNKNOWN, WEIGH, too_long, LIGHTER, ACT, DONE]
    )

    run(model, busy_table(), context)

    refused, sent = model.requests[6:8]
    assert len(sent.prompt) < len(refused.prompt)
    assert section(refused, 'Current observation') == section(sent, 'Current observation')
    assert 'Round 0 in short: ' in section(sent, 'History')
    assert len(context.warnings) == 1
