"""Agents of Robo Use at our table: nothing moves past the approval gate and the envelope."""

import json
from collections.abc import Iterator

import pytest
from bbllm_robouse.table_process import AgentTable, by_nobody, open_table, serve

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.types import Code, Status


def moved_rad(table: AgentTable, before: tuple[float, ...]) -> float:
    """Return how far any joint is from where it was [rad]."""
    now = table.table.robot.simulation.joint_state().position_rad
    return max(abs(a - b) for a, b in zip(now, before, strict=True))


@pytest.fixture
def denied() -> Iterator[AgentTable]:
    table = AgentTable('tabletop', 'right_side', seed=1711, approve=by_nobody)
    yield table
    table.close()


def test_an_agent_whose_call_is_denied_moves_nothing(denied: AgentTable) -> None:
    before = denied.table.robot.simulation.joint_state().position_rad
    name = denied.case.table.objects[0].name

    outcome = denied.execute('pick', [name])

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert moved_rad(denied, before) < 1e-3
    assert 'denied' in denied.answers[0]


def test_a_constraint_of_the_task_refuses_what_the_gate_allowed() -> None:
    table = AgentTable('tabletop', 'right_side', seed=1711)
    name = table.case.table.objects[0].name
    table.close()
    table = AgentTable('tabletop', 'right_side', seed=1711, never=[f'touch {name}'])
    before = table.table.robot.simulation.joint_state().position_rad

    outcome = table.execute('pick', [name])

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE), outcome
    assert moved_rad(table, before) < 1e-3
    table.close()


def test_a_skill_that_there_is_not_is_rejected_without_a_question(denied: AgentTable) -> None:
    outcome = denied.execute('set_joint_positions', ['0'])

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNKNOWN_SKILL)
    assert denied.answers == []


def test_the_process_answers_line_by_line_and_names_what_is_wrong() -> None:
    wanted = [
        {'suite': 'tabletop', 'task': 'no_such_task', 'seed': 1},
        {'suite': 'tabletop', 'task': 'right_side', 'seed': 1711},
        {'op': 'skills'},
        {'op': 'set_torques'},
        {'op': 'score'},
    ]
    lines = iter([*(json.dumps(request) for request in wanted), ''])
    replies: list[str] = []

    serve(lambda: next(lines), replies.append)

    unknown, instruction, skills, refused, score = map(json.loads, replies)
    assert UnknownNameError.__name__ in unknown['error']
    assert instruction['result']
    assert {'pick', 'place'} <= {skill['name'] for skill in skills['result']}
    assert 'no request of a backend' in refused['error']
    assert score['result']['passed'] is False


def test_an_unknown_way_of_approval_is_refused() -> None:
    with pytest.raises(ConfigError, match='program, nobody, person'):
        open_table({'suite': 'tabletop', 'task': 'right_side', 'seed': 1, 'approval': 'none'})
