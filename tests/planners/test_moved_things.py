"""What was tried in vain where a thing lay is not believed of where it lies now."""

from __future__ import annotations

from dataclasses import replace

from made_scenes import made_scene
from test_state_by_rules import MISSED, STUCK, believed, done

from bbllm.core.types import Code, Fact, Pose, Scene
from bbllm.planners.experience import Experience, held_after
from bbllm.planners.resting import MOVED_M, Resting


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
    resting, words = Resting(), {'red_cube': ('would_not_rise',)}
    return [bool(resting.moved(words, lying(red_cube=0.4 + far))) for far in distances_m]


def test_a_thing_has_been_moved_where_it_lies_farther_than_half_a_cube_from_before() -> None:
    assert far_after(0.0, 0.9 * MOVED_M, 0.0) == [False, False, False]
    assert far_after(0.0, 1.1 * MOVED_M, 1.1 * MOVED_M, 0.0) == [False, True, False, True]
    # It may creep: what counts is where it lay when the words were first told.
    assert far_after(0.0, 0.6 * MOVED_M, 1.2 * MOVED_M) == [False, False, True]


def test_where_a_thing_lies_counts_from_the_words_of_now_and_not_while_it_is_held_or_unseen() -> (
    None
):
    resting = Resting()
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
    experience = Experience()
    far = done('place red_cube', Code.OUT_OF_WORKSPACE)
    slipped = done('pick red_cube', Code.OBJECT_LOST)
    blue = done('pick blue_cube', Code.GRASP_FAILED)
    for outcome in (slipped, MISSED, STUCK, far, blue):
        experience.add(outcome)

    assert experience.move(['red_cube'])
    assert not experience.move(['red_cube'])

    assert believed(*experience.history) == ('slipped_before',)
    assert believed(*experience.history, name='blue_cube') == ('failed_grasp_once',)
    assert held_after(experience.history) is None
