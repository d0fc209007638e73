"""The verbs that use a running stack: real nodes, in a domain of their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from tests.doubles.terminals import bbllm, end, read_until, running_stack, start

pytestmark = pytest.mark.ros

TASK = 'put the red cube on location_B'


@pytest.fixture(scope='module')
def stack(environment: dict[str, str]) -> Iterator[str]:
    """Keep a stack running; yields what `bbllm up` said until it was ready."""
    with running_stack(environment) as printed:
        yield printed


def events_of(environment: dict[str, str], kind: str) -> list[dict[str, Any]]:
    """Return the data of the newest episode's events of one kind."""
    lines = bbllm(environment, 'show', '--events').stdout.splitlines()
    events = [json.loads(line) for line in lines]
    return [event['data'] for event in events if event['kind'] == kind]


def test_run_carries_out_a_task_on_the_stack(stack: str, environment: dict[str, str]) -> None:
    for node in ('brain_planner', 'body_mapper', 'state_estimator', 'fr3_executor', 'mujoco_sim'):
        assert f'ready  {node}' in stack

    result = bbllm(environment, 'run', TASK, '--json')

    data = json.loads(result.stdout)
    assert (result.returncode, data['ending']) == (0, 'FINISHED'), result.stderr
    assert Path(data['pictures'][0]).exists()
    assert 'place(location_B)' in result.stderr
    assert 'The Brain is offline (a deterministic stand-in, not a language model)' in result.stderr
    plan = bbllm(environment, 'plan', 'put the green cube on location_C', '--ros', '--json')
    assert json.loads(plan.stdout)['plan'][0]['call'] == 'pick(green_cube)'


@pytest.mark.slow  # a task at real time
def test_ctrl_c_cancels_on_the_stack_which_takes_the_next_task(
    stack: str, environment: dict[str, str]
) -> None:
    process = start(environment, 'run', 'stack all cubes')
    read_until(process, ' call ')

    assert end(process) == 130
    assert events_of(environment, 'ended')[0]['ending'] == 'CANCELLED'
    again = bbllm(environment, 'run', 'return to base', '--json')
    assert json.loads(again.stdout)['episode_id']


@pytest.mark.slow  # three commands; tests/ros/stack/test_whole_stack.py refuses as well
def test_a_second_task_is_refused_and_a_remark_reaches_the_planner(
    stack: str, environment: dict[str, str]
) -> None:
    process = start(environment, 'run', 'stack all cubes')
    read_until(process, ' call ')

    second = bbllm(environment, 'run', TASK)
    printed = bbllm(environment, 'say', 'leave the green cube where it is', '--json')
    end(process)

    assert second.returncode == 2
    assert 'Another task is under way' in second.stderr
    assert printed.returncode == 0
    sent = json.loads(printed.stdout)
    assert (sent['sent'], sent['namespace']) == (
        'leave the green cube where it is',
        'bbllm',
    )
    assert sent['fate'].startswith('Taken up')
    received = events_of(environment, 'human_feedback')
    assert [event['text'] for event in received] == ['leave the green cube where it is']


@pytest.mark.slow  # a task at real time
def test_a_task_that_takes_too_long_is_cancelled(stack: str, environment: dict[str, str]) -> None:
    # Another task than those of the tests before, which may have been carried out to their end.
    task = 'create a plus sign using the cubes'
    result = bbllm(environment, 'run', task, '--timeout', '1', '--json')

    assert (result.returncode, json.loads(result.stdout)['ending']) == (1, 'CANCELLED')


@pytest.mark.parametrize(
    ('words', 'texts'),
    [
        ('run stack --brain gpt-4o --scene tower', ('--scene, --brain', 'bbllm up')),
        ('up sim', ('The node brain_planner runs already',)),
        ('up sim --scene towr', ("Did you mean 'tower'",)),
    ],
)
def test_what_a_running_stack_cannot_do_is_refused(
    stack: str, environment: dict[str, str], words: str, texts: tuple[str, ...]
) -> None:
    result = bbllm(environment, *words.split())

    assert result.returncode == 2
    assert [text for text in texts if text not in result.stderr] == []


def test_doctor_sees_the_stack_and_the_quality_of_its_topics(
    stack: str, environment: dict[str, str]
) -> None:
    result = bbllm(environment, 'doctor', '--json')

    findings = json.loads(result.stdout)['findings']
    assert next(f['text'] for f in findings if f['name'] == 'stack').startswith(
        'runs under /bbllm, the simulation: '
    )
    assert any('/bbllm/scene: reliable, transient_local' in f['text'] for f in findings)
    assert [f for f in findings if f['name'] == 'qos' and f['level'] != 'ok'] == []


def test_without_a_stack_run_states_how_to_start_one(
    environment: dict[str, str], empty_domain: int
) -> None:
    alone = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}

    result = bbllm(alone, 'run', TASK)

    assert result.returncode == 1
    for text in ('bbllm up sim', 'franka_real.launch.py', '--world tabletop'):
        assert text in result.stderr
    approval = bbllm(alone, 'approve')
    assert (approval.returncode, 'bbllm up sim --approval plan' in approval.stderr) == (1, True)


@pytest.mark.slow
def test_demo_runs_through_nodes_of_its_own(environment: dict[str, str]) -> None:
    result = bbllm(environment, 'demo', '--ros', '--json')

    data = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert data['check']['passed']
    assert data['feedback_loops'] >= 2
