"""Inspects the graph of a real arm for a record of it; requests states and parameters only."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from controller_manager_msgs.srv import ListControllers, ListHardwareComponents
from diagnostic_msgs.msg import DiagnosticArray
from franka_msgs.msg import FrankaRobotState
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from bbllm.api.config import RuleChoice
from bbllm_ros.convert.camera_status import TOPIC, faults_from_msg
from bbllm_ros.convert.records import LATCHED
from bbllm_ros.driver.robot_graph import Giver, ReceivedStates, RobotGraph
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_ros.stack.stack import REAL_NODES

FIND_S = 8.0
"""How long the driver may take to be found, and what else it serves after that [s]."""
ALONE_S = 0.5
ANSWER_S, ASKED = 2.0, 3
"""
How long an answer may take [s], and how often a question is asked: the server of a new client can
answer before it has found where the client receives answers.
"""
WATCH_S = 1.5
STATE = 'franka_robot_state_broadcaster/robot_state'
ARM = 'franka/joint_states'
LATEST = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)


def probe(
    namespace: str, gripper: str, on_progress: Callable[[str], None] = lambda doing: None
) -> RobotGraph:
    """Join the graph of a namespace, inspect it, and leave it again; takes some seconds."""
    with OwnNodes() as own:
        node = own.join(f'bbllm_doctor_{os.getpid()}', f'/{namespace}')
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
        try:
            return _Probe(node, executor, namespace, gripper, on_progress).inspect()
        finally:
            executor.shutdown()


class _Probe:
    def __init__(
        self,
        node: Node,
        executor: SingleThreadedExecutor,
        namespace: str,
        gripper: str,
        on_progress: Callable[[str], None],
    ) -> None:
        self._node, self._executor = node, executor
        self._gripper, self._on_progress = gripper, on_progress
        self._root = f'/{namespace}'.rstrip('/') + '/'
        self._received: dict[str, list[tuple[float, JointState]]] = {ARM: [], self._hand: []}
        self._states: list[FrankaRobotState] = []
        self._cameras: dict[str, str] = {}
        self._patience_s = ALONE_S

    @property
    def _hand(self) -> str:
        return f'{self._gripper}/joint_states'

    def inspect(self) -> RobotGraph:
        self._on_progress('looking for the driver')
        self._listen()
        self._spin(FIND_S, lambda: self._served('controller_manager/list_controllers'))
        there = self._served('controller_manager/list_controllers')
        self._patience_s = FIND_S if there else ALONE_S
        self._on_progress('asking the controller manager')
        controllers = self._ask(ListControllers, 'controller_manager/list_controllers')
        parts = self._ask(ListHardwareComponents, 'controller_manager/list_hardware_components')
        self._on_progress('asking fr3_executor')
        wanted = ('approval', 'simulated', *RuleChoice.model_fields)
        executor = self._parameters('fr3_executor', wanted)
        if executor is not None:  # the others may be found later than it
            self._spin(self._patience_s, lambda: self._nodes().issuperset(REAL_NODES))
        self._on_progress('listening to arm, hand and robot state')
        for received in self._received.values():
            received.clear()  # what came while something else was waited for tells no rate
        self._spin(WATCH_S)
        state = self._states[-1] if self._states else None
        services = self._services()
        return RobotGraph(
            nodes=self._nodes(),
            topics=self._topics(),
            services=services,
            actions=frozenset(
                name.removesuffix('/_action/send_goal')
                for name in services
                if name.endswith('/_action/send_goal')
            ),
            controllers=controllers and {item.name: item.state for item in controllers.controller},
            hardware=parts and {item.name: item.state.label for item in parts.component},
            arm=self._news(ARM),
            hand=self._news(self._hand),
            robot_mode=None if state is None else int(state.robot_mode),
            success_rate=0.0 if state is None else float(state.control_command_success_rate),
            errors=() if state is None else _errors(state),
            cameras=self._cameras,
            executor=executor,
        )

    def _listen(self) -> None:
        for topic, received in self._received.items():
            self._node.create_subscription(
                JointState,
                topic,
                lambda msg, to=received: to.append((time.monotonic(), msg)),
                LATEST,
            )
        self._node.create_subscription(FrankaRobotState, STATE, self._keep, LATEST)
        self._node.create_subscription(
            DiagnosticArray, TOPIC, lambda msg: self._cameras.update(faults_from_msg(msg)), LATCHED
        )

    def _keep(self, state: FrankaRobotState) -> None:
        self._states = [state]

    def _spin(
        self, timeout_s: float, stop_condition: Callable[[], object] = lambda: False
    ) -> None:
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s and not stop_condition():
            self._executor.spin_once(timeout_sec=0.05)

    def _ask(self, kind: Any, name: str, request: Any = None) -> Any:
        client = self._node.create_client(kind, name)
        self._spin(self._patience_s, client.service_is_ready)
        if not client.service_is_ready():
            return None
        for _ in range(ASKED):
            future = client.call_async(request or kind.Request())
            self._spin(ANSWER_S, future.done)
            if future.done():
                return future.result()
            client.remove_pending_request(future)
        return None

    def _parameters(self, node: str, names: tuple[str, ...]) -> dict[str, Any] | None:
        request = GetParameters.Request(names=list(names))
        answer = self._ask(GetParameters, f'{node}/get_parameters', request)
        if answer is None:
            return None
        values = (parameter_value_to_python(value) for value in answer.values)
        return dict(zip(names, values, strict=False))

    def _news(self, topic: str) -> ReceivedStates | None:
        received = self._received[topic]
        if not received:
            return None
        (first_s, first), (last_s, last) = received[0], received[-1]
        spent_s = last_s - first_s
        return ReceivedStates(
            names=tuple(last.name),
            count=len(received),
            rate_hz=(len(received) - 1) / spent_s if spent_s > 0 else 0.0,
            news=first.header.stamp != last.header.stamp,
            position=tuple(last.position),
        )

    def _nodes(self) -> frozenset[str]:
        found = self._node.get_node_names_and_namespaces()
        return frozenset(
            self._inside(f'{space.rstrip("/")}/{name}')
            for name, space in found
            if name != self._node.get_name()
        )

    def _topics(self) -> dict[str, tuple[Giver, ...]]:
        found = {}
        for topic, _ in self._node.get_topic_names_and_types():
            givers = tuple(
                Giver(
                    node=info.node_name,
                    type=info.topic_type,
                    reliable=info.qos_profile.reliability.name == 'RELIABLE',
                    latched=info.qos_profile.durability.name == 'TRANSIENT_LOCAL',
                )
                for info in self._node.get_publishers_info_by_topic(topic)
            )
            if givers:
                found[self._inside(topic)] = givers
        return found

    def _services(self) -> frozenset[str]:
        """Return the services with a server; the graph also lists those with clients only."""
        found: set[str] = set()
        for name, space in self._node.get_node_names_and_namespaces():
            with suppress(NodeNameNonExistentError):  # it has gone meanwhile
                listed = self._node.get_service_names_and_types_by_node(name, space)
                found.update(self._inside(service) for service, _ in listed)
        return frozenset(found)

    def _served(self, name: str) -> bool:
        return name in self._services()

    def _inside(self, name: str) -> str:
        """Return a name within the namespace; one outside of it keeps its slash."""
        return name.removeprefix(self._root) if name.startswith(self._root) else name


def _errors(state: FrankaRobotState) -> tuple[str, ...]:
    errors = state.current_errors
    return tuple(name for name in errors.get_fields_and_field_types() if getattr(errors, name))
