"""What `bbllm doctor --real` looks at, in the order of the report; nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bbllm.api.ros_environment import missing_ros
from bbllm.cli.checks.findings import Finding, Level
from bbllm.cli.checks.machine import joins
from bbllm.cli.checks.real_graph import Starts, judge_graph
from bbllm.cli.checks.real_machine import (
    check_driver_packages,
    check_governor,
    check_kernel,
    check_limits,
    check_messages,
    check_middleware,
    check_network,
    check_safety,
)
from bbllm.core.errors import BbllmError
from bbllm.core.namespaces import REAL_NAMESPACE

if TYPE_CHECKING:
    from bbllm.ros.driver.robot_graph import RobotGraph

ROBOT_IP = '172.16.0.2'
"""As in franka.config.yaml of franka_bringup, and in our pages. Its franka.launch.py alone has
172.16.0.3, which nobody gets here: our launch files have to be told the address."""
SAFETY = 'safety_slow'
"""What launches of a real arm take where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealArm:
    """Where to look."""

    robot_ip: str = ROBOT_IP
    namespace: str = REAL_NAMESPACE
    gripper: str = 'franka_gripper'


def look_at_real_arm(arm: RealArm, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    """
    Yield the findings as they are made.

    Args:
        arm: Where to look.
        on_progress: Called with what is being checked.
    """
    graph = _graph(arm, on_progress)
    if not isinstance(graph, Finding) and graph.simulated:
        yield Finding('network', Level.OK, 'not measured: mujoco_sim stands for the robot')
    else:
        yield from check_network(arm.robot_ip, on_progress)
    yield check_kernel()
    yield check_limits()
    yield check_governor()
    yield from check_messages()
    yield check_driver_packages()
    if isinstance(graph, Finding):
        yield check_safety(SAFETY)
        yield check_middleware()
        yield graph
        return
    asked = graph.executor
    yield check_safety(SAFETY if asked is None else str(asked.get('safety') or ''))
    yield check_middleware()
    starts = Starts.of(arm.robot_ip, arm.namespace)
    yield from judge_graph(graph, namespace=arm.namespace, gripper=arm.gripper, starts=starts)


def _graph(arm: RealArm, on_progress: Callable[[str], None]) -> RobotGraph | Finding:
    """Return what the graph shows, or why it cannot be looked at."""
    on_progress('trying the middleware')
    if reason := missing_ros() or joins():
        return Finding('graph', Level.FAIL, reason, 'make setup, then . ./activate')
    from bbllm.ros.driver.real_probe import probe

    try:
        return probe(arm.namespace, arm.gripper, on_progress)
    except (BbllmError, RuntimeError, ImportError) as error:  # rcl's own are RuntimeErrors
        return Finding('graph', Level.FAIL, f'cannot be looked at: {error}', 'bbllm doctor')
