"""What `bbllm doctor --real` looks at, in the order of the report; nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bbllm.cli.checkup import joins
from bbllm.cli.findings import Finding, Level
from bbllm.cli.real_graph import Starts, judge_graph
from bbllm.cli.real_machine import (
    check_driver_packages,
    check_governor,
    check_kernel,
    check_limits,
    check_messages,
    check_middleware,
    check_network,
    check_safety,
)
from bbllm.cli.ros import missing_ros
from bbllm.core.errors import BbllmError

ROBOT_IP = '172.16.0.3'
"""franka_ros2's own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealArm:
    """Where to look."""

    robot_ip: str = ROBOT_IP
    namespace: str = 'bbllm'
    gripper: str = 'franka_gripper'


def look_at_real_arm(arm: RealArm, tell: Callable[[str], None]) -> Iterator[Finding]:
    """
    Yield the findings as they are made.

    Args:
        arm: Where to look.
        tell: Told what is being looked at.
    """
    yield from check_network(arm.robot_ip, tell)
    yield check_kernel()
    yield check_limits()
    yield check_governor()
    yield from check_messages()
    yield check_driver_packages()
    yield check_safety('safety_slow')  # what launches of a real arm take
    yield check_middleware()
    tell('trying the middleware')
    if reason := missing_ros() or joins():
        yield Finding('graph', Level.FAIL, reason, 'make setup, then . ./activate')
        return
    yield from _look_at_graph(arm, tell)


def _look_at_graph(arm: RealArm, tell: Callable[[str], None]) -> Iterator[Finding]:
    from bbllm.nodes.real_probe import probe

    starts = Starts.of(arm.robot_ip, arm.namespace)
    try:
        graph = probe(arm.namespace, arm.gripper, tell)
    except (BbllmError, RuntimeError, ImportError) as error:  # rcl's own are RuntimeErrors
        yield Finding('graph', Level.FAIL, f'cannot be looked at: {error}', 'bbllm doctor')
        return
    named = (graph.executor or {}).get('safety')
    if named:
        yield check_safety(str(named))
    yield from judge_graph(graph, namespace=arm.namespace, gripper=arm.gripper, starts=starts)
