"""`bbllm up sim --open-state`: what cannot be used is said before a node is started."""

from __future__ import annotations

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed here (make test has it)')

from terminals import bbllm  # needs nothing of ROS, but its tests do

pytestmark = pytest.mark.ros


def test_a_stand_in_cannot_estimate_and_no_node_is_started(environment: dict[str, str]) -> None:
    result = bbllm(environment, 'up', 'sim', '--open-state', 'model', '--brain', 'offline')

    assert result.returncode == 2
    assert 'take open_state:=rules' in result.stderr
    assert 'Starting' not in result.stderr
