"""Parts 5 and 6 of the page of the first day, played with a simulator in the driver's place."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

import yaml

from bbllm.core.constants import REAL_NAMESPACE
from bbllm.scene.scene_file import load_scene
from bbllm_ros.parameters.node_params import NODE_PARAMS
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import REAL_NODES, Stack, StackConfig
from tests.doubles.fork_server import serve_module
from tests.doubles.terminals import Terminal, bbllm, end, read_until, start

pytestmark = pytest.mark.ros

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'first-day-on-hardware.md'
WAIT_S = 300.0
Env = dict[str, str]


def part(number: int) -> list[list[str]]:
    """Return the commands of a part of the page, each as its words."""
    text = re.split(r'^## ', PAGE.read_text(), flags=re.MULTILINE)[number]
    assert text.startswith(f'{number}. ')
    blocks = re.findall(r'^```\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


LAUNCH, PLAN, RUN, DENY = part(5)
WATCH, RUN_AGAIN = part(6)


def params() -> dict[str, Any]:
    """Return the parameters that the page's launch line gives to the nodes that have them."""
    given = {
        name: yaml.safe_load(value) for name, _, value in (x.partition(':=') for x in LAUNCH[4:])
    }
    return {
        node: {k: v for k, v in given.items() if k in NODE_PARAMS[node].model_fields}
        for node in REAL_NODES
    }


@pytest.fixture(scope='module')
def there(environment: Env) -> Iterator[Env]:
    """Run the nodes of the page; yields the environment of its commands."""
    told = params()
    assert sum(map(len, told.values())) == len(LAUNCH[4:]) == 3
    scene = told['state_estimator']['scene']
    stand_in: dict[str, Any] = {'franka_driver': {'speed': 0.0, 'scene': scene}}
    config = StackConfig(
        nodes=(*REAL_NODES, 'franka_driver'),
        executables={'franka_driver': 'mujoco_sim'},
        start=serve_module,
        params={**told, **stand_in},
        environ=environment,
    )
    assert config.namespace == REAL_NAMESPACE
    with Stack(config) as stack:
        stack.wait_ready(timeout_s=WAIT_S).close()
        yield environment


def events(environment: Env) -> list[dict[str, Any]]:
    shown = bbllm(environment, 'show', '--events').stdout.splitlines()
    return [json.loads(line) for line in shown]


def tcp(environment: Env) -> tuple[float, ...]:
    """Return where the middle between the fingers is [m], in the base frame."""
    with StackClient(REAL_NAMESPACE, name='bbllm_test_looks', environ=environment) as client:
        client.wait_ready(REAL_NODES, WAIT_S)
        hand = client.scene().hand
    assert hand is not None
    return hand.tcp.position_m


def test_what_the_page_expects_of_the_scene_is_in_it() -> None:
    scene = load_scene(params()['state_estimator']['scene'])
    (cube,) = scene.movables
    (place,) = (item for item in scene.places if item.name == 'location_B')

    assert (cube.name, cube.size_m[0]) == ('red_cube', 0.05)
    assert cube.pose.position_m[:2] == (0.45, 0.0)
    assert place.pose.position_m[1] - cube.pose.position_m[1] == pytest.approx(0.2)


def test_plan_is_that_of_the_page_and_nothing_moves(there: Env) -> None:
    result = bbllm(there, *PLAN[1:], '--json')

    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    assert [step['call'] for step in data['plan'][:2]] == [
        'pick(red_cube)',
        'place(location_B)',
    ]
    assert data['faults'] == []


@pytest.mark.slow
def test_denial_moves_nothing_and_reaches_the_brain_and_a_yes_moves_the_cube(there: Env) -> None:
    at_rest = tcp(there)
    task = start(there, *RUN[1:])
    try:
        read_until(task, 'In another terminal: bbllm approve --hash')
        denied = bbllm(there, *DENY[1:])
        read_until(task, 'In another terminal: bbllm approve --hash')
    finally:
        end(task)
    before = events(there)

    assert denied.returncode == 0, denied.stderr
    assert tcp(there) == pytest.approx(at_rest, abs=1e-3)
    assert DENY[-1] in json.dumps([e for e in before if e['kind'] in ('repair', 'feedback')])

    with Terminal(there, *WATCH[1:]) as person:
        task = start(there, *RUN_AGAIN[1:])
        try:
            person.wait_for('place red_cube on location_B')
            person.wait_for('[y/N]')
            person.type('y\n')
            person.wait_for('Approved plan')
            out, err = task.communicate(timeout=WAIT_S)
        finally:
            if task.poll() is None:
                end(task)
        person.interrupt()
        person.end()

    assert task.returncode == 0, out + err
    assert 'FINISHED' in out and 'goal: met' in out
