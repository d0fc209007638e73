"""Nothing moves before a person has allowed it: real processes, judged at the robot."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from bbllm_interfaces.msg import Approval
from diagnostic_msgs.msg import DiagnosticArray

from bbllm.arm.driver import GoalStatus, Tolerances
from bbllm.core.approval import Answer, RequestKind, plan_hash
from bbllm.core.errors import ApprovalError
from bbllm.core.events import Ending, EventKind
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Code, Plan, PlanStep, SkillCall, Status
from bbllm.testing import ModelServer
from bbllm_ros.convert.approval import approval_to_msg
from bbllm_ros.convert.records import LATCHED, plan_to_msg
from tests.ros.asking import BODY, PICK_PLACE, TASK, YES, end, models, prompt_of
from tests.ros.drivers import driver_of, move
from tests.ros.robots import Robot, nothing_waits, request_of
from tests.ros.stacks import Background, Running, inject, log_of, set_parameter, until

pytestmark = pytest.mark.ros


def plan_sent(stack: Running, count: int = 1) -> tuple[str, Plan]:
    """Return the episode's id and its newest plan, as the episode told them."""
    event = stack.wait_for(EventKind.PLAN, count)
    steps: Any = event.data.steps
    episode_id = stack.wait_for(EventKind.STARTED).data.episode_id
    return str(episode_id), Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))


@pytest.fixture
def rehearsing(stack: Running) -> Iterator[None]:
    """Rehearse plans, as the shipped parameters do."""
    assert not set_parameter(stack, 'brain_planner', 'rehearse', -1)
    yield
    # A parameter that shapes episodes changes between them only.
    until(lambda: not set_parameter(stack, 'brain_planner', 'rehearse', 0), 'end of the episode')


@pytest.mark.usefixtures('rehearsing')
def test_nothing_moves_before_a_person_has_approved_that_very_plan(
    stack: Running, robot: Robot
) -> None:
    task = stack.begin(TASK, goal='on(red_cube, location_B)')
    request = request_of(stack)
    episode_id, plan = plan_sent(stack)

    assert request.goal == ('red_cube is on location_B',)
    assert stack.wait_for(EventKind.GOAL).data.conditions == request.goal
    assert request.steps == tuple(step.text for step in plan.steps)
    assert request.rehearsal[0].startswith('3 of 3 simulations succeeded')
    assert request.episode_id == episode_id
    for wrong in ('', request.hash[:12], 'f' * 64, plan_hash(episode_id, 0, plan, request.goal)):
        with pytest.raises(ApprovalError, match='not what waits now'):
            stack.client.approvals.answer(wrong, YES)
    assert robot.stood_still()

    stack.client.approvals.answer(request.hash, YES)

    result = task.result()
    assert (result.ending, result.feedback_loops) == (Ending.FINISHED, 0), result.message
    assert result.goal == 'met'
    assert robot.goals > 3
    approvals = [
        e
        for e in read_episode(episodes_dir() / f'{episode_id}.jsonl').events
        if e.kind is EventKind.APPROVAL
    ]
    assert [event.data.text for event in approvals] == [
        f'plan {request.hash[:12]} approved by ann'
    ]
    log = log_of(stack.stack, 'fr3_executor')
    assert f'plan {request.hash[:12]} approved by ann' in log
    assert 'Approvals are revoked' not in log  # by goals of its own


def test_brain_receives_why_a_plan_was_denied_and_the_repaired_plan_needs_approval(
    stack: Running, robot: Robot, server: ModelServer
) -> None:
    repaired = 'It is wanted elsewhere.\nNew plan:\n0: pick the blue cube\n1: place it on '
    repaired += 'location_C\n2: Done'
    server.will(models([*PICK_PLACE, repaired], BODY))
    task = stack.begin(TASK)
    first = request_of(stack)
    reason = 'the red cube is glued to the table'

    stack.client.approvals.answer(first.hash, Answer(granted=False, reason=reason, by='ann'))

    stack.wait_for(EventKind.PLAN, 2)
    second = request_of(stack, after=first)
    outcome = stack.wait_for(EventKind.OUTCOME).data
    assert (outcome.status.name, outcome.code.name) == ('REJECTED', 'NOT_APPROVED')
    assert outcome.message == f'A person did not approve this plan: {reason}.'
    asked = [prompt_of(body) for body in server.bodies]
    assert any(reason in prompt for prompt in asked)
    # The constraints are parameters of the executor alone.
    assert any('never touch the aqua cube' in prompt for prompt in asked)
    assert second.hash != first.hash
    assert second.reason == 'the Brain has planned anew'
    with pytest.raises(ApprovalError, match='not what waits now'):
        stack.client.approvals.answer(first.hash, YES)
    assert robot.stood_still()

    stack.client.approvals.answer(second.hash, YES)

    result = task.result()
    assert (result.ending, result.feedback_loops) == (Ending.FINISHED, 0)
    assert stack.client.scene().has('blue_cube', 'on', 'location_C')
    kept = [event.data.granted for event in stack.events if event.kind is EventKind.APPROVAL]
    assert kept == [False, True]


