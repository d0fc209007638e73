"""Worlds and scenes with beliefs: in the planner of one episode, and over episodes in a thread."""

import threading
import traceback
from collections.abc import Callable, Container
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import BbllmError, ParseError
from bbllm.core.events import (
    BeliefsEstimated,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    LineDiscarded,
    PlanRehearsed,
)
from bbllm.core.observation import Observed, lost_names, observed
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

    If the scenes contain an open state, as those of the node `state_estimator` may, no other one
    is estimated.
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


@dataclass(eq=False)
class StateKeeper:
    """
    Receives outcomes, and adds the beliefs of an estimator to scenes.

    The estimator runs in the keeper's thread, from `start` on, and may be slow: scenes have the
    latest beliefs. Actions on an object are forgotten when it is lost, and its failures when it
    has moved.
    """

    make_estimator: MakeEstimator
    experience: InteractionHistory
    _: KW_ONLY
    on_trouble: Callable[[str], None]
    """Receives why an estimate failed, and beliefs that no scene can contain."""
    on_fault: Callable[[str], None]
    """Receives a fault of the program, after which there are no beliefs. Scenes continue: sensing
    must not depend on beliefs."""
    feels: bool = True
    """Whether the estimator uses forces. It runs only if there is news for it, because it may cost
    a request to a model."""

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        """Guards all that follows, and the experience."""
        self._news = False
        """Whether another estimate is due."""
        self._n_forgotten = 0
        """How often lost objects, or all, were forgotten; an estimate from before is dropped."""
        self._state = OpenState()
        self._at_fault = False
        self._lost: frozenset[str] = frozenset()
        self._resting = MotionDetector()
        self._busy: frozenset[str] = frozenset()
        """Arguments of the current call, which are checked for motion after it."""
        self._n_unseen = 0
        """How many calls have ended since the last scene."""
        self._scene: Scene | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name='open state', daemon=True).start()

    def on_event(self, event: Event) -> None:
        with self._changed:
            match event.data:
                case SkillCall(args=args):
                    self._busy = frozenset(args)
                case Outcome() as outcome:
                    self._busy = frozenset()
                    self._n_unseen += 1
                    self.experience.add(outcome)
                    self._news = True
                case Observed() as sensed:
                    self.experience.sense(sensed)
                    self._news = self._news or self.feels
                case EpisodeStarted() | EpisodeEnded():
                    self._busy = frozenset()
            self._changed.notify()

    def believing(self, scene: Scene) -> Scene:
        lost = frozenset(lost_names(scene))
        with self._changed:
            if self._at_fault:
                return scene
            gone, self._lost = lost - self._lost, lost
            self._scene = scene
            if gone:
                self._state = _without(self._state, gone)
                self.experience.forget(gone)
                self._n_forgotten += 1
            moved = self._resting.moved(self._state.attributes, scene, self._busy)
            if moved and self.experience.move(moved, newest=self._n_unseen):
                self._news = True
            self._n_unseen = 0
            self._changed.notify()
            return with_open_facts(scene, self._state)

    def forget(self) -> OpenState:
        """Forget all, for example after a reset of the table; return the previous beliefs."""
        with self._changed:
            forgotten, self._state = self._state, OpenState()
            self.experience.clear()
            self._n_forgotten += 1
        return forgotten

    def _run(self) -> None:
        try:
            while True:
                self._estimate()
        except Exception:  # outdated beliefs must not seem current
            with self._changed:
                self._at_fault, self._state = True, OpenState()
            self.on_fault(
                'Nothing is believed any more, because of a fault in estimating the open state; '
                f'scenes go on without. Start the node again.\n{traceback.format_exc()}'
            )

    def _estimate(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._news and self._scene is not None)
            self._news = False
            scene, state, past = self._scene, self._state, self.experience.copy()
            n_forgotten = self._n_forgotten
        if scene is None or not past.history:
            return
        try:
            new, refused = _estimated(self.make_estimator, past, state, scene)
        except BbllmError as error:
            self.on_trouble(f'What is believed stays as it was: {error}')
            return
        with self._changed:
            if n_forgotten != self._n_forgotten:
                self._news = True
                return
            self._state = new
        for line in refused:
            self.on_trouble(f'Left out is {line.text!r}: {line.why}')


def _without(state: OpenState, names: Container[str]) -> OpenState:
    """Return a state without some objects, and without comparisons with them."""
    kept = {
        name: tuple(word for word in words if word.partition(' ')[2].split(' ')[-1] not in names)
        for name, words in state.attributes.items()
        if name not in names
    }
    return OpenState(kept, state.summary)
