"""What was tried in vain where a thing lay is not believed of where it lies now."""

from __future__ import annotations

from dataclasses import replace

import pytest
from keepers import Kept, outcome
from made_scenes import made_scene
from test_state_by_rules import MISSED, STUCK, believed, done

from bbllm.core.events import Event
from bbllm.core.types import Code, Fact, Outcome, Pose, Scene, SkillCall
from bbllm.planners.belief.belief_world import EstimatingWorld
from bbllm.planners.belief.interaction_history import (
    MOVED_M,
    InteractionHistory,
    MotionDetector,
    held_after,
)
from bbllm.planners.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.open_facts import is_open


def lying(**places_m: float) -> Scene:
    """Return a scene in which each thing lies so far along x."""
    scene = made_scene(' '.join(places_m), domain='tabletop')
    return replace(
        scene,
        objects=tuple(
            replace(item, pose=Pose(position_m=(places_m[item.name], 0.0, 0.02)))
            for item in scene.objects
        ),
    )


def far_after(*distances_m: float) -> list[bool]:
    """Tell of each scene, by how far along a cube lies in it, whether that has been moved."""
    resting, words = MotionDetector(), {'red_cube': ('would_not_rise',)}
    return [bool(resting.moved(words, lying(red_cube=0.4 + far))) for far in distances_m]


def test_a_thing_has_been_moved_where_it_lies_farther_than_half_a_cube_from_before() -> None:
    assert far_after(0.0, 0.9 * MOVED_M, 0.0) == [False, False, False]
    assert far_after(0.0, 1.1 * MOVED_M, 1.1 * MOVED_M, 0.0) == [False, True, False, True]
    # It may creep: what counts is where it lay when the words were first told.
    assert far_after(0.0, 0.6 * MOVED_M, 1.2 * MOVED_M) == [False, False, True]


def test_where_a_thing_lies_counts_from_the_words_of_now_and_not_while_it_is_held_or_unseen() -> (
    None
):
    resting = MotionDetector()
    near, far = lying(red_cube=0.4), lying(red_cube=0.6)
    held = replace(far, facts=(Fact('red_cube', 'held_by', 'hand'),))

    assert not resting.moved({'red_cube': ('would_not_rise',)}, near)
    assert not resting.moved({'red_cube': ('failed_grasp_once',)}, far)
    assert resting.moved({'red_cube': ('failed_grasp_once',)}, near) == {'red_cube'}
    for between in (held, lying(blue_cube=0.5)):
        assert not resting.moved({'red_cube': ('failed_grasp_once',)}, between)
        assert not resting.moved({'red_cube': ('failed_grasp_once',)}, far)
        assert resting.moved({'red_cube': ('failed_grasp_once',)}, near)
    assert not resting.moved({'red_cube': ()}, far)


def test_what_failed_where_a_thing_lay_is_not_believed_of_where_it_lies_now() -> None:
    experience = InteractionHistory()
    far = done('place red_cube', Code.OUT_OF_WORKSPACE)
    slipped = done('pick red_cube', Code.OBJECT_LOST)
    blue = done('pick blue_cube', Code.GRASP_FAILED)
    for each in (slipped, MISSED, STUCK, far, blue):
        experience.add(each)

    assert experience.move(['red_cube'])
    assert not experience.move(['red_cube'])

    assert believed(*experience.history) == ('slipped_before',)
    assert believed(*experience.history, name='blue_cube') == ('failed_grasp_once',)
    assert held_after(experience.history) is None


class Slippery:
    """A table on which each pick fails, and pushes the cube a bit."""

    skills = ()

    def __init__(self, ended: Outcome, step_m: float):
        self.x_m = 0.4
        self._ended = ended
        self._step_m = step_m

    def observe(self) -> Scene:
        return lying(red_cube=self.x_m)

    def execute(self, call: SkillCall) -> Outcome:
        self.x_m += self._step_m
        return replace(self._ended, call=call)

    def stop(self) -> None:
        """Nothing runs."""


def told_by(world: EstimatingWorld) -> list[str]:
    return [str(fact.object) for fact in world.observe().facts if is_open(fact)]


@pytest.mark.parametrize('step_m', [0.0, 2 * MOVED_M])
def test_a_grasp_that_fails_counts_also_where_it_pushes_the_thing_aside(step_m: float) -> None:
    experience, table = InteractionHistory(), Slippery(MISSED, step_m)
    world = EstimatingWorld(table, RuleEstimator(experience), experience)

    told = []
    for _ in range(5):
        world.execute(MISSED.call)
        told.append(told_by(world))

    assert told == [['failed_grasp_once']] + [['failed_grasp_twice']] * 4


def test_what_somebody_moves_right_after_a_failure_was_told_is_forgotten() -> None:
    experience, table = InteractionHistory(), Slippery(MISSED, 0.0)
    world = EstimatingWorld(table, RuleEstimator(experience), experience)
    world.execute(MISSED.call)
    assert told_by(world) == ['failed_grasp_once']

    table.x_m += 2 * MOVED_M

    assert told_by(world) == []


def test_what_a_failed_grasp_pushes_aside_is_not_fixed() -> None:
    experience = InteractionHistory()
    for each in (STUCK, MISSED, MISSED):
        experience.add(each)

    assert experience.move(['red_cube'], newest=1)
    assert believed(*experience.history) == ('failed_grasp_twice',)


def test_a_node_counts_grasps_that_push_the_thing_aside_as_well() -> None:
    kept, x_m = Kept(), 0.4
    kept.facts(lying(red_cube=x_m))

    def miss(*told: str) -> None:
        nonlocal x_m
        kept.keeper.hear(Event(0.0, SkillCall('pick', ('red_cube',))))
        x_m += 2 * MOVED_M
        kept.facts(lying(red_cube=x_m))  # while the arm is still there
        kept.keeper.hear(outcome('red_cube', Code.GRASP_FAILED))
        kept.wait_for(*told, scene=lambda: lying(red_cube=x_m))

    miss('(red_cube is failed_grasp_once)')
    for _ in range(3):
        miss('(red_cube is failed_grasp_twice)')

    x_m += 2 * MOVED_M
    kept.wait_for(scene=lambda: lying(red_cube=x_m))
