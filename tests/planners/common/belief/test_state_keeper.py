"""The open state over episodes: what is heard, what is forgotten, and that nobody waits for it."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bbllm.core.errors import ModelUnavailableError
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.types import Code, Outcome, Pose, Scene, SkillCall, Status
from bbllm.planners.common.belief.belief_world import StateKeeper
from bbllm.planners.common.belief.interaction_history import InteractionHistory
from bbllm.planners.common.belief.model_state_estimator import ModelEstimator
from bbllm.planners.common.belief.open_state import OpenState
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.planners.domains.scene_graph import is_open
from bbllm.testing import ScriptedModel
from tests.planners.keepers import PATIENCE_S, SCENE, Kept, felt, outcome, until
from tests.planners.made_scenes import made_scene


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_events_of_several_episodes_add_up(kept: Kept) -> None:
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))
    kept.wait_for('(red_cube is failed_grasp_once)')

    kept.keeper.on_event(Event(0.0, EpisodeEnded(ending=Ending.GAVE_UP, message='')))
    kept.keeper.on_event(
        Event(0.0, EpisodeStarted(episode_id='e', task='t', planner='p', brain='b', body='b'))
    )
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))

    kept.wait_for('(red_cube is failed_grasp_twice)')


def test_what_is_lost_is_forgotten_and_found_again_as_another(kept: Kept) -> None:
    kept.keeper.on_event(outcome('red_cube', Code.WOULD_NOT_RISE))
    kept.keeper.on_event(outcome('blue_cube', Code.GRASP_FAILED))
    stuck = ['(red_cube is fixed_or_heavy)']
    kept.wait_for(*stuck, '(blue_cube is failed_grasp_once)')

    kept.facts(made_scene('blue_cube', 'red_cube is lost', domain='tabletop'))

    kept.wait_for('(blue_cube is failed_grasp_once)')


def test_a_failure_is_dropped_once_its_object_lies_elsewhere(kept: Kept) -> None:
    kept.keeper.on_event(outcome('red_cube', Code.WOULD_NOT_RISE))
    kept.keeper.on_event(outcome('red_cube', Code.MISPLACED))
    kept.keeper.on_event(outcome('blue_cube', Code.GRASP_FAILED))
    stuck = ['(red_cube is fixed_or_heavy)']
    others = ['(red_cube is misplaced_before)', '(blue_cube is failed_grasp_once)']
    kept.wait_for(*stuck, *others)
    red, blue = SCENE.objects
    elsewhere = replace(red, pose=Pose(position_m=(0.0, 0.1, 0.0)))
    scene = replace(SCENE, objects=(elsewhere, blue))

    until(lambda: kept.facts(scene) == others, lambda: f'move, but {kept.facts(scene)}')


def test_all_is_forgotten_at_once_where_that_is_asked_for(kept: Kept) -> None:
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))
    kept.wait_for('(red_cube is failed_grasp_once)')

    assert kept.keeper.forget().attributes['red_cube'] == ('failed_grasp_once',)

    assert kept.facts() == []
    assert kept.keeper.forget() == OpenState()
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))
    kept.wait_for('(red_cube is failed_grasp_once)')  # and not twice


class Counting:
    """An estimator that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        self.asked += 1
        return state.with_attributes('blue_cube', (f'asked_{self.asked}', f'tried_{len(history)}'))


def test_an_estimator_is_asked_once_for_a_call_and_not_for_what_it_cannot_use() -> None:
    counting, experience = Counting(), InteractionHistory()
    keeper = StateKeeper(
        lambda _: counting, experience, on_trouble=print, on_fault=print, feels=False
    )
    keeper.on_event(felt(-0.5))
    keeper.forget()
    assert not keeper._news
    keeper.start()

    def facts() -> list[str]:
        return [str(fact) for fact in keeper.believing(SCENE).facts if is_open(fact)]

    facts()
    keeper.on_event(outcome('red_cube'))
    expected = ['(blue_cube is asked_1)', '(blue_cube is tried_1)']
    until(lambda: facts() == expected, lambda: f'estimate, but {facts()}')
    keeper.on_event(felt(-0.5))
    assert experience.felt() == ('red_cube',)
    keeper.believing(made_scene('blue_cube', 'red_cube is lost', domain='tabletop'))
    assert experience.felt() == ()
    keeper.forget()
    assert not experience.history
    keeper.on_event(outcome('blue_cube'))

    expected = ['(blue_cube is asked_2)', '(blue_cube is tried_1)']
    until(lambda: facts() == expected, lambda: f'second estimate, but {facts()}')
    assert counting.asked == 2


def test_who_is_to_keep_few_outcomes_keeps_the_newest() -> None:
    experience = InteractionHistory(2)
    for name in 'abcd':
        experience.forget(['z'])
        experience.copy().clear()
        experience.add(Outcome(call=SkillCall('pick', (name,)), status=Status.SUCCEEDED))

    assert [outcome.call.args for outcome in experience.history] == [('c',), ('d',)]