def test_a_plan_that_was_denied_is_asked_for_once(
    stack: Running, robot: Robot, server: ModelServer
) -> None:
    repaired = f'It has to be so.\nNew plan:\n{PICK_PLACE[0]}'
    server.will(models([*PICK_PLACE, repaired], BODY))
    task = stack.begin(TASK)
    denial = Answer(granted=False, reason='the red cube is glued', by='ann')

    stack.client.approvals.answer(request_of(stack).hash, denial)

    result = task.result()
    assert result.ending is Ending.WENT_IN_CIRCLES
    assert (
        'return to base": the red cube is glued. It was proposed again 2 times' in result.message
    )
    assert sum(event.kind is EventKind.APPROVAL for event in stack.events) == 1
    assert robot.stood_still()


def test_call_that_belongs_to_no_plan_is_refused_at_once(stack: Running, robot: Robot) -> None:
    outcome = stack.client.execute(SkillCall('return_to_base'))

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert 'bbllm run' in outcome.message
    assert robot.goals == 0
    assert stack.client.execute(SkillCall('wait', ('0.1',))).succeeded


def test_goals_that_claim_an_approved_plan_move_nothing(stack: Running, robot: Robot) -> None:
    steps = ('return to base', 'pick the red cube')
    episode_id = f'by-hand-{uuid.uuid4().hex[:8]}'

    def claim(call: SkillCall, steps: tuple[str, ...], step: int) -> Any:
        forged = Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))
        msg = plan_to_msg(forged, 0, episode_id, 0.0, revision=0)
        return stack.client.execute(call, plan=msg, step=step)

    first = Background(lambda: claim(SkillCall('return_to_base'), steps, 0))
    stack.client.approvals.answer(request_of(stack).hash, YES)
    assert first.result().succeeded
    robot.begin()

    other = claim(SkillCall('pick', ('blue_cube',)), (steps[0], 'pick the blue cube'), 1)
    beyond = claim(SkillCall('return_to_base'), steps, 2)
    again = Background(lambda: claim(SkillCall('return_to_base'), steps, 0))
    asked = request_of(stack, RequestKind.CALL)

    assert asked.reason == 'step 0 was tried already, and the plan has it once'
    assert robot.stood_still()
    stack.client.approvals.answer(asked.hash, Answer(granted=False, by='ann'))
    for outcome in (other, beyond, again.result()):
        assert (outcome.status, outcome.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert 'A plan that was changed is a new revision' in other.message
    assert robot.goals == 0


def test_question_of_another_program_is_not_shown_and_both_programs_are_named(
    stack: Running, robot: Robot
) -> None:
    task = stack.begin(TASK)
    request = request_of(stack)
    node = stack.client.node
    rogue = node.create_publisher(Approval, 'approval', LATCHED)
    forged = approval_to_msg(request, False, 0.0)
    forged.steps = ['wave hello']
    unstamped = approval_to_msg(replace(request, since_s=0.0), False, 0.0)
    try:
        for msg, why in ((forged, 'not that of its words'), (unstamped, 'has no time stamp')):
            rogue.publish(msg)
            until(lambda why=why: why in stack.client.approvals.doubt, why)
            assert stack.client.approvals.waiting == request
        for name in ('fr3_executor', node.get_name()):
            assert f'{node.get_namespace()}/{name}' in stack.client.approvals.doubt
    finally:
        node.destroy_publisher(rogue)
    until(lambda: 'comes from' not in stack.client.approvals.doubt, 'end of the other program')
    assert robot.stood_still()
    assert end(stack, task).ending is Ending.CANCELLED
    until(lambda: not stack.client.approvals.doubt, 'a question of the executor alone')


def test_program_may_not_answer_for_a_real_robot(stack: Running, robot: Robot) -> None:
    task = stack.begin(TASK)
    request = request_of(stack)
    assert not stack.client.approvals.simulated

    with pytest.raises(ApprovalError, match='A person answers on a terminal with: bbllm approve'):
        stack.client.approvals.answer(
            request.hash, Answer(granted=True, by='script', automatic=True)
        )

    assert stack.client.approvals.waiting == request
    assert robot.stood_still()
    assert end(stack, task).ending is Ending.CANCELLED


def test_cancelled_task_is_waited_for_no_more(stack: Running, robot: Robot) -> None:
    task = stack.begin(TASK)
    request = request_of(stack)

    assert end(stack, task).ending is Ending.CANCELLED

    nothing_waits(stack)
    with pytest.raises(ApprovalError, match='No request waits for an answer now'):
        stack.client.approvals.answer(request.hash, YES)
    assert robot.stood_still()
    assert stack.wait_for(EventKind.OUTCOME).data.code.name == 'CANCELLED'


PLACE_A = '<rob0>[place] <location_A>'


def replay(stack: Running, episode_id: str, steps: tuple[str, ...], call: SkillCall) -> Background:
    """Send the last step of a plan, as somebody can who has read it from the graph."""
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))
    msg = plan_to_msg(plan, 0, episode_id, 0.0, revision=0)
    return Background(lambda: stack.client.execute(call, plan=msg, step=len(steps) - 1))


