"""Gives a planner's world an open state, as its option `open_state` says."""

from __future__ import annotations

from typing import Literal

from bbllm.core.events import BeliefsEstimated
from bbllm.core.protocols import ChatModel, EpisodeContext, World
from bbllm.planners.belief.belief_world import EstimatingWorld
from bbllm.planners.belief.interaction_history import Experience
from bbllm.planners.belief.model_state_estimator import ModelEstimator
from bbllm.planners.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.open_state import OpenState, StateEstimator
from bbllm.planners.common.reply_diagnostics import Discarded
from bbllm.planners.common.short_names import ShortNames

Estimation = Literal['no', 'rules', 'model']
"""How beliefs about objects are formed from what was done to them."""


def believing(world: World, how: Estimation, model: ChatModel, context: EpisodeContext) -> World:
    """
    Return a world whose scenes tell what is believed, or the world itself.

    Args:
        world: The one to wrap.
        how: How beliefs are formed; `no` for none.
        model: Who is asked where a model is.
        context: Told what is believed, and what of a reply is left out.
    """
    if how == 'no':
        return world
    experience = Experience()

    def tell(state: OpenState) -> None:
        context.emit(BeliefsEstimated(state.attributes, state.summary))

    def leave_out(line: Discarded) -> None:
        line.tell(context)

    estimator: StateEstimator = RuleEstimator(experience)
    if how == 'model':
        estimator = ModelEstimator(
            model,
            ShortNames(),
            summary=False,
            messages=True,  # what a robot says of a failure is most of what there is to know
            on_discarded=leave_out,
            on_retry=context.warn,
        )
    return EstimatingWorld(
        world,
        estimator,
        experience,
        on_change=tell,
        on_trouble=context.warn,
        on_discarded=leave_out,
    )
