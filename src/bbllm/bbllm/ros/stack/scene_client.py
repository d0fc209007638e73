"""Asks `state_estimator` for the scene."""

from __future__ import annotations

from bbllm_interfaces.srv import GetScene
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import SceneError
from bbllm.core.types import Scene
from bbllm.ros.convert.records import from_msg, stamp_to_msg
from bbllm.ros.rclpy_support.service_call import ServiceCall
from bbllm.ros.rclpy_support.waiting import ANSWER_S

SERVER = 'state_estimator'


class SceneClient:
    """A client of the service `get_scene`, to be used from threads that do not spin."""

    def __init__(self, node: Node, group: CallbackGroup):
        self._call = ServiceCall(node, GetScene, 'get_scene', SERVER, group)

    @property
    def ready(self) -> bool:
        """Whether somebody serves the scene."""
        return self._call.ready

    def get(
        self,
        not_before_s: float = 0.0,
        *,
        or_stopped: bool = False,
        felt: bool = False,
        cancel: CancelToken | None = None,
    ) -> Scene:
        """
        Return the scene.

        Args:
            not_before_s: It must have been sensed then or later, on the world's clock [s].
            or_stopped: Where the robot is stopped, what was known last is good enough.
            felt: Where the arm has only just come to rest, a first reading of the force is waited
                for.
            cancel: Ends the wait.

        Raises:
            SceneError: The scene is stale or empty.
            LostNodeError: Nobody serves it.
            WorldError: No answer in time.
        """
        request = GetScene.Request(
            not_before=stamp_to_msg(not_before_s), or_stopped=or_stopped, felt=felt
        )
        reply = self._call.run(request, ANSWER_S, cancel=cancel)
        if reply.code != GetScene.Response.NONE:
            raise SceneError(reply.message)
        return from_msg(Scene, reply.scene)
