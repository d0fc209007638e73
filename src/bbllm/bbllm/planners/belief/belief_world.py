"""A world whose scenes tell what is believed, too: see `planners.open_state`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from bbllm.core.errors import ParseError
from bbllm.core.events import BeliefsEstimated
from bbllm.core.observation import observed
from bbllm.core.protocols import ChatModel, EpisodeContext, World
from bbllm.core.types import Outcome, Scene, Skill, SkillCall
from bbllm.planners.belief.interaction_history import InteractionHistory, MotionDetector, things_of
from bbllm.planners.belief.model_state_estimator import ModelEstimator
from bbllm.planners.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.belief_grammar import REFUSED
from bbllm.planners.common.open_facts import (
    LONGEST,
    MOST_WORDS,
    has_open_facts,
    untold,
    with_open_facts,
)
from bbllm.planners.common.open_state import OpenState, OpenStateEstimator
from bbllm.planners.common.reply_diagnostics import RejectedLine
from bbllm.planners.common.short_names import ShortNames


class EstimatingWorld:
    """
    Keeps what was done in a world, and adds what an estimator makes of it to the scenes.

    Where scenes bring an open state already, as those of the node `state_estimator` may, nothing
    is estimated a second time.
    """

    def __init__(
        self,
        inner: World,
        estimator: OpenStateEstimator,
        experience: InteractionHistory,
        *,
        on_change: Callable[[OpenState], None] | None = None,
        on_trouble: Callable[[str], None] | None = None,
        on_discarded: Callable[[RejectedLine], None] | None = None,
    ):
        """
        Wrap a world.

        Args:
            inner: What it wraps.
            estimator: Asked before a scene is told, when something was done since.
            experience: Kept up to date here; an estimator may look into it.
            on_change: Told what is believed whenever that changes.
            on_trouble: Told why what was believed before is told once more, when a model's
                estimate cannot be read.
            on_discarded: Told what is believed in words that no scene can hold, once.
        """
        self._inner = inner
        self._estimator = estimator
        self._experience = experience
        self._on_change = on_change
        self._on_trouble = on_trouble
        self._on_discarded = on_discarded
        self._news = 0
        """How many calls have ended since the last look."""
        self._given = False
        self._resting = MotionDetector()
        self.state = OpenState()
        """What is believed now."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that `execute` knows."""
        return self._inner.skills

    def observe(self) -> Scene:
        """
        Return the scene, with what is believed.

        Raises:
            ModelError: An estimator that asks a model got no reply.
            SceneError: See `World`.
            WorldError: See `World`.
        """
        scene = self._inner.observe()
        self._given = self._given or has_open_facts(scene.facts)
        if self._given:
            return scene
        elsewhere = self._resting.moved(self.state.attributes, scene)
        moved = self._experience.move(elsewhere, newest=self._news)
        if self._news:
            self._experience.sense(observed(scene))
        if self._news or moved:
            self._news = 0
            self._estimate(scene)
            self._resting.moved(self.state.attributes, scene)  # this is where things lie with it
        return with_open_facts(scene, self.state)

    def _estimate(self, scene: Scene) -> None:
        try:
            new = estimate_handled(self._estimator, self.state, self._experience, scene)
        except ParseError as error:
            if self._on_trouble is not None:
                self._on_trouble(f'What is believed stays as it was: {error}')
            return
        if new != self.state and self._on_change is not None:
            self._on_change(new)
        if self._on_discarded is not None:
            for line in refused_beliefs(self.state, new, scene):
                self._on_discarded(line)
        self.state = new

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call; see `World`."""
        outcome = self._inner.execute(call)
        self._experience.add(outcome)
        self._news += 1
        return outcome

    def stop(self) -> None:
        """Stop the call that runs now; see `World`."""
        self._inner.stop()


def refused_beliefs(old: OpenState, new: OpenState, scene: Scene) -> list[RejectedLine]:
    """Return what is believed now, and was not before, in words that no scene can hold."""
    before = set(untold(old, scene))
    why = f'{REFUSED} Of each thing {MOST_WORDS} beliefs are told.'
    return [
        RejectedLine(f'{name}: {word[:LONGEST]}', why, refused=True)
        for name, word in untold(new, scene)
        if (name, word) not in before
    ]


def estimate_handled(
    estimator: OpenStateEstimator, state: OpenState, experience: InteractionHistory, scene: Scene
) -> OpenState:
    """
    Return what is believed now of what was handled: a house has hundreds of other things.

    Raises:
        ModelError: See `OpenStateEstimator`.
        ParseError: See there.
    """
    names = set(scene.names)
    handled = [name for outcome in experience.history for name in things_of(outcome)]
    known = state.with_objects(name for name in handled if name in names)
    return estimator.estimate(known, experience.history, scene)


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
    experience = InteractionHistory()

    def tell(state: OpenState) -> None:
        context.emit(BeliefsEstimated(state.attributes, state.summary))

    def leave_out(line: RejectedLine) -> None:
        line.tell(context)

    estimator: OpenStateEstimator = RuleEstimator(experience)
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
