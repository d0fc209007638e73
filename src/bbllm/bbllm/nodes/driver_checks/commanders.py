"""Who else commands the robot: checks that move it are run only where nobody does."""

from __future__ import annotations

import time

from rclpy.action import get_action_client_names_and_types_by_node
from rclpy.node import NodeNameNonExistentError

from bbllm.core.errors import WorldError
from bbllm.nodes.driver_checks.client import LOOK_S, DriverClient

HAND = ('homing', 'move', 'grasp', 'gripper_action')


def others(client: DriverClient) -> tuple[str, ...]:
    """Return the full names of nodes that could send the arm or the hand somewhere."""
    own = client.node.get_name()
    topic = client.full_name(f'{client.controller}/joint_trajectory')
    actions = [f'{client.controller}/follow_joint_trajectory', 'action_server/ptp_motion']
    actions += [f'{client.gripper}/{name}' for name in HAND if client.gripper]
    goals = {client.full_name(name) for name in actions}
    found = {
        _full(info.node_namespace, info.node_name)
        for info in client.node.get_publishers_info_by_topic(topic)
        if info.node_name != own
    }
    for name, space in client.node.get_node_names_and_namespaces():
        try:
            used = get_action_client_names_and_types_by_node(client.node, name, space)
        except NodeNameNonExistentError:  # it has gone meanwhile
            continue
        if name != own and goals & {action for action, _ in used}:
            found.add(_full(space, name))
    return tuple(sorted(found))


def need_alone(client: DriverClient, find_s: float) -> None:
    """
    Look a while for others who command the robot.

    Args:
        client: A client of the driver.
        find_s: How long is looked, by the wall clock; 0 looks once [s].

    Raises:
        WorldError: There are some; names them and what would do.
    """
    deadline_s = time.monotonic() + find_s
    while True:
        if found := others(client):
            raise WorldError(
                f'Others command this robot too: {", ".join(found)}. A robot takes goals from '
                'whoever comes last, so nothing is moved. End them (the driver alone is: '
                'ros2 launch bbllm franka_driver.launch.py), or leave out --allow-motion and '
                '--allow-hand: then it is only looked at.'
            )
        if time.monotonic() >= deadline_s:
            return
        time.sleep(LOOK_S)


def _full(space: str, name: str) -> str:
    return f'{space.rstrip("/")}/{name}'
