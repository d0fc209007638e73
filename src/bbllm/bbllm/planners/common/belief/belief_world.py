"""Worlds and scenes with beliefs, in the planner of one episode."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.events import (
    BeliefsEstimated,
    LineDiscarded,
    PlanRehearsed,
)
from bbllm.core.observation import observed
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    Rehearsal,
    World,
    WorldFeatures,
    features_of,
)
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.core.world_wrapper import WorldWrapper
from bbllm.planners.common.belief.interaction_history import (
    InteractionHistory,
    MotionDetector,
    objects_of,
)
from bbllm.planners.common.belief.model_state_estimator import ModelEstimator
from bbllm.planners.common.belief.open_state import (
    LONGEST,
    MOST_WORDS,
    REFUSED,
    OpenState,
    OpenStateEstimator,
    malformed_beliefs,
    with_open_facts,
)
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.planners.domains.scene_graph import is_open

MakeEstimator = Callable[[InteractionHistory], OpenStateEstimator]
"""Makes an estimator that may read past outcomes and forces; called for each estimate."""


@dataclass(eq=False)
class EstimatingWorld(WorldWrapper):
    """
    Wraps a world, records the outcomes, and adds the beliefs of an estimator to the scenes.

    If the scenes contain an open state, no other one is estimated.
    """

    inner: World
    make_estimator: MakeEstimator
    """Used before an observation, if a call has ended since the last one."""
    _: KW_ONLY
    on_change: Callable[[OpenState], None] = lambda state: None
    on_trouble: Callable[[str], None] = lambda text: None
    """Receives the reason why an estimate could not be read."""
    on_discarded: Callable[[LineDiscarded], None] = lambda line: None
    """Receives beliefs that no scene can contain, once."""

    def __post_init__(self) -> None:
        self._news = 0
        """How many calls have ended since the last observation."""
        self._given = False
        self._resting = MotionDetector()
        self.experience = InteractionHistory()
        self.state = OpenState()
        """The current beliefs."""

    @property
    def features(self) -> WorldFeatures:
        features = super().features
        return replace(features, rehearse=features.rehearse and self._rehearse)

    def observe(self) -> Scene:
        """Return the scene with the beliefs; see `World` and `OpenStateEstimator`."""
        scene = self.inner.observe()
        self._given = self._given or any(map(is_open, scene.facts))
        if self._given:
            return scene
        elsewhere = self._resting.moved(self.state.attributes, scene)
        moved = self.experience.move(elsewhere, newest=self._news)
        if self._news:
            self.experience.sense(observed(scene))
        if self._news or moved:
            self._news = 0
            self._estimate(scene)
            self._resting.moved(self.state.attributes, scene)  # the poses of these beliefs
        return with_open_facts(scene, self.state)

    def _estimate(self, scene: Scene) -> None:
        try:
            new, refused = _estimated(self.make_estimator, self.experience, self.state, scene)
        except ParseError as error:
            self.on_trouble(f'What is believed stays as it was: {error}')
            return
        if new != self.state:
            self.on_change(new)
        for line in refused:
            self.on_discarded(line)
        self.state = new

    def execute(self, call: SkillCall) -> Outcome:
        outcome = self.inner.execute(call)
        self.experience.add(outcome)
        self._news += 1
        return outcome

    def _rehearse(self, cancel: CancelToken | None) -> Rehearsal:
        rehearse = features_of(self.inner).rehearse
        assert rehearse is not None  # `features` has it then only
        return BelievedRehearsal(rehearse(cancel), self.state)


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


def _estimated(
    make_estimator: MakeEstimator, past: InteractionHistory, old: OpenState, scene: Scene
) -> tuple[OpenState, list[LineDiscarded]]:
    """
    Return the current beliefs, and new ones that no scene can contain.

    They are about handled objects only: a house has hundreds of others.
    """
    names = set(scene.names)
    handled = [name for outcome in past.history for name in objects_of(outcome)]
    known = old.with_objects(name for name in handled if name in names)
    new = make_estimator(past).estimate(known, past.history, scene)
    before = malformed_beliefs(old, scene)
    why = f'{REFUSED} Of each object {MOST_WORDS} beliefs are kept.'
    return new, [
        LineDiscarded(f'{name}: {word[:LONGEST]}', why, refused=True)
        for name, word in malformed_beliefs(new, scene)
        if (name, word) not in before
    ]


Estimation = Literal['given', 'no', 'rules', 'model']
"""
How beliefs about objects are formed from past actions; all but `no` are for the planner to read.

With `given` they are those that scenes contain, for example from earlier episodes.
"""


def believing(world: World, how: Estimation, model: ChatModel, context: EpisodeContext) -> World:
    """Return a world whose scenes include beliefs, or the world itself with `given` and `no`."""
    if how in ('given', 'no'):
        return world
    by_model = ModelEstimator(
        model,
        ShortNames(),
        summary=False,
        messages=True,  # the messages of failures are most of the evidence
        on_discarded=context.emit,
        on_retry=context.warn,
    )
    return EstimatingWorld(
        world,
        RuleEstimator if how == 'rules' else lambda _: by_model,
        on_change=lambda state: context.emit(BeliefsEstimated(state.attributes, state.summary)),
        on_trouble=context.warn,
        on_discarded=context.emit,
    )
