"""Nodes of programs that are none themselves: with a context and a thread of their own."""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import rclpy
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from bbllm_ros.rclpy_support.dds_boundary import bound_process
from bbllm_ros.rclpy_support.domains import domain_of
from bbllm_ros.rclpy_support.entities import leave_graph

END_S = 2.0
"""How long the callback that runs may take to end when the nodes are closed [s]."""


class OwnNodes(AbstractContextManager['OwnNodes']):
    """
    Some nodes, one of which may be spun in a thread; close them, or use them with `with`.

    What belongs to a node that is spun is made before `spin`, or in a callback group that allows
    it. Signals stay with the program. *args* are by default those of the process, *domain_id* that
    of its environment.
    """

    def __init__(self, *, args: Sequence[str] | None = None, domain_id: int | None = None):
        bound_process()
        self._context = rclpy.Context()
        if domain_id is None:
            domain_of(os.environ)  # what rcl says of a wrong one names neither it nor the range
        rclpy.init(
            args=None if args is None else list(args),
            context=self._context,
            domain_id=domain_id,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._nodes: list[Node] = []
        self._ending = threading.Event()
        self._executor: SingleThreadedExecutor | None = None
        self._thread: threading.Thread | None = None

    def join(self, name: str, namespace: str) -> Node:
        """Return a node that is in the graph from now on, without parameters and /rosout."""
        node = rclpy.create_node(
            name,
            namespace=namespace,
            context=self._context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._nodes.append(node)
        return node

    def spin(self, node: Node, thread_name: str) -> None:
        """Serve the callbacks of a node in a thread, until the nodes are closed; once only."""
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._thread = threading.Thread(
            target=self._spin, args=[self._executor], name=thread_name, daemon=True
        )
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        # An executor that is shut down while it looks for work raises in its thread.
        self._ending.set()
        if self._executor is not None and self._thread is not None:
            self._executor.wake()
            self._thread.join(timeout=END_S)
            self._executor.shutdown(timeout_sec=1.0)
        leave_graph(*self._nodes)
        self._context.try_shutdown()

    def _spin(self, executor: SingleThreadedExecutor) -> None:
        while not self._ending.is_set():
            try:
                executor.spin_once(timeout_sec=1.0)
            except InvalidHandle:
                continue  # rclpy 7.1 meets what another thread has destroyed just now
            except ExternalShutdownException:
                return


def join_stack(namespace: str, environ: Mapping[str, str] | None = None) -> OwnNodes:
    """Return a context of ROS in the domain of a stack, with its clients' keys."""
    env = os.environ if environ is None else environ
    bound_process(env)
    args = ['--ros-args', '--enclave', f'/{namespace}/client']
    return OwnNodes(args=args, domain_id=domain_of(env))
