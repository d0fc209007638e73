"""The test of the checks: a simulator that deviates from the driver fails them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bbllm.core.constants import NAMESPACE
from bbllm_ros.stack.stack import node_arguments, node_environ
from tests.conformance.conformance_runs import ALL, Run, run_checks
from tests.conformance.deviant_sim import DEVIATIONS, deviant_sim

pytestmark = [pytest.mark.ros, pytest.mark.slow]

UNCHANGED = ('robot-state-names-its-joints', 'move-reaches-its-width')


@pytest.fixture(scope='module')
def run(ros_domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder: Path = tmp_path_factory.mktemp('deviant')
    arguments = node_arguments('mujoco_sim', {'speed': 3.0})
    checks = [f'--check={name}' for name in (*DEVIATIONS, *UNCHANGED)]
    with deviant_sim(arguments, node_environ(more=dict(os.environ))):
        yield run_checks(
            folder, f'--robot-namespace={NAMESPACE}', '--await-driver=60', *ALL, *checks
        )


@pytest.mark.parametrize('name', DEVIATIONS)
def test_deviation_is_found(run: Run, name: str) -> None:
    found = run.findings[name]

    assert found['verdict'] == 'FAIL', f'{DEVIATIONS[name]}, and the check passes'
    assert found['reason'].startswith(('assert ', 'Expected ')) or '\nassert ' in found['reason']


@pytest.mark.parametrize('name', UNCHANGED)
def test_behavior_that_does_not_deviate_passes(run: Run, name: str) -> None:
    assert run.findings[name]['verdict'] == 'pass'
