"""The nodes of `bbllm up fr3`, against the simulated table behind the robot's protocol."""

import pytest

from bbllm.core.events import Ending
from bbllm_fci.process import TableProcess
from bbllm_ros.stack.stack import DIRECT_DRIVER, DIRECT_NODES
from tests.fci.conftest import height_m, served  # noqa: F401
from tests.ros.stacks import started

pytestmark = pytest.mark.ros

SCENE = 'tabletop'
LIFTED_M = 0.03
"""How much higher a cube is in the hand, at least [m]."""


def test_task_lifts_a_cube_of_the_table_that_is_served(
    ros_domain: int,
    served: TableProcess,  # noqa: F811
) -> None:
    table_m = height_m(served, 'red_cube')
    params = {
        DIRECT_DRIVER: {'ip': served.address, 'simulated_robot': True},
        'state_estimator': {'sources': 'static', 'scene': SCENE},
        'fr3_executor': {'approval': 'none'},
    }

    with started(DIRECT_NODES, params=params) as running:
        result = running.run('pick up the red cube')

    assert result.ending is Ending.FINISHED, result.message
    assert height_m(served, 'red_cube') > table_m + LIFTED_M