def bring_back(stack: Running) -> None:
    """Recover the robot past the executor, as a person does with tools of ros2_control."""
    by_hand = driver_of(stack)
    by_hand.clear_errors()
    by_hand.activate_hardware()
    by_hand.activate_broadcasters()
    by_hand.activate_controller()


@contextmanager
def stops_counted(stack: Running) -> Iterator[list[int]]:
    """Yield how often the executor has seen the robot stop, as its diagnostics say."""
    counts: list[int] = []

    def receive(message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith('/fr3_executor'):
                values = {item.key: item.value for item in status.values}
                counts.append(int(values['stops of the robot']))

    node = stack.client.node
    subscription = node.create_subscription(DiagnosticArray, '/diagnostics', receive, 100)
    try:
        yield counts
    finally:
        node.destroy_subscription(subscription)


@pytest.mark.usefixtures('rehearsing')
def test_user_stop_takes_back_what_was_approved_and_nothing_moves_before_two_more_answers(
    stack: Running, robot: Robot, server: ModelServer
) -> None:
    plan = '0: return to base\n1: wait for 30 seconds\n2: pick the blue cube\n3: Done'
    repaired = 'It was stopped.\nNew plan:\n1: pick the green cube\n2: Done'
    body = {'wait for': '<rob0>[wait] <30>', 'the green': '<rob0>[pick] <green_cube>', **BODY}
    server.will(models([plan, repaired], body))
    task = stack.begin('pick something')
    first = request_of(stack)
    stack.client.approvals.answer(first.hash, YES)
    waits = stack.wait_for(EventKind.CALL, 2)
    assert waits.data.skill == 'wait'
    robot.begin()

    inject(stack, 'user_stop')
    stopped = request_of(stack, RequestKind.RESUME)

    assert 'user stop' in stopped.about[0]
    assert stopped.episode_id == stack.wait_for(EventKind.STARTED).data.episode_id
    assert robot.goals == 0
    inject(stack, 'user_stop', clear=True)
    stack.client.approvals.answer(stopped.hash, YES)
    anew = request_of(stack)
    assert stack.wait_for(EventKind.OUTCOME, 2).data.code.name == 'USER_STOP'
    assert anew.steps == ('return to base', 'pick the green cube')
    assert 'simulations succeeded; but: The plan has ended' in anew.rehearsal[0]
    with pytest.raises(ApprovalError, match='not what waits now'):
        stack.client.approvals.answer(first.hash, YES)
    assert robot.stood_still()

    stack.client.approvals.answer(anew.hash, YES)

    assert task.result().ending is Ending.FINISHED
    assert stack.client.scene().held == 'green_cube'
    kept = [event.data.what for event in stack.events if event.kind is EventKind.APPROVAL]
    assert kept == ['plan', 'resume', 'plan']
    server.will(models(['0: place it on location_A\n1: Done'], {'location_A': PLACE_A}))
    put_down = stack.begin('put it down')
    stack.client.approvals.answer(request_of(stack).hash, YES)
    assert put_down.result().ending is Ending.FINISHED


def test_plan_is_asked_for_again_when_another_program_has_moved_the_arm(
    stack: Running, robot: Robot
) -> None:
    steps = ('return to base',)
    episode_id = f'by-hand-{uuid.uuid4().hex[:8]}'
    begun = replay(stack, episode_id, steps, SkillCall('return_to_base'))
    first = request_of(stack)
    stack.client.approvals.answer(first.hash, YES)
    assert begun.result().succeeded
    other = driver_of(stack)
    until(lambda: robot.feed.newest() is not None, 'joint states')

    why = 'another program has moved arm or hand since it was approved'
    revoked = f'Approvals are revoked: {why}.'
    assert other.follow(move(other, 0.1, 1.0), Tolerances()).status is GoalStatus.SUCCEEDED
    until(lambda: revoked in log_of(stack.stack, 'fr3_executor'), 'revocation')
    robot.begin()
    again = replay(stack, episode_id, steps, SkillCall('return_to_base'))
    asked = request_of(stack)

    assert asked.reason == why
    assert robot.stood_still()
    stack.client.approvals.answer(asked.hash, Answer(granted=False, by='ann'))
    assert again.result().code is Code.NOT_APPROVED


def test_what_is_left_of_a_cancelled_plan_moves_nothing_for_whoever_sends_it_after(
    stack: Running, robot: Robot, server: ModelServer
) -> None:
    steps = ('return to base', 'wait for 30 seconds', 'pick the blue cube')
    plan = '\n'.join(f'{i}: {text}' for i, text in enumerate((*steps, 'Done')))
    server.will(models([plan], {'wait for': '<rob0>[wait] <30>', **BODY}))
    task = stack.begin('pick something')
    first = request_of(stack)
    stack.client.approvals.answer(first.hash, YES)
    assert stack.wait_for(EventKind.CALL, 2).data.skill == 'wait'
    assert end(stack, task).ending is Ending.CANCELLED
    stack.wait_for(EventKind.ENDED)
    robot.begin()

    again = replay(stack, first.episode_id, steps, SkillCall('pick', ('blue_cube',))).result()

    # The executor may hear of the end of the episode only while it looks at the call.
    assert again.code in (Code.NOT_APPROVED, Code.CANCELLED)
    assert robot.stood_still()
    nothing_waits(stack)

    later = replay(stack, first.episode_id, steps, SkillCall('pick', ('blue_cube',))).result()

    assert (later.status, later.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert later.message == 'pick(blue_cube) was not tried: its episode has ended.'
    assert robot.stood_still()


def test_plan_is_asked_for_again_when_others_bring_the_robot_back_from_a_user_stop(
    stack: Running, robot: Robot
) -> None:
    steps = ('return to base',)
    episode_id = f'by-hand-{uuid.uuid4().hex[:8]}'
    begun = replay(stack, episode_id, steps, SkillCall('return_to_base'))
    first = request_of(stack)
    stack.client.approvals.answer(first.hash, YES)
    assert begun.result().succeeded
    with stops_counted(stack) as stops:
        until(lambda: stops, 'diagnostics of the executor')
        before = stops[-1]
        inject(stack, 'user_stop')
        # What counts is that the executor has seen it, not that this client has.
        until(lambda: stops[-1] > before, 'stop of the robot as the executor sees it')
    inject(stack, 'user_stop', clear=True)
    until(lambda: robot.feed.stopped, 'stop of the robot')
    bring_back(stack)
    robot.begin()

    again = replay(stack, episode_id, steps, SkillCall('return_to_base'))
    asked = request_of(stack)

    assert asked.reason == 'the robot was stopped since it was approved'
    assert asked.lines == first.lines
    with pytest.raises(ApprovalError, match='not what waits now'):
        stack.client.approvals.answer(first.hash, YES)
    assert robot.stood_still()
    stack.client.approvals.answer(asked.hash, Answer(granted=False, by='ann'))
    assert again.result().code is Code.NOT_APPROVED
