"""
A program that comes to a graph and tries to approve; run with keys of its own, others', or none.

Prints one word: `refused` where it may not even ask, `alone` where it finds nobody to ask, or what
it was answered.
"""

import sys
import time

import rclpy
from bbllm_interfaces.srv import Approve
from rclpy._rclpy_pybind11 import RCLError  # there is no public name for it

PATIENCE_S = 10.0
"""Whoever belongs to the graph finds the others within a second or two [s]."""
TRIES = 10
ANSWER_S = 2.0


def main(enclave: str, namespace: str, name: str) -> str:
    rclpy.init(args=['--ros-args', '--enclave', enclave])
    node = rclpy.create_node(
        name, namespace=namespace, enable_rosout=False, start_parameter_services=False
    )
    try:
        client = node.create_client(Approve, '/bbllm/approve')
    except RCLError as error:
        return f'refused {error}'
    deadline_s = time.monotonic() + PATIENCE_S
    while not client.service_is_ready():
        if time.monotonic() > deadline_s:
            return 'alone'
        time.sleep(0.05)
    # An answer is lost where the server has not found the reader of answers yet: ask again.
    for _ in range(TRIES):
        answer = client.call_async(Approve.Request(hash='of nothing', granted=True, by='visitor'))
        rclpy.spin_until_future_complete(node, answer, timeout_sec=ANSWER_S)
        if answer.done():
            return answer.result().message
    return 'unanswered'


if __name__ == '__main__':
    print(main(*sys.argv[1:]))
