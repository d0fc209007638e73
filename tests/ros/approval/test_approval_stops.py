"""What was approved counts no more after a stop, and after its episode: judged at the robot."""

from __future__ import annotations

import uuid

import pytest
from asking import BODY, YES, end, inject, models
from fake_server import FakeServer
from robots import Robot, request_of
from stacks import Background, Running, until

from bbllm.core.approval import Answer, RequestKind
from bbllm.core.errors import ApprovalError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import (
    Code,
    Plan,
    PlanStep,
    SkillCall,
    Status,
)
from bbllm.ros.convert.records import plan_to_msg
from bbllm.ros.driver.activity_feed import JOINT_BROADCASTER, STATE_BROADCASTER
from bbllm.ros.driver.robot_client import RobotClient
from bbllm.ros.rclpy_support.fast_subscription import Poller

pytestmark = pytest.mark.ros


PLACE_A = '<rob0>[place] <location_A>'
ARM = 'fr3_arm_controller'


def replay(stack: Running, episode_id: str, steps: tuple[str, ...], call: SkillCall) -> Background:
    """Send the last step of a plan, as somebody can who has read it from the graph."""
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))
    msg = plan_to_msg(plan, 0, episode_id, 0.0, revision=0)
    return Background(lambda: stack.client.execute(call, plan=msg, step=len(steps) - 1))


def bring_back(stack: Running, robot: Robot) -> None:
    """Recover the robot past the executor, as a person does with tools of ros2_control."""
    node = stack.client.node
    poller = Poller(node)  # type: ignore[arg-type]  # it only subscribes
    by_hand = RobotClient(node, poller, stack.client.group, robot.feed, ARM)
    poller.start()
    by_hand.clear_errors()
    by_hand.activate_hardware()
    by_hand.activate(JOINT_BROADCASTER, STATE_BROADCASTER)
    by_hand.activate(ARM)


def test_user_stop_takes_back_what_was_approved_and_nothing_moves_before_two_more_answers(
    stack: Running, robot: Robot, server: FakeServer
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

    assert 'user stop' in stopped.lines[0]
    assert stopped.episode_id == stack.wait_for(EventKind.STARTED).data.episode_id
    assert robot.goals == 0
    inject(stack, 'user_stop', clear=True)
    stack.client.approvals.answer(stopped.hash, YES)
    anew = request_of(stack)
    assert stack.wait_for(EventKind.OUTCOME, 2).data.code.name == 'USER_STOP'
    assert anew.lines == ('0: return to base', '1: pick the green cube')
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


def test_what_is_left_of_a_cancelled_plan_moves_nothing_for_whoever_sends_it_after(
    stack: Running, robot: Robot, server: FakeServer
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
    assert stack.client.approvals.waiting is None

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
    inject(stack, 'user_stop')
    until(lambda: robot.feed.fresh is False, 'stop of the robot')
    inject(stack, 'user_stop', clear=True)
    bring_back(stack, robot)
    robot.begin()

    again = replay(stack, episode_id, steps, SkillCall('return_to_base'))
    asked = request_of(stack)

    assert asked.reason == 'the robot was stopped since it was approved'
    assert asked.lines == first.lines
    with pytest.raises(ApprovalError, match='not what waits now'):
        stack.client.approvals.answer(first.hash, YES)  # as from a menu that is still open
    assert robot.stood_still()
    stack.client.approvals.answer(asked.hash, Answer(granted=False, by='ann'))
    assert again.result().code is Code.NOT_APPROVED
