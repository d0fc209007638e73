"""Waits for a person that nobody ends well: stacks of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from robots import Robot, nothing_waits, request_of
from stacks import log_of, started, until

from bbllm.core.approval import Answer
from bbllm.core.errors import ApprovalError
from bbllm.core.events import Ending, EventKind

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'
YES = Answer(granted=True, by='ann')


def test_time_out_of_approval_is_the_persons_and_not_the_calls_and_a_lost_planner_ends_the_wait(
    ros_domain: int,
) -> None:
    params: Any = {
        'fr3_executor': {'approval': 'plan', 'approval_timeout_s': 12.0},
        'brain_planner': {'skill_timeout_s': 10.0, 'feedback_loops': 0},
    }
    with started(params=params) as stack:
        robot = Robot(stack)
        stack.events.clear()

        result = stack.run(TASK)

        assert result.ending is Ending.GAVE_UP
        assert 'nobody answered within 12 s' in result.message
        texts = [e.data.text for e in stack.events if e.kind is EventKind.APPROVAL]
        assert len(texts) == 1
        assert robot.goals == 0

        stack.begin(TASK)
        request = request_of(stack)
        os.killpg(stack.stack.processes['brain_planner'].pid, signal.SIGKILL)
        nothing_waits(stack)
        with pytest.raises(ApprovalError, match='Nobody waits'):
            stack.client.approvals.answer(request.hash, YES)
        until(
            lambda: (
                'The arm is stopped. The node brain_planner has gone'
                in log_of(stack.stack, 'fr3_executor')
            ),
            'reason in the log',
        )
        assert robot.goals == 0


def test_mode_of_approval_that_does_not_exist_is_refused_with_those_that_do(
    ros_domain: int,
) -> None:
    words = [sys.executable, '-m', 'bbllm.ros.nodes.fr3_executor', '--ros-args']
    ended = subprocess.run(
        [*words, '-p', 'approval:=maybe'], capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 1
    assert "fr3_executor knows no approval 'maybe'" in ended.stderr
    assert 'none, plan, step, risky' in ended.stderr
    assert 'Traceback' not in ended.stderr
