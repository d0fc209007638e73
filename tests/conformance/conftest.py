"""A simulated driver in a domain of its own."""

from collections.abc import Iterator

import pytest

from bbllm_ros.stack.stack import Stack, StackConfig
from tests.doubles.fork_server import serve_module

NAMESPACE = 'lab/left_arm'


def simulator_at(speed: float, namespace: str) -> Iterator[str]:
    """Start `mujoco_sim` alone, at so many simulated seconds per second."""
    params = {'mujoco_sim': {'speed': speed}}
    config = StackConfig(
        nodes=('mujoco_sim',), namespace=namespace, params=params, start=serve_module
    )
    with Stack(config):
        yield namespace


@pytest.fixture(scope='module')
def simulator(ros_domain: int) -> Iterator[str]:
    """Start a simulator whose motions are short; return its namespace."""
    yield from simulator_at(3.0, NAMESPACE)


@pytest.fixture(scope='module')
def slow_simulator(ros_domain: int) -> Iterator[str]:
    """Start a simulator whose motions last until a test stops them; return its namespace."""
    yield from simulator_at(0.5, f'{NAMESPACE}_slow')
