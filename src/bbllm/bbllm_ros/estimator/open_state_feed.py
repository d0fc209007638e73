"""The open state of `state_estimator`: from the events of episodes to facts of its scenes."""

import time
from typing import Any

from bbllm_interfaces.msg import EpisodeEvent
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_srvs.srv import Trigger

from bbllm.core.constants import OpenStateMode
from bbllm.core.types import Scene
from bbllm.planners.common.belief.belief_world import StateKeeper
from bbllm.planners.common.belief.interaction_history import InteractionHistory
from bbllm.planners.common.belief.model_state_estimator import ModelEstimator
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.domains.observation_text import ShortNames
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import EVENTS
from bbllm_ros.parameters.model_params import model_of_open_state
from bbllm_ros.parameters.node_params import StateEstimatorParams
from bbllm_ros.rclpy_support.calls import ANSWER_S
from bbllm_ros.rclpy_support.stack_node import StackNode

FORGET = 'forget_open_state'
NOTHING_BELIEVED = (
    'Nothing is believed here. Start the stack with open_state:=rules (launch files) or '
    '--open-state rules (bbllm up).'
)
NAMED = 10
CALLS_IN_PROMPT = 60
"""Number of calls, the newest, in a prompt: all are in each prompt again."""


class OpenStateFeed:
    """
    Adds what is believed to the scenes of a node; none where the parameter is off.

    Raises ConfigError where there is no such mode, or no model for it.
    """

    def __init__(self, node: StackNode, params: StateEstimatorParams):
        self._node = node
        self._forgotten = OpenState()
        self._forgotten_s = -ANSWER_S
        mode = params.open_state
        self.weighs = mode is OpenStateMode.RULES
        """Whether conclusions are drawn from the forces that planners observe."""
        self._keeper = None if mode is OpenStateMode.OFF else self._make_keeper(mode, params)

    def _make_keeper(self, mode: OpenStateMode, params: StateEstimatorParams) -> StateKeeper:
        log, by_model = self._node.get_logger(), mode is OpenStateMode.MODEL
        model = (
            ModelEstimator(model_of_open_state(params), ShortNames(), summary=False, messages=True)
            if by_model
            else None
        )
        return StateKeeper(
            lambda past: model or RuleEstimator(past),
            InteractionHistory(CALLS_IN_PROMPT) if by_model else InteractionHistory(),
            on_trouble=log.warning,
            on_fault=log.error,
            feels=not by_model,
        )

    def begin(self) -> None:
        # Served also where nothing is believed: who asks is told so.
        self._node.create_service(Trigger, FORGET, self._forget, callback_group=self._node.group)
        if self._keeper is None:
            return
        self._keeper.start()
        self._node.create_subscription(
            EpisodeEvent,
            'episode_events',
            self._receive,
            EVENTS,
            callback_group=MutuallyExclusiveCallbackGroup(),  # in their order
        )

    def believing(self, scene: Scene) -> Scene:
        return scene if self._keeper is None else self._keeper.believing(scene)

    def _receive(self, msg: EpisodeEvent) -> None:
        assert self._keeper is not None
        try:
            event = event_from_msg(msg)
        except ValueError as error:
            self._node.get_logger().warning(f'An event {msg.kind!r} is left out: {error}')
            return
        self._keeper.on_event(event)

    def _forget(self, request: Any, reply: Trigger.Response) -> Trigger.Response:
        if self._keeper is None:
            reply.message = NOTHING_BELIEVED
            return reply
        forgotten, now_s = self._keeper.forget(), time.monotonic()
        reply.success, reply.message = True, forgotten_text(forgotten)
        if any(forgotten.attributes.values()):
            self._forgotten, self._forgotten_s = forgotten, now_s
        elif now_s - self._forgotten_s < ANSWER_S:
            # Whose answer was lost asks again, and wants to know what the first request did.
            reply.message = f'Nothing was believed any more. {forgotten_text(self._forgotten)}'
        return reply


def forgotten_text(forgotten: OpenState) -> str:
    names = [name for name, words in forgotten.attributes.items() if words]
    if not names:
        return 'Nothing was believed.'
    more = f' and {len(names) - NAMED} more' if len(names) > NAMED else ''
    return f'Forgotten is what was believed of {", ".join(names[:NAMED])}{more}.'
