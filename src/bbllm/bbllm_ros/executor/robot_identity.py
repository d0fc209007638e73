"""
Which robot the executor's goals would move: the simulated one, or the real arm.

An executor for a simulated robot sends nothing unless `mujoco_sim` of its own namespace alone
publishes the joint states, serves the controller, and beats. An executor for a real arm sends
nothing while a `mujoco_sim` is in its namespace.
"""

import time

from rclpy.node import Node

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import WrongRobotError
from bbllm_ros.driver.joint_feed import ARM_TOPIC
from bbllm_ros.rclpy_support.calls import POLL_S
from bbllm_ros.rclpy_support.entities import sources_of
from bbllm_ros.rclpy_support.liveness import Liveness
from bbllm_ros.stack.stack import SIMULATOR

PATIENCE_S = 5.0
"""How long an endpoint that is not discovered yet is waited for [s]."""


class RobotIdentity:
    """Decides by the graph and the heartbeats whether an executor may send goals."""

    def __init__(
        self, node: Node, heartbeats: Liveness, *, simulated: bool, controller: str
    ) -> None:
        self._node = node
        self._heartbeats = heartbeats
        self._simulated = simulated
        # An action server publishes its status: the one thing of it that the graph attributes.
        topics = (ARM_TOPIC, f'{controller}/follow_joint_trajectory/_action/status')
        self._topics = tuple(node.resolve_topic_name(topic) for topic in topics)

    def wait_right(self, cancel: CancelToken) -> None:
        """Wait until goals would reach the right robot; WrongRobotError after `PATIENCE_S`."""
        deadline_s = time.monotonic() + PATIENCE_S
        while self.fault() and time.monotonic() < deadline_s:
            cancel.wait(POLL_S)
        self.check()

    def check(self) -> None:
        fault = self.fault()
        if fault:
            raise WrongRobotError(fault)

    def fault(self) -> str:
        """Return why goals must not be sent now; empty where they may be."""
        return self._fault_of_simulated() if self._simulated else self._fault_of_real()

    def _fault_of_simulated(self) -> str:
        advice = (
            'This executor is for a simulated robot (simulated:=true), so it sends nothing. '
            'Start the whole simulation with `bbllm up sim`, in a namespace where no real arm is.'
        )
        if not self._heartbeats.alive(SIMULATOR):
            return f'No heartbeat of {SIMULATOR} arrives in {self._node.get_namespace()}. {advice}'
        for topic in self._topics:
            sources = {*sources_of(self._node, topic)}
            if sources != {self._simulator}:
                found = ' and '.join(sorted(sources)) or 'no node'
                return f'{topic} comes from {found} instead of {self._simulator} alone. {advice}'
        return ''

    def _fault_of_real(self) -> str:
        found = self._heartbeats.alive(SIMULATOR) or any(
            self._simulator in sources_of(self._node, topic) for topic in self._topics
        )
        return (
            f'{self._simulator} runs beside this executor, which is for a real arm '
            '(simulated:=false), so it sends nothing. End the simulation, or start it in another '
            'namespace.'
            if found
            else ''
        )

    @property
    def _simulator(self) -> str:
        return f'{self._node.get_namespace().rstrip("/")}/{SIMULATOR}'
