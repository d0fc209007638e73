"""What the doctor sees of a running graph, and of an empty one."""

import pytest
from franka_msgs.srv import SetLoad

from bbllm_ros.checks.real_arm import RealArm, judge_graph
from bbllm_ros.driver import real_probe
from bbllm_ros.driver.real_probe import probe
from franka_driver_conformance.client import DriverClient

pytestmark = pytest.mark.ros
ARM_OF_BBLLM = RealArm(namespace='bbllm')


def test_what_is_only_asked_for_is_not_taken_for_a_driver(
    empty_domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(empty_domain))
    monkeypatch.setattr(real_probe, 'FIND_S', 1.0)

    with DriverClient('bbllm') as client:
        asking = 'service_server/set_load'
        client.node.create_client(SetLoad, asking)
        graph = probe('bbllm', 'franka_gripper')
        listed = client.services()
    found = list(judge_graph(graph, ARM_OF_BBLLM))

    assert f'/bbllm/{asking}' in listed
    assert [item.name for item in found] == ['manager', 'nodes']
