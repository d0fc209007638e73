"""A stack that holds its robot for a real one, and asks before it moves."""

from collections.abc import Iterator
from typing import Any

import pytest

from bbllm.testing import ModelServer, replies
from tests.ros.asking import BODY, PICK_PLACE, end_all, models, served_by
from tests.ros.robots import Robot
from tests.ros.stacks import REAL_LIKE, Running, started


@pytest.fixture(scope='module')
def server() -> Iterator[ModelServer]:
    with ModelServer(replies(PICK_PLACE[0])) as server:
        yield server


@pytest.fixture(scope='module')
def stack(ros_domain: int, server: ModelServer, tmp_path_factory: Any) -> Iterator[Running]:
    options = served_by(server, tmp_path_factory.mktemp('llm'))
    options['params']['fr3_executor'] = {
        'approval': 'plan',
        'simulated': False,
        'approval_timeout_s': 60.0,
        'never': 'touch the aqua cube',
    }
    with started(REAL_LIKE, **options) as running:
        yield running


@pytest.fixture(scope='module')
def robot_of_module(stack: Running) -> Robot:
    return Robot(stack)


@pytest.fixture
def robot(robot_of_module: Robot, stack: Running, server: ModelServer) -> Iterator[Robot]:
    """Yield what reaches the robot from now on; the models know their plan again."""
    server.will(models(list(PICK_PLACE), BODY))
    server.bodies.clear()
    robot_of_module.begin()
    yield robot_of_module
    end_all(stack)
