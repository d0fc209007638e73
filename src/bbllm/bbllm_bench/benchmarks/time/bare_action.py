"""
Times an action that does nothing, with rclpy alone: `python bare_action.py COUNT`.

A second process of this file serves it. Prints a JSON list: seconds from sending a goal to its
acceptance. Nothing of bbllm's executors, callbacks or watching is in the way.
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

ACTION = 'bare_action'
WARM = 5
WAIT_S = 20.0
"""How long the server may take to start and to accept the first goal [s]."""
LOST_S = 1.0
"""A goal that is not answered within this time was lost [s]."""


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


def ask(count: int) -> list[float]:
    """
    Send goals one after the other; return the seconds to their acceptance.

    The first ones may be lost, since a server that has not found the client's reader yet answers
    into the void, and `wait_for_server` does not check that (design/executors.md).
    """
    rclpy.init()
    node = rclpy.create_node('bare_action_client')
    client = ActionClient(node, ExecuteSkill, ACTION)
    times: list[float] = []
    deadline_s = time.monotonic() + WAIT_S
    try:
        client.wait_for_server(WAIT_S)
        while len(times) < WARM + count:
            begun_s = time.monotonic()
            sent = client.send_goal_async(ExecuteSkill.Goal())
            rclpy.spin_until_future_complete(node, sent, timeout_sec=LOST_S)
            if sent.done():
                times.append(time.monotonic() - begun_s)
                ended = sent.result().get_result_async()
                rclpy.spin_until_future_complete(node, ended, timeout_sec=LOST_S)
            elif times or begun_s > deadline_s:
                raise TimeoutError(f'A goal of {ACTION} was not accepted within {LOST_S:g} s.')
        return times[WARM:]
    finally:
        client.destroy()
        node.destroy_node()
        rclpy.try_shutdown()


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
