"""Clients of single nodes: scene, approval, rules, stop, and the simulator."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm_interfaces.msg import Approval
from bbllm_interfaces.srv import Approve, GetScene, InjectFault, ResetSim
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from bbllm.api.config import RuleChoice
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import SAME_S
from bbllm.core.errors import ApprovalError, ConfigError, SceneError, WorldError
from bbllm.core.types import Scene
from bbllm_ros.convert.approval import answer_to_request, approval_from_msg
from bbllm_ros.convert.records import LATCHED, from_msg, stamp_to_msg
from bbllm_ros.rclpy_support.calls import ANSWER_S, ServiceCall, nothing
from bbllm_ros.rclpy_support.entities import rivals
from bbllm_ros.stack.stack import SIMULATOR

FRESH_S = 0.1
"""
Age up to which a scene counts as that of now, wall clock: less than the time between two messages
about objects that rest (`sim.topics.REST_EVERY`), by which any answer may be late [s].
"""


class SceneClient:
    """
    A client of the service `get_scene`, to be used from threads that do not spin.

    With *reuses* a scene that was asked for within `FRESH_S` answers the next request of the same
    kind too, unless it was sensed before the time that this one names.
    """

    def __init__(self, node: Node, group: CallbackGroup, *, reuses: bool = False):
        self._call = ServiceCall(node, GetScene, 'get_scene', 'state_estimator', group)
        self._reuses = reuses
        self._ahead: _Asked | None = None
        """A future, from `ask_ahead`."""
        self._last: _Asked | None = None
        """The last scene."""

    @property
    def ready(self) -> bool:
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
        Return a scene that was sensed at *not_before_s* or later, on the world's clock [s].

        With *or_stopped* the last state of a stopped robot is good enough; with *felt* what is
        in the hand is weighed where the arm has only just come to rest. Raises SceneError where it
        is stale or empty.
        """
        if cancel is not None:
            cancel.raise_if_cancelled()
        kind = (or_stopped, felt)
        last, (ahead, self._ahead) = self._last, (self._ahead, None)
        if last is not None and last.serves(not_before_s, kind):
            scene: Scene = last.value
            return scene
        asked_s, sent = time.monotonic(), None
        if ahead is not None and ahead.serves(not_before_s, kind):
            asked_s, sent = ahead.asked_s, ahead.value
        request = _request(not_before_s, *kind)
        reply = self._call.run(request, ANSWER_S, cancel=cancel, sent=sent)
        if reply.code != GetScene.Response.NONE:
            raise SceneError(reply.message)
        scene = from_msg(Scene, reply.scene)
        if self._reuses:
            self._last = _Asked(asked_s, scene.stamp_s, kind, scene)
        return scene

    def ask_ahead(
        self, not_before_s: float, *, or_stopped: bool = False, felt: bool = False
    ) -> None:
        """Request the scene of the next `get`, and do not wait for it."""
        self.forget()
        if self._call.ready:
            asked_s, kind = time.monotonic(), (or_stopped, felt)
            future = self._call.send(_request(not_before_s, *kind))
            self._ahead = _Asked(asked_s, not_before_s, kind, future)

    def forget(self) -> None:
        """Answer the next `get` with a scene that is requested after this."""
        if self._ahead is not None:
            self._ahead.value.cancel()
        self._ahead = self._last = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for a scene, and what came of it."""

    asked_s: float
    """Monotonic clock [s]."""
    since_s: float
    """It shows what was so at this time or later, on the world's clock [s]."""
    kind: tuple[bool, bool]
    """`or_stopped` and `felt` of the request."""
    value: Any

    def serves(self, not_before_s: float, kind: tuple[bool, bool]) -> bool:
        """Return whether it is fresh, and what is requested now."""
        fresh = time.monotonic() - self.asked_s <= FRESH_S
        return fresh and kind == self.kind and self.since_s >= not_before_s - SAME_S


def _request(not_before_s: float, or_stopped: bool, felt: bool) -> GetScene.Request:
    return GetScene.Request(
        not_before=stamp_to_msg(not_before_s), or_stopped=or_stopped, felt=felt
    )


PARAMETER_S = 5.0
"""How long `fr3_executor` may take to answer with its parameter, wall clock [s]."""


