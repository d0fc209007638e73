"""A simulated driver in a domain of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fork_server import serve_module

from bbllm_ros.stack.stack import Stack, StackConfig

# pytest's importlib mode puts no test folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

NAMESPACE = 'lab/left_arm'
SPEED = 3.0
"""Simulated seconds per second: motions are short, and long enough to be interrupted."""


@pytest.fixture(scope='module')
def simulator(ros_domain: int) -> Iterator[str]:
    """Start `mujoco_sim` alone; return its namespace."""
    params = {'mujoco_sim': {'speed': SPEED}}
    config = StackConfig(
        nodes=('mujoco_sim',), namespace=NAMESPACE, params=params, start=serve_module
    )
    with Stack(config):
        yield NAMESPACE
