"""A world whose scenes include beliefs, see `open_state`."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from bbllm.core.errors import ParseError
from bbllm.core.events import BeliefsEstimated
from bbllm.core.observation import observed
from bbllm.core.protocols import ChatModel, EpisodeContext, World
from bbllm.core.types import Outcome, Scene, Skill, SkillCall
from bbllm.planners.common.belief.interaction_history import (
    InteractionHistory,
    MotionDetector,
    objects_of,
)
from bbllm.planners.common.belief.model_state_estimator import ModelEstimator
from bbllm.planners.common.belief.open_facts import (
    LONGEST,
    MOST_WORDS,
    REFUSED,
    malformed_beliefs,
    with_open_facts,
)
from bbllm.planners.common.belief.open_state import OpenState, OpenStateEstimator
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.reply_diagnostics import RejectedLine
from bbllm.planners.common.scene_graph import is_open
from bbllm.planners.common.short_names import ShortNames


@dataclass(eq=False)
class EstimatingWorld:
    """
    Wraps a world, records the outcomes, and adds the beliefs of an estimator to the scenes.

    If the scenes contain an open state, as those of the node `state_estimator` may, no other one
    is estimated.
    """

    inner: World
    estimator: OpenStateEstimator
    """Estimates before an observation, if a call has ended since the last one."""
    experience: InteractionHistory
    """Updated here; an estimator may read it."""
    _: KW_ONLY
    on_change: Callable[[OpenState], None] = lambda state: None
    on_trouble: Callable[[str], None] = lambda text: None
    """Receives the reason why an estimate could not be read."""
    on_discarded: Callable[[RejectedLine], None] = lambda line: None
    """Receives beliefs that no scene can contain, once."""

    def __post_init__(self) -> None:
        self._news = 0
        """How many calls have ended since the last observation."""
        self._given = False
        self._resting = MotionDetector()
        self.state = OpenState()
        """The current beliefs."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.inner.skills

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
            new = estimate_handled(self.estimator, self.state, self.experience, scene)
        except ParseError as error:
            self.on_trouble(f'What is believed stays as it was: {error}')
            return
        if new != self.state:
            self.on_change(new)
        for line in refused_beliefs(self.state, new, scene):
            self.on_discarded(line)
        self.state = new

    def execute(self, call: SkillCall) -> Outcome:
        outcome = self.inner.execute(call)
        self.experience.add(outcome)
        self._news += 1
        return outcome

    def stop(self) -> None:
        self.inner.stop()


def refused_beliefs(old: OpenState, new: OpenState, scene: Scene) -> list[RejectedLine]:
    """Return new beliefs that no scene can contain."""
    before = set(malformed_beliefs(old, scene))
    why = f'{REFUSED} Of each thing {MOST_WORDS} beliefs are told.'
    return [
        RejectedLine(f'{name}: {word[:LONGEST]}', why, refused=True)
        for name, word in malformed_beliefs(new, scene)
        if (name, word) not in before
    ]


def estimate_handled(
    estimator: OpenStateEstimator, state: OpenState, experience: InteractionHistory, scene: Scene
) -> OpenState:
    """Return the current beliefs about handled objects: a house has hundreds of others."""
    names = set(scene.names)
    handled = [name for outcome in experience.history for name in objects_of(outcome)]
    known = state.with_objects(name for name in handled if name in names)
    return estimator.estimate(known, experience.history, scene)


Estimation = Literal['no', 'rules', 'model']
"""How beliefs about objects are formed from past actions."""


def believing(world: World, how: Estimation, model: ChatModel, context: EpisodeContext) -> World:
    """Return a world whose scenes include beliefs, or the world itself with `no`."""
    if how == 'no':
        return world
    experience = InteractionHistory()

    def report(line: RejectedLine) -> None:
        line.report(context)

    estimator: OpenStateEstimator = RuleEstimator(experience)
    if how == 'model':
        estimator = ModelEstimator(
            model,
            ShortNames(),
            summary=False,
            messages=True,  # the messages of failures are most of the evidence
            on_discarded=report,
            on_retry=context.warn,
        )
    return EstimatingWorld(
        world,
        estimator,
        experience,
        on_change=lambda state: context.emit(BeliefsEstimated(state.attributes, state.summary)),
        on_trouble=context.warn,
        on_discarded=report,
    )
