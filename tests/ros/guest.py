"""
A program that is none of bbllm's and looks for its stack with the defaults of ROS 2.

Called with how long to look [s] and a task. Prints the nodes of the stack that it found, and how
the task ended; empty where nobody accepted it.
"""

import json
import sys
import time

import rclpy
from bbllm_interfaces.action import RunTask
from rclpy.action import ActionClient

from bbllm.core.events import Ending
from bbllm_ros.stack.stack import NODES


def main() -> None:
    timeout_s, task = float(sys.argv[1]), sys.argv[2]
    rclpy.init(args=[])
    node = rclpy.create_node('guest')
    client = ActionClient(node, RunTask, '/bbllm/run_task')
    deadline_s = time.monotonic() + timeout_s
    ending = ''
    found: set[str] = set()
    if client.wait_for_server(timeout_s):
        accepted = client.send_goal_async(RunTask.Goal(task=task, feedback_loops=-1))
        rclpy.spin_until_future_complete(node, accepted, timeout_sec=timeout_s)
        goal = accepted.result()
        if goal is not None and goal.accepted:
            result = goal.get_result_async()
            rclpy.spin_until_future_complete(node, result, timeout_sec=timeout_s)
            ending = Ending(result.result().result.ending).name
    while len(found) < len(NODES) and time.monotonic() < deadline_s:
        found |= {
            f'{space}/{name}'
            for name, space in node.get_node_names_and_namespaces()
            if space == '/bbllm' and name in NODES
        }
        time.sleep(0.1)
    print(json.dumps({'nodes': sorted(found), 'ending': ending}), flush=True)
    rclpy.shutdown()


if __name__ == '__main__':
    main()
