"""
Times an action that does nothing, with rclpy alone: `python bare_action.py COUNT`.

A second process of this file serves it. Prints a JSON list of pairs: seconds from sending a goal
to its acceptance, and to its result. Nothing
of bbllm's executors, callbacks or watching is in the way.
"""

import json
import subprocess
import sys
import time

import rclpy
from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import ActionClient, ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

ACTION = 'bare_action'
WARM = 5
WAIT_S = 20.0
"""How long the server may take to start, and a goal to its end [s]."""
LOST_S = 1.0
"""A first goal that is not answered within this time is sent again [s]."""


def serve() -> None:
    rclpy.init()
    node = rclpy.create_node('bare_action_server')

    def execute(goal: ServerGoalHandle) -> ExecuteSkill.Result:
        goal.succeed()
        return ExecuteSkill.Result()

    server = ActionServer(node, ExecuteSkill, ACTION, execute)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        server.destroy()
        node.destroy_node()
        rclpy.try_shutdown()


def ask(count: int) -> list[tuple[float, float]]:
    """Send goals one after the other; return seconds to their acceptance and to their result."""
    rclpy.init()
    node = rclpy.create_node('bare_action_client')
    client = ActionClient(node, ExecuteSkill, ACTION)
    try:
        if not client.wait_for_server(WAIT_S):
            raise TimeoutError(f'No server of {ACTION} within {WAIT_S:g} s.')
        for _ in range(WARM):
            _warm(node, client)
        times = []
        for _ in range(count):
            begun_s = time.monotonic()
            sent = client.send_goal_async(ExecuteSkill.Goal())
            rclpy.spin_until_future_complete(node, sent, timeout_sec=WAIT_S)
            accepted_s = time.monotonic() - begun_s
            goal = sent.result() if sent.done() else None
            if goal is None or not goal.accepted:
                raise TimeoutError(f'A goal of {ACTION} was not accepted within {WAIT_S:g} s.')
            ended = goal.get_result_async()
            rclpy.spin_until_future_complete(node, ended, timeout_sec=WAIT_S)
            if not ended.done():
                raise TimeoutError(f'A goal of {ACTION} did not end within {WAIT_S:g} s.')
            times.append((accepted_s, time.monotonic() - begun_s))
        return times
    finally:
        client.destroy()
        node.destroy_node()
        rclpy.try_shutdown()


def _warm(node: Node, client: ActionClient) -> None:
    """
    Send a goal until one is accepted, since the first ones may be lost.

    A server that has not found the client's reader yet answers into the void, and
    `wait_for_server` does not check that (design/executors.md).
    """
    for _ in range(round(WAIT_S / LOST_S)):
        sent = client.send_goal_async(ExecuteSkill.Goal())
        rclpy.spin_until_future_complete(node, sent, timeout_sec=LOST_S)
        if sent.done():
            ended = sent.result().get_result_async()
            rclpy.spin_until_future_complete(node, ended, timeout_sec=LOST_S)
            if ended.done():
                return
    raise TimeoutError(f'No goal of {ACTION} was accepted within {WAIT_S:g} s.')


def main() -> None:
    if sys.argv[1] == 'serve':
        serve()
        return
    server = subprocess.Popen([sys.executable, __file__, 'serve'])
    try:
        print(json.dumps(ask(int(sys.argv[1]))))
    finally:
        server.terminate()
        server.wait(WAIT_S)


if __name__ == '__main__':
    main()
