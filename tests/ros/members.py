"""Nodes in contexts of their own: other processes, as far as DDS can tell."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.node import Node

from bbllm_ros.rclpy_support.entities import leave_graph

PATIENCE_S = 60.0


@contextmanager
def member(
    name: str, namespace: str = '', executor: Callable[..., Executor] | None = None
) -> Iterator[Node]:
    """Yield a node, which is spun where an executor is given."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node(name, namespace=namespace, context=context)
    ending = threading.Event()
    try:
        if executor is None:
            yield node
            return
        spun = executor(context=context)
        spun.add_node(node)

        def spin() -> None:
            while not ending.is_set():
                spun.spin_once(timeout_sec=1.0)

        spinning = threading.Thread(target=spin, daemon=True)
        spinning.start()
        yield node
        ending.set()
        spun.wake()
        spinning.join(PATIENCE_S)
        spun.shutdown(timeout_sec=PATIENCE_S)
    finally:
        leave_graph(node)
        rclpy.shutdown(context=context)
