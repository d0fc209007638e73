"""What the doctor sees of a running graph, and of an empty one."""

from __future__ import annotations

import pytest
from stacks import Running

from bbllm.cli.findings import Level
from bbllm.cli.real_graph import Starts, judge_graph
from bbllm.nodes.real_probe import probe

pytestmark = pytest.mark.ros
STARTS = Starts.of('172.16.0.2', 'bbllm')


def test_a_simulated_driver_is_found_whole_and_ready(running: Running) -> None:
    told: list[str] = []

    graph = probe('bbllm', 'franka_gripper', told.append)
    found = list(judge_graph(graph, namespace='bbllm', gripper='franka_gripper', starts=STARTS))

    odd = [item for item in found if item.level is not Level.OK]
    assert all('slow' in item.text for item in odd), odd  # on a machine that is busy
    assert graph.arm is not None and len(graph.arm.position) == 7
    assert graph.executor == {'approval': 'none', 'simulated': True, 'safety': 'safety'}
    assert told[0] == 'looking for the driver'


def test_a_wrong_namespace_is_told_where_the_driver_is(running: Running) -> None:
    graph = probe('elsewhere', 'franka_gripper')
    found = judge_graph(graph, namespace='elsewhere', gripper='franka_gripper', starts=STARTS)

    assert graph.controllers is None
    assert any('there is' in item.text and '--namespace' in item.text for item in found)
