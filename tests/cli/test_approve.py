"""`bbllm approve`, the questions of `bbllm run`, and what both refuse: real nodes."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from bbllm_ros.stack.stack import REAL_NODES, Stack, StackConfig
from tests.doubles.fork_server import serve_module
from tests.doubles.terminals import Terminal, bbllm, end, read_until, running_stack, start

pytestmark = pytest.mark.ros

WAIT_S = 120.0
TASK = 'put the red cube on location_B'
HOME = 'return to base'
QUESTION = 'In another terminal: bbllm approve --hash'
AGAIN = 'WENT_IN_CIRCLES'
"""The end of a task whose planner proposes again what was denied."""
Env = dict[str, str]


@contextmanager
def waiting(environment: Env, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Give the stack a task whose plan waits for a person."""
    process = start(environment, 'run', *(words or (TASK,)))
    try:
        read_until(process, QUESTION)
        yield process
    finally:
        if process.poll() is None:
            end(process)


def what_waits(environment: Env) -> dict[str, Any]:
    """Return what waits now, without answering it."""
    result = bbllm(environment, 'approve', '--json')
    assert result.returncode == 2, result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    assert (data['answered'], data['granted']) == (False, None)
    return data


def approvals(environment: Env) -> list[dict[str, Any]]:
    """Return what the newest journal says of approvals."""
    lines = bbllm(environment, 'show', '--events').stdout.splitlines()
    events = [json.loads(line) for line in lines]
    return [event['data'] for event in events if event['kind'] == 'approval']


@pytest.fixture(scope='module')
def there(environment: Env) -> Iterator[Env]:
    """Keep a stack running that asks for every plan; yields the environment of its commands."""
    with running_stack(environment, '--approval', 'plan', '--speed', '0'):
        yield environment


@pytest.mark.slow
def test_without_a_terminal_the_line_to_type_is_printed_and_that_line_approves(there: Env) -> None:
    with waiting(there) as task:
        shown = bbllm(there, 'approve')
        line = next(text for text in shown.stdout.splitlines() if '--hash' in text)
        words = line.partition(': bbllm ')[2].split()

        answered = bbllm(there, *words)

        assert shown.returncode == 2
        assert '0: pick red_cube' in shown.stdout
        assert '1: place red_cube on location_B' in shown.stdout
        assert answered.returncode == 0, answered.stderr
        out, _ = task.communicate(timeout=WAIT_S)
    assert (task.returncode, 'approval  plan' in out) == (0, True)
    (kept,) = approvals(there)
    # No terminal, so no person as far as can be found out.
    assert (kept['granted'], kept['automatic']) == (True, True)
    assert kept['hash'].startswith(words[2])


@pytest.mark.slow
def test_hash_that_is_not_what_waits_approves_nothing(there: Env) -> None:
    def refused(*words: str, code: int = 2) -> str:
        result = bbllm(there, 'approve', *words)
        assert result.returncode == code, result.stderr
        return result.stderr

    assert 'Nothing waits for approval now' in refused('--hash', '0123456789ab')
    assert 'Nothing was asked within 0.5 s' in refused('--timeout', '0.5', code=1)
    assert '--watch asks a person' in refused('--watch', '--hash', '0123456789')
    with waiting(there, HOME):
        before = what_waits(there)

        other = refused('--hash', '0123456789ab')

        assert 'is not what waits now' in other and before['hash'][:12] in other
        assert 'is no hash' in refused('--hash', before['hash'][:7])
        assert 'is no hash' in refused('--hash', 'plan 1a2b')
        assert what_waits(there) == before


def test_on_a_terminal_the_plan_is_read_and_approved(there: Env) -> None:
    with waiting(there, HOME) as task, Terminal(there, 'approve') as terminal:
        terminal.wait_for('0: return to base')
        terminal.wait_for('[y/N]')
        terminal.type('y\n')

        assert terminal.end() == 0
        task.communicate(timeout=WAIT_S)
        assert task.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize('answer', ['', 'yes please'])
