"""The test of the checks: a simulator that deviates from the driver is seen to do so."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from deviant_sim import DEVIATIONS, deviant_sim

from bbllm.core.namespaces import NAMESPACE
from bbllm.nodes.driver_checks.catalogue import select
from bbllm.nodes.driver_checks.check import Need
from bbllm.nodes.driver_checks.client import DriverClient, await_driver
from bbllm.nodes.driver_checks.provoker import SimProvoker
from bbllm.nodes.driver_checks.runner import Verdict, run_check
from bbllm.nodes.driver_checks.session import Session
from bbllm.ros.stack.stack import node_arguments, node_environ

pytestmark = [pytest.mark.ros, pytest.mark.slow]

START_S = 60.0


@pytest.fixture(scope='module')
def deviant(ros_domain: int) -> Iterator[Session]:
    """Start the simulator that does many things otherwise."""
    arguments = node_arguments('mujoco_sim', {'speed': 3.0})
    with (
        deviant_sim(arguments, node_environ(more=dict(os.environ))),
        DriverClient(NAMESPACE) as driver,
    ):
        await_driver(driver, 'in the test', START_S)
        yield Session(driver, SimProvoker(driver))


@pytest.mark.parametrize('name', DEVIATIONS)
def test_deviation_is_seen(deviant: Session, name: str) -> None:
    (check,) = select((name,))

    finding = run_check(check, deviant, frozenset(Need))

    assert finding.verdict is Verdict.FAILED, f'{DEVIATIONS[name]}, and nobody saw it'
    assert finding.reason.startswith('Expected '), finding.reason


def test_what_is_as_it_should_be_is_not_complained_about(deviant: Session) -> None:
    for name in ('robot-state-names-its-joints', 'move-reaches-its-width'):
        (check,) = select((name,))

        assert run_check(check, deviant, frozenset(Need)).verdict is Verdict.PASSED
