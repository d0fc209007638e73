"""A simulation and the nodes of a real arm in one domain: which of them a verb uses."""

import json
from collections.abc import Iterator

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm_ros.stack.stack import REAL_NODES, Stack, StackConfig
from tests.doubles.terminals import bbllm

pytestmark = [pytest.mark.ros, pytest.mark.slow]  # two stacks beside each other

TASK = 'put the red cube on location_B'
OFFLINE = {'brain_planner': {'brain': 'offline'}, 'body_mapper': {'body': 'offline'}}


@pytest.fixture(scope='module')
def real(environment: dict[str, str]) -> Iterator[Stack]:
    """Run the nodes of a real arm, whose driver has not been started: there is no scene."""
    config = StackConfig(nodes=REAL_NODES, params=OFFLINE, environ=environment)
    with Stack(config) as stack:
        yield stack


@pytest.fixture(scope='module')
def both(real: Stack, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Run a simulation beside it; yields the environment of both."""
    params = {**OFFLINE, 'mujoco_sim': {'speed': 0.0}}
    with Stack(StackConfig(params=params, environ=environment)) as stack:
        stack.wait_ready().close()
        yield environment


def test_no_simulation_is_advised_beside_a_real_arm(
    real: Stack, environment: dict[str, str]
) -> None:
    result = bbllm(environment, 'run', TASK)

    assert result.returncode == 1
    assert f'on the real arm, namespace /{REAL_NAMESPACE}' in result.stdout
    assert 'missing: a scene from state_estimator' in result.stderr
    assert f'/{REAL_NAMESPACE}/' in result.stderr
    assert 'up sim' not in result.stderr


def test_run_asks_which_of_several_stacks_is_meant_and_uses_the_one_that_is_named(
    both: dict[str, str],
) -> None:
    result = bbllm(both, 'run', TASK, '--json')

    assert result.returncode == 2
    error = json.loads(result.stdout)['error']
    assert f'/{NAMESPACE} (the simulation), /{REAL_NAMESPACE} (the real arm)' in error
    assert f'--namespace {NAMESPACE}' in error
    named = bbllm(both, 'run', TASK, '--namespace', NAMESPACE, '--json')
    assert json.loads(named.stdout)['ending'] == 'FINISHED', named.stderr


def test_doctor_checks_each_stack(both: dict[str, str]) -> None:
    findings = json.loads(bbllm(both, 'doctor', '--json').stdout)['findings']

    simulated, real = (finding['text'] for finding in findings if finding['name'] == 'stack')
    assert simulated.startswith(f'runs under /{NAMESPACE}, the simulation: ')
    assert f'under /{REAL_NAMESPACE}, the real arm' in real
    assert not [x for x in findings if x['name'] == 'stack' and 'up sim' in x['remedy']]