def test_only_yes_is_a_yes_and_a_no_may_have_a_reason(there: Env, answer: str) -> None:
    with waiting(there, HOME) as task, Terminal(there, 'approve') as terminal:
        terminal.wait_for('[y/N]')
        terminal.type(f'{answer}\n')
        terminal.wait_for('Why not?')
        terminal.type('somebody stands there\n')

        assert terminal.end() == 0
        assert 'somebody stands there' in read_until(task, AGAIN)


@pytest.mark.slow
def test_neither_what_was_typed_before_a_question_nor_leaving_it_answers(there: Env) -> None:
    with Terminal(there, 'approve') as terminal:
        terminal.wait_for('waiting for the first request')
        terminal.type('y\ny\n')
        with waiting(there, HOME):
            terminal.wait_for('[y/N]')
            before = what_waits(there)
            assert before['lines'][0] == '0: return to base'
            terminal.interrupt()
            terminal.end()

            for typed, code in (('\x04', 1), ('n\n', 130)):
                with Terminal(there, 'approve') as another:
                    another.wait_for('[y/N]')
                    another.type(typed)
                    if code == 130:
                        another.wait_for('Why not?')
                        another.interrupt()
                    assert another.end() == code
                assert what_waits(there) == before


@pytest.mark.slow
def test_watch_asks_for_each_and_sees_when_somebody_else_was_quicker(there: Env) -> None:
    with Terminal(there, 'approve', '--watch') as terminal:
        terminal.wait_for('Waiting for the next request')
        with waiting(there, HOME) as first:
            terminal.wait_for('[y/N]')
            assert bbllm(there, 'approve', '--deny', 'later').returncode == 0
            terminal.wait_for('does not wait any more')
            read_until(first, AGAIN)
            end(first)
        with waiting(there, HOME) as second:
            terminal.wait_for('[y/N]')
            terminal.type('y\n')
            terminal.wait_for('Approved plan')
            second.communicate(timeout=WAIT_S)
            assert second.returncode == 0
        terminal.interrupt()

        assert terminal.end() == 0


@pytest.mark.slow  # a stack and rehearsals for one terminal
def test_run_asks_on_its_own_terminal_where_ctrl_c_cancels(there: Env) -> None:
    with Terminal(there, 'run', HOME) as terminal:
        terminal.wait_for('  0: return to base')
        terminal.wait_for('[y/N]')
        assert what_waits(there)['kind'] == 'plan'
        terminal.type('y\n')

        assert terminal.end() == 0
    assert 'FINISHED' in terminal.output
    assert len(approvals(there)) == 1

    with Terminal(there, 'run', HOME) as left:
        left.wait_for('[y/N]')
        left.interrupt()
        assert left.end() == 130
    result = bbllm(there, 'approve', '--hash', '0123456789ab')
    assert 'Nothing waits for approval now' in result.stderr


@pytest.mark.slow
def test_programs_are_refused_where_the_robot_is_real_and_a_person_is_still_asked(
    environment: Env, empty_domain: int
) -> None:
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    executor = {'approval': 'plan', 'simulated': False}
    params: Any = {'franka_driver': {'speed': 0.0}, 'fr3_executor': executor}
    config = StackConfig(
        nodes=(*REAL_NODES, 'franka_driver'),
        executables={'franka_driver': 'mujoco_sim'},
        start=serve_module,
        params=params,
        environ=there,
    )
    with Stack(config) as stack:
        stack.wait_ready(timeout_s=60.0).close()
        with waiting(there, HOME, '--yes') as task:
            # The refusal comes before the line to type, which `waiting` has read up to.
            request = what_waits(there)
            assert request['lines'][0] == '0: return to base'
            by_script = bbllm(there, 'approve', '--hash', request['hash'])
            assert by_script.returncode == 2
            assert "What is sent without a terminal counts as a program's" in by_script.stderr
            assert what_waits(there) == request
            with Terminal(there, 'approve', '--hash', request['hash']) as terminal:
                assert terminal.end() == 0, terminal.output
            out, _ = task.communicate(timeout=WAIT_S)
            assert task.returncode == 0, out
        log = stack.log_file('fr3_executor').read_text()
    assert 'An answer was refused: A program may approve only where the robot is simulated' in log
