"""What `bbllm approve` and `bbllm run --yes` refuse, and what they say where no stack runs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from terminals import Terminal, bbllm  # needs nothing of ROS, but its tests do
from waiting_tasks import HOME, TASK, WAIT_S, waiting, what_waits

from bbllm.ros.stack.stack import REAL_NODES, Stack, StackConfig

pytestmark = pytest.mark.ros


@pytest.mark.slow
def test_programs_are_refused_where_the_robot_is_real_and_a_person_is_still_asked(
    environment: dict[str, str], empty_domain: int
) -> None:
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    executor = {'approval': 'plan', 'simulated': False}
    params: Any = {'franka_driver': {'speed': 0.0}, 'fr3_executor': executor}
    config = StackConfig(
        nodes=(*REAL_NODES, 'franka_driver'),
        executables={'franka_driver': 'mujoco_sim'},
        params=params,
        environ=there,
    )
    with Stack(config) as stack:
        stack.wait_ready(timeout_s=60.0).close()
        with waiting(there, HOME, '--yes') as task:
            # The refusal comes before the line to type, which `waiting` has read up to.
            request = what_waits(there)
            assert request['lines'] == ['0: return to base']
            by_script = bbllm(there, 'approve', '--hash', request['hash'])
            assert by_script.returncode == 2
            assert "What is sent without a terminal counts as a program's" in by_script.stderr
            assert what_waits(there) == request
            with Terminal(there, 'approve', '--hash', request['hash']) as terminal:
                assert terminal.end() == 0, terminal.said
            out, _ = task.communicate(timeout=WAIT_S)
            assert task.returncode == 0, out
        log = stack.log_file('fr3_executor').read_text()
    assert 'An answer was refused: A program may approve only where the robot is simulated' in log


@pytest.mark.parametrize(
    'words',
    [('--watch', '--json'), ('--watch', '--hash', '0123456789'), ('--watch', '--deny', 'no')],
    ids=' '.join,
)
def test_watch_goes_with_nothing_that_needs_no_person(
    environment: dict[str, str], words: tuple[str, ...]
) -> None:
    result = bbllm(environment, 'approve', *words)

    assert result.returncode == 2
    assert '--watch asks a person' in result.stderr


def test_without_a_stack_approve_says_how_to_start_one(
    environment: dict[str, str], empty_domain: int
) -> None:
    alone = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}

    result = bbllm(alone, 'approve')

    assert result.returncode == 1
    assert 'bbllm up sim --approval plan' in result.stderr


def test_yes_is_not_for_a_world_that_asks_nobody(environment: dict[str, str]) -> None:
    result = bbllm(environment, 'run', TASK, '--world', 'tabletop', '--yes')

    assert result.returncode == 2
    assert 'asks nobody' in result.stderr
