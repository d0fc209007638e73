"""A client of what only the simulator can do, for benches and tests."""

from __future__ import annotations

from collections.abc import Callable

from bbllm_interfaces.srv import InjectFault, ResetSim
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.core.errors import WorldError
from bbllm.ros.rclpy_support.service_call import ServiceCall
from bbllm.ros.rclpy_support.waiting import ANSWER_S, nothing

SERVER = 'mujoco_sim'


class SimClient:
    """Lets things go wrong and puts the table back; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        # No fault is named so; the answer is a refusal, and nothing goes wrong.
        self._inject = ServiceCall(
            node, InjectFault, 'sim/inject_fault', SERVER, group, first=InjectFault.Request()
        )
        self._reset = ServiceCall(node, ResetSim, 'sim/reset', SERVER, group)

    def inject(
        self, fault: str, *, clear: bool = False, sending: Callable[[], None] = nothing
    ) -> None:
        """
        Let something go wrong, or take it back.

        Args:
            fault: One of `sim.faults.Fault`; empty with `clear` for everything that lasts.
            clear: True to take it back.
            sending: Called right before it is asked for.

        Raises:
            LostNodeError: There is no simulator.
            WorldError: It refuses, and says why, or does not answer.
        """
        request = InjectFault.Request(fault=fault, clear=clear)
        reply = self._inject.run(request, ANSWER_S, sending=sending)
        if not reply.success:
            raise WorldError(reply.message)

    def reset(self, scene: str = '', seed: int = 0) -> None:
        """
        Set the world back to the start of a scene.

        Args:
            scene: Name or path of a scene; empty for the one in force.
            seed: Of the wrench's noise; 0 for exact readings.

        Raises:
            LostNodeError: There is no simulator.
            WorldError: It refuses, and says why, or does not answer.
        """
        reply = self._reset.run(ResetSim.Request(scene=scene, seed=seed), ANSWER_S)
        if not reply.success:
            raise WorldError(reply.message)
