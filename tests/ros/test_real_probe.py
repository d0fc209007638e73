"""What the doctor sees of a running graph, and of an empty one."""

from __future__ import annotations

import pytest
from franka_msgs.srv import SetLoad
from stacks import Running

from bbllm.cli.checks.machine import Level
from bbllm.cli.checks.real_graph import Starts, judge_graph
from bbllm.ros.driver.real_probe import probe
from franka_driver_conformance.client import DriverClient

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


def test_what_is_only_asked_for_is_not_taken_for_a_driver(
    empty_domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(empty_domain))

    with DriverClient('bbllm') as client:
        asking = 'service_server/set_load'
        client.node.create_client(SetLoad, asking)
        graph = probe('bbllm', 'franka_gripper')
        listed = client.services()
    found = list(judge_graph(graph, namespace='bbllm', gripper='franka_gripper', starts=STARTS))

    assert f'/bbllm/{asking}' in listed
    assert [item.name for item in found] == ['manager', 'nodes']
