"""Worlds whose scenes have beliefs, in the planner of one episode and over those of a session."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from bbllm.core.cancel import CancelToken
from bbllm.core.events import BeliefsEstimated, PlanRehearsed
from bbllm.core.observation import observed
from bbllm.core.protocols import EpisodeContext, Rehearsal, World, WorldFeatures, features_of
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.planners.common.belief.interaction_history import InteractionHistory, MotionDetector
from bbllm.planners.common.belief.open_state import OpenState, with_open_facts
from bbllm.planners.common.belief.rules import concluded
from bbllm.planners.domains.scene_graph import is_open


@dataclass(eq=False)
class EstimatingWorld(WorldWrapper):
    """
    Wraps a world, and adds to its scenes what is believed because of the calls so far.

    If the scenes contain an open state, no other one is estimated.
    """

    inner: World
    on_change: Callable[[OpenState], None] = lambda state: None

    def __post_init__(self) -> None:
        self._news = 0
        """How many calls have ended since the last observation."""
        self._given = False
        self._resting = MotionDetector()
        self._past = InteractionHistory()
        self._state = OpenState()

    @property
    def features(self) -> WorldFeatures:
        features = super().features
        return replace(features, rehearse=features.rehearse and self._rehearse)

    def observe(self) -> Scene:
        """Return the scene with the beliefs; see `World`."""
        scene = self.inner.observe()
        self._given = self._given or any(map(is_open, scene.facts))
        if self._given:
            return scene
        self._past.move(self._resting.moved(self._state.attributes, scene), newest=self._news)
        if self._news:
            self._past.sense(observed(scene))
        self._news, new = 0, concluded(self._past)
        if new != self._state:
            self._state = new
            self.on_change(new)
            self._resting.moved(new.attributes, scene)  # the poses of these beliefs
        return with_open_facts(scene, new)

    def execute(self, call: SkillCall) -> Outcome:
        outcome = self.inner.execute(call)
        self._past.add(outcome)
        self._news += 1
        return outcome

    def _rehearse(self, cancel: CancelToken | None) -> Rehearsal:
        rehearse = features_of(self.inner).rehearse
        assert rehearse is not None  # `features` has it then only
        return BelievedRehearsal(rehearse(cancel), self._state)


class BelievedRehearsal(WorldWrapper):
    """A rehearsal whose scenes have the beliefs with which it began."""

    inner: Rehearsal

    def __init__(self, inner: Rehearsal, state: OpenState) -> None:
        super().__init__(inner)
        self._state = state

    def observe(self) -> Scene:
        return with_open_facts(self.inner.observe(), self._state)

    @property
    def is_intact(self) -> bool:
        return self.inner.is_intact

    @property
    def result(self) -> PlanRehearsed:
        return self.inner.result

    def close(self) -> None:
        self.inner.close()


Estimation = Literal['given', 'no', 'rules']
"""
How beliefs about objects are formed from past actions; all but `no` are for the planner to read.

With `given` they are those that scenes contain, for example from earlier episodes.
"""


def believing(world: World, how: Estimation, context: EpisodeContext) -> World:
    """Return a world whose scenes include beliefs, or the world itself with `given` and `no`."""
    if how != 'rules':
        return world
    return EstimatingWorld(
        world,
        on_change=lambda state: context.emit(BeliefsEstimated(state.attributes, state.summary)),
    )