class ExecutorSettingsClient:
    """Asks `fr3_executor` what a person has to approve, and which rules it enforces."""

    def __init__(self, node: Node, group: CallbackGroup):
        self._call = ServiceCall(
            node, GetParameters, 'fr3_executor/get_parameters', 'fr3_executor', group
        )

    def mode(self, cancel: CancelToken) -> ApprovalMode | None:
        """Return what a person has to approve; None where there is no answer."""
        try:
            values = self._values(('approval',), cancel)
        except WorldError:
            return None
        return next((mode for mode in ApprovalMode if mode.value in values), None)

    def approves_plans(self, cancel: CancelToken) -> bool:
        """Return whether a person approves whole plans; True also where there is no answer."""
        return self.mode(cancel) in (ApprovalMode.PLAN, None)

    def envelope(self, cancel: CancelToken) -> SafetyEnvelope:
        """
        Return the safety rules that are enforced; files are read on this machine.

        Raises WorldError where there is no answer, and ConfigError where a file cannot be read or
        the answer is none of these rules.
        """
        names = tuple(RuleChoice.model_fields)
        values = self._values(names, cancel)
        if len(values) != len(names):  # rclpy sends nothing where one of them is not declared
            raise ConfigError(
                f'fr3_executor lacks a parameter of {", ".join(names)}, so that its safety rules '
                'are not known: it is of another version. Start it from the same one as this node.'
            )
        try:
            return RuleChoice.of(dict(zip(names, values, strict=True))).envelope
        except ConfigError as error:
            raise ConfigError(
                f'The safety rules of fr3_executor cannot be read by this node: {error} A file '
                'that they name has to be on the machine of this node too.'
            ) from error

    def constraints(self, cancel: CancelToken) -> list[str]:
        """
        Return the constraints that are enforced, in words; none where there is no answer.

        Raises ConfigError as `envelope`: none would be shown while some are enforced.
        """
        try:
            envelope = self.envelope(cancel)
            return [*map(str, envelope.never), *envelope.kept_out]
        except WorldError:
            return []

    def _values(self, names: Sequence[str], cancel: CancelToken) -> list[Any]:
        request = GetParameters.Request(names=names)
        reply = self._call.run(request, PARAMETER_S, cancel=cancel)
        return [*map(parameter_value_to_python, reply.values)]


POLL_S = 0.1


class ApprovalClient:
    """Receives what waits, and answers; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        self._call = ServiceCall(
            node, Approve, 'approve', 'fr3_executor', group, first=Approve.Request()
        )
        self._node = node
        self._changed = threading.Condition()
        self._newest: Approval | None = None
        self._waiting: ApprovalRequest | None = None
        self._refused = ''
        node.create_subscription(
            Approval, 'approval', self._receive, LATCHED, callback_group=group
        )

    @property
    def known(self) -> bool:
        """Whether an executor has published what waits, if anything does."""
        return self._newest is not None

    @property
    def waiting(self) -> ApprovalRequest | None:
        return self._waiting

    @property
    def doubt(self) -> str:
        """Why what waits may come from another program than the executor; empty for no reason."""
        return ' '.join(filter(None, (self._refused, rivals(self._node, 'approval'))))

    def waits(self, request: ApprovalRequest) -> bool:
        return self.waiting == request

    @property
    def simulated(self) -> bool:
        """Whether a program may answer in place of a person."""
        known = self._newest
        return known is not None and bool(known.simulated)

    def next(
        self,
        timeout_s: float | None = None,
        *,
        after: ApprovalRequest | None = None,
        cancel: CancelToken | None = None,
    ) -> ApprovalRequest | None:
        """
        Wait until something waits for an answer, and return it; None after *timeout_s*.

        *after* was seen already and does not count; the same plan that is asked for once more
        does.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if cancel is not None:
                cancel.raise_if_cancelled()
            with self._changed:
                request = self.waiting
                if request is not None and request != after:
                    return request
                if deadline_s is not None and time.monotonic() >= deadline_s:
                    return None
                self._changed.wait(POLL_S)

    def answer(self, hash: str, answer: Answer) -> None:
        """Answer a request; ApprovalError with the reason where it was not taken."""
        reply = self._call.run(answer_to_request(hash, answer), ANSWER_S)
        if not reply.success:
            raise ApprovalError(reply.message)

    def _receive(self, msg: Approval) -> None:
        try:
            waiting = approval_from_msg(msg)
        except ApprovalError as error:
            if str(error) != self._refused:
                self._node.get_logger().warning(str(error))
            self._newest, self._refused = self._newest or msg, str(error)
        else:
            with self._changed:
                self._newest, self._waiting, self._refused = msg, waiting, ''
                self._changed.notify_all()


class SimClient:
    """Injects faults and resets the table; its node must be spun by other threads."""

    def __init__(self, node: Node, group: CallbackGroup):
        # No fault is named so; the answer is a refusal, and nothing goes wrong.
        self._inject = ServiceCall(
            node, InjectFault, 'sim/inject_fault', SIMULATOR, group, first=InjectFault.Request()
        )
        self._reset = ServiceCall(node, ResetSim, 'sim/reset', SIMULATOR, group)

    def inject(
        self, fault: str, *, clear: bool = False, sending: Callable[[], None] = nothing
    ) -> None:
        """
        Let a fault of `sim.faults.Fault` happen, or take it back; empty for all that last.

        *sending* is called right before it is requested.
        """
        request = InjectFault.Request(fault=fault, clear=clear)
        reply = self._inject.run(request, ANSWER_S, sending=sending)
        if not reply.success:
            raise WorldError(reply.message)

    def reset(self, scene: str = '', seed: int = 0) -> None:
        """
        Set the world back to the start of a scene; empty for the one in force.

        *seed* is of the wrench's noise; 0 for exact readings.
        """
        reply = self._reset.run(ResetSim.Request(scene=scene, seed=seed), ANSWER_S)
        if not reply.success:
            raise WorldError(reply.message)