def test_a_model_may_estimate_and_its_trouble_leaves_what_was_believed() -> None:
    model = ScriptedModel(
        ['update_state("red_cube", "sticky")', ModelUnavailableError('The server is away.')]
    )
    kept = Kept(lambda _: ModelEstimator(model, ShortNames(), summary=False, messages=True))
    kept.facts()
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))
    kept.wait_for('(red_cube is sticky)')

    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))

    until(lambda: bool(kept.trouble), lambda: 'trouble')
    assert kept.trouble == ['What is believed stays as it was: The server is away.']
    assert kept.facts() == ['(red_cube is sticky)']


def test_a_belief_about_a_place_is_dropped_and_reported_once() -> None:
    remark = 'update_state("red_cube", "sticky | next to blue_cube")'
    model = ScriptedModel([remark, remark, 'update_state("red_cube", "dry")'])
    kept = Kept(lambda _: ModelEstimator(model, ShortNames(), summary=False, messages=True))
    kept.facts()
    for n in (1, 2):
        kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))
        # mypy infers no type for a lambda with a default.
        until(lambda n=n: len(model.requests) == n, lambda: 'estimate')  # type: ignore[misc]
        kept.wait_for('(red_cube is sticky)')
    kept.keeper.on_event(outcome('red_cube', Code.GRASP_FAILED))

    kept.wait_for('(red_cube is dry)')
    assert [text.split(':')[:2] for text in kept.trouble] == [
        ["Left out is 'red_cube", " next to blue_cube'"]
    ]


def broken(experience: InteractionHistory) -> RuleEstimator:
    """Fail from the second call on."""
    if len(experience.history) > 1:
        raise ZeroDivisionError('a fault')
    return RuleEstimator(experience)


def test_a_fault_is_reported_and_ends_beliefs_but_not_scenes() -> None:
    kept = Kept(broken)
    kept.facts()
    kept.keeper.on_event(outcome('red_cube', Code.WOULD_NOT_RISE))
    until(lambda: bool(kept.facts()), lambda: 'belief before the fault')

    kept.keeper.on_event(outcome('red_cube'))

    until(lambda: bool(kept.faults), lambda: 'fault')
    assert 'ZeroDivisionError: a fault' in kept.faults[0]
    assert kept.keeper.believing(SCENE) == SCENE
    kept.keeper.on_event(outcome('red_cube'))
    kept.keeper.forget()
    assert kept.keeper.believing(SCENE) == SCENE


class Slow:
    """An estimator that thinks each time until it is released."""

    def __init__(self) -> None:
        self.thinks, self.released = threading.Semaphore(0), threading.Semaphore(0)

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        self.thinks.release()
        assert self.released.acquire(timeout=PATIENCE_S)
        return state.with_attributes('red_cube', (f'tried_{len(history)}_times',))


Thinking = tuple[Slow, Kept]


@pytest.fixture
def thinking() -> Thinking:
    """Give a keeper whose estimator thinks of a first outcome, and that estimator."""
    slow = Slow()
    kept = Kept(lambda _: slow)
    kept.facts()
    kept.keeper.on_event(outcome('red_cube'))
    assert slow.thinks.acquire(timeout=PATIENCE_S)
    return slow, kept


def test_scenes_continue_while_an_estimator_runs(thinking: Thinking) -> None:
    slow, kept = thinking

    assert kept.facts() == []
    slow.released.release()

    kept.wait_for('(red_cube is tried_1_times)')


def test_what_was_thought_of_before_all_was_forgotten_is_not_believed(thinking: Thinking) -> None:
    slow, kept = thinking

    kept.keeper.forget()
    for _ in range(2):
        kept.keeper.on_event(outcome('red_cube'))
    slow.released.release()

    assert slow.thinks.acquire(timeout=PATIENCE_S)  # of the two that came later
    assert kept.facts() == []
    slow.released.release()
    kept.wait_for('(red_cube is tried_2_times)')

    unseen = Kept(lambda _: slow)
    unseen.keeper.on_event(outcome('red_cube'))
    unseen.keeper.forget()
    unseen.keeper.on_event(outcome('red_cube'))
    slow.released.release()
    unseen.wait_for('(red_cube is tried_1_times)')


def test_what_is_lost_while_an_estimator_thinks_is_forgotten_also_when_found_again(
    thinking: Thinking,
) -> None:
    slow, kept = thinking
    slow.released.release()
    kept.wait_for('(red_cube is tried_1_times)')
    kept.keeper.on_event(outcome('red_cube'))
    assert slow.thinks.acquire(timeout=PATIENCE_S)

    kept.facts(made_scene('blue_cube', 'red_cube is lost', domain='tabletop'))

    assert kept.facts() == []
    kept.keeper.on_event(outcome('blue_cube', Code.GRASP_FAILED))
    slow.released.release()
    assert slow.thinks.acquire(timeout=PATIENCE_S)  # what it thought before is told by now
    assert kept.facts() == []
    slow.released.release()
