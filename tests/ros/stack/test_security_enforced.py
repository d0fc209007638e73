"""
A graph in which only what the policies allow is possible; with the keys that sros2 makes.

What it takes comes with ROS 2, but not from PyPI: sros2, and a Fast DDS that was compiled with
security. Where one is missing these tests say so and are skipped.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bbllm.core.events import Ending
from bbllm_ros.stack.stack import NODES, PERCEPTION
from tests.ros.policies import policies
from tests.ros.stacks import Running, started, until

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        importlib.util.find_spec('sros2') is None,
        reason='sros2 is not installed: it comes with ROS 2, but not from PyPI',
    ),
]

MAKE = """
import sys
from pathlib import Path
from sros2 import keystore
store = Path(sys.argv[1])
keystore.create_keystore(store)
for file in sys.argv[2:]:
    enclave, _, path = file.partition('=')
    keystore.create_enclave(store, enclave)
    keystore.create_permission(store, enclave, Path(path))
"""
VISITOR = Path(__file__).parent / 'visitor.py'
CLIENT = ('/bbllm/client', '/bbllm', 'bbllm_visitor')
NOTHING_WAITS = 'No request waits for an answer now'
"""How `approve` begins its answer to whoever may ask."""


def make_keystore(folder: Path) -> Path:
    files = [f'{policy.enclave}={policy.file}' for policy in policies().values()]
    run = subprocess.run(
        [sys.executable, '-c', MAKE, str(folder), *files], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return folder


def visit(enclave: str, namespace: str, name: str, **environ: str) -> str:
    """Let a program come that tries to approve, and return what it says."""
    run = subprocess.run(
        [sys.executable, str(VISITOR), enclave, namespace, name],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60.0,
    )
    return run.stdout.strip() or run.stderr.strip()


@pytest.fixture(scope='module')
def secure(ros_domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make keys for this domain, and let every process from here on need some."""
    keys = make_keystore(tmp_path_factory.mktemp('keys'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_SECURITY_KEYSTORE', str(keys))
        patch.setenv('ROS_SECURITY_ENABLE', 'true')
        patch.setenv('ROS_SECURITY_STRATEGY', 'Enforce')
        if "doesn't have the security libraries" in visit(*CLIENT):
            pytest.skip('this Fast DDS was compiled without security, as all from PyPI are')
        yield


@pytest.fixture(scope='module')
def stack(secure: None) -> Iterator[Running]:
    params = {'perception': {'scene': 'tabletop'}}
    with started((*NODES, PERCEPTION), params=params) as running:
        # The nodes take longer to find each other where each has to show its keys.
        until(lambda: running.run('return to base').ending is Ending.FINISHED, 'whole graph')
        yield running


def test_policies_are_enough_for_a_whole_task(stack: Running) -> None:
    result = stack.run('put the red cube on location_B')

    assert (result.ending.name, result.message) == ('FINISHED', '')
    assert stack.client.scene().has('red_cube', 'on', 'location_B')


def test_program_of_a_person_may_answer(stack: Running) -> None:
    assert NOTHING_WAITS in visit(*CLIENT)


@pytest.mark.parametrize('name', ['brain_planner', 'body_mapper', 'state_estimator'])
def test_node_that_a_model_speaks_through_may_not_answer(stack: Running, name: str) -> None:
    assert 'refused' in visit(f'/bbllm/{name}', '/bbllm', name)


def test_rviz_may_not_answer(stack: Running) -> None:
    assert 'refused' in visit('/bbllm/rviz', '/', 'rviz')


def test_program_without_keys_finds_nobody(stack: Running) -> None:
    assert visit(*CLIENT, ROS_SECURITY_ENABLE='false') == 'alone'


def test_program_with_keys_of_another_keystore_finds_nobody(
    stack: Running, tmp_path: Path
) -> None:
    others = make_keystore(tmp_path / 'others')

    assert visit(*CLIENT, ROS_SECURITY_KEYSTORE=str(others)) == 'alone'


def test_program_whose_enclave_has_no_keys_does_not_start(stack: Running) -> None:
    assert 'does not exist' in visit('/bbllm/nobody', '/bbllm', 'nobody')
