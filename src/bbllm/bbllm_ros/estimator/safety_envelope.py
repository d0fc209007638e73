"""The safety envelope of a node: its file, and the age of the scene that it receives."""

import time

from bbllm_interfaces.msg import Scene as SceneMsg
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

from bbllm.arm.driver import ArmDriver
from bbllm.arm.envelope import SafetyEnvelope, StaleScene
from bbllm.arm.motion.motion_planner import GraspPlannerParams
from bbllm.arm.safety.envelope_guard import EnvelopeGuard, bounded
from bbllm_ros.parameters.node_params import Fr3ExecutorParams

PATIENCE_S = 1.0
"""How long an overdue scene is waited for before a motion is refused, wall clock [s]."""


class SceneAge:
    """
    Subscribes to the topic `scene`, and returns its age.

    `state_estimator` is silent while there is no scene. No history is requested: what was latched
    long ago does not count.
    """

    def __init__(self, node: Node, group: CallbackGroup, max_age_s: float) -> None:
        self._max_age_s = max_age_s
        self._received_s = float('-inf')
        # Raw: nobody reads it, so it need not be unpacked.
        node.create_subscription(
            SceneMsg, 'scene', self._receive, QoSProfile(depth=1), callback_group=group, raw=True
        )

    def __call__(self) -> float:
        """Return the age of the newest scene [s]; waits a little for one that is overdue."""
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            now_s = time.monotonic()
            age_s = now_s - self._received_s
            if age_s <= self._max_age_s or now_s >= deadline_s:
                return age_s
            time.sleep(0.02)

    def _receive(self, _: bytes) -> None:
        self._received_s = time.monotonic()


def ways_of(params: Fr3ExecutorParams, envelope: SafetyEnvelope) -> GraspPlannerParams:
    """Return how the arm may move: at the speed of the parameters, within the envelope."""
    return bounded(GraspPlannerParams(scale=params.speed_scale), envelope)


def make_guard(
    node: Node, group: CallbackGroup, params: Fr3ExecutorParams, driver: ArmDriver
) -> EnvelopeGuard:
    """Return what limits the motions of a node to its safety rules; raises ConfigError."""
    envelope = params.envelope
    max_age_s = min(envelope.stale_scene.max_age_s, params.max_scene_age_s)
    envelope = envelope.model_copy(update={'stale_scene': StaleScene(max_age_s=max_age_s)})
    return EnvelopeGuard(
        driver.robot_model,
        envelope,
        width_m=lambda: driver.joint_state().width_m,
        scene_age_s=SceneAge(node, group, max_age_s),
    )
