"""Which stack a verb uses, and what it says where that is not clear."""

from collections.abc import Iterator

import pytest

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm_ros.stack.discovery import (
    FoundStack,
    Names,
    await_stacks,
    no_stack,
    only_stack,
    stacks_among,
)
from bbllm_ros.stack.stack import NODES, REAL_NODES

SIM = [(node, f'/{NAMESPACE}') for node in NODES]
REAL = [(node, f'/{REAL_NAMESPACE}') for node in (*REAL_NODES, 'controller_manager')]
ELSE = [('camera', '/'), ('mujoco_sim', '/alone'), ('controller_manager', '/left')]


def after(*observations: Names) -> Iterator[Names]:
    yield from observations
    while True:
        yield observations[-1]


def test_stacks_are_distinguished_by_namespace_and_by_what_they_drive() -> None:
    found = stacks_among([*SIM, *REAL, *ELSE])

    assert found == (FoundStack(NAMESPACE, True, True), FoundStack(REAL_NAMESPACE, False, True))
    assert [stack.usual for stack in found] == [True, False]
    assert [stack.nodes for stack in found] == [NODES, REAL_NODES]


def test_a_stack_is_found_once_it_comes_alone_or_named_and_also_where_nodes_are_missing() -> None:
    observations = after([], ELSE, [*ELSE, *REAL])
    whole = FoundStack(REAL_NAMESPACE, False, True)

    assert only_stack(await_stacks(lambda: next(observations), None, 5.0, settle_s=0.0)) == whole
    assert await_stacks(lambda: [*SIM, *REAL], REAL_NAMESPACE, 5.0) == (whole,)
    found = await_stacks(lambda: REAL[:3], None, 5.0, settle_s=0.0, whole_s=0.2)
    assert found == (FoundStack(REAL_NAMESPACE, False, False),)


def test_a_stack_that_is_seen_a_moment_later_counts_too() -> None:
    observations = after(SIM[:1], SIM[:4], [*SIM[:4], *REAL[:1]], [*SIM[:4], *REAL], [*SIM, *REAL])

    found = await_stacks(lambda: next(observations), None, 5.0, settle_s=0.2)

    with pytest.raises(ConfigError) as error:
        only_stack(found)
    assert str(error.value) == (
        '2 stacks run in this ROS domain: /bbllm (the simulation), /bbllm_real (the real arm). '
        'Name the one to use: --namespace bbllm or --namespace bbllm_real.'
    )


def test_none_is_found_where_the_named_one_does_not_run() -> None:
    assert await_stacks(lambda: SIM, 'left', 0.1) == ()
    assert '/bbllm (the simulation)' in no_stack('left', 0.1, stacks_among(SIM))
    assert 'up sim' not in no_stack('left', 8.0, stacks_among(REAL))
