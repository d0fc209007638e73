"""What a planner sees and feels, and what is lost."""

import pytest

from bbllm.core.observation import (
    LostObject,
    Observed,
    lost_facts,
    lost_names,
    lost_text,
    observed,
)
from bbllm.core.records import from_json, to_json
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import (
    Code,
    HandReading,
    Kind,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)

DOWN = (1.0, 0.0, 0.0, 0.0)


def cube(name: str, x: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.CUBE, pose=Pose(position_m=(x, 0.1, 0.02)))


def scene_with(hand: HandReading | None) -> Scene:
    place = SceneObject(name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0, 0, 0)))
    return Scene((cube('red_cube', 0.4), place, cube('blue_cube', 0.5)), (), (), 1.0, hand)


@pytest.mark.parametrize(
    'hand', [None, HandReading(tcp=Pose(position_m=(0.3, 0.0, 0.2), quat_xyzw=DOWN), width_m=0.04)]
)
def test_what_nothing_measures_is_marked_and_is_never_a_zero(hand: HandReading | None) -> None:
    assert 'Force: [not measured]' in str(observed(scene_with(hand)))


def test_the_line_of_a_prompt() -> None:
    seen = Observed(
        blocks={'red_cube': (0.45, -0.1, 0.02, 0, 0, 0.131, 0.991)},
        eef=(0.3, 0.0, 0.2, *DOWN),
        force_n=(0.1, -0.001, -0.98),
        fingers_m=(0.02, 0.02),
    )

    assert str(seen) == (
        'red_cube: [0.450 -0.100 0.020 0.000 0.000 0.131 0.991] '
        'EEF: [0.300 0.000 0.200 1.000 0.000 0.000 0.000] '
        'Force: [0.10 0.00 -0.98] Gripper: [0.020 0.020]'
    )
    assert from_json(Observed, to_json(seen)) == seen


SKILLS = (Skill('pick', ('object',)), Skill('place', ('target',)))
BLUE = SceneObject(name='blue_cube', kind=Kind.CUBE, pose=Pose(position_m=(0.5, 0.0, 0.02)))
LOST = LostObject(name='red_cube', position_m=(0.45, 0.16, 0.02), seen_s=88.0)
SCENE = Scene((BLUE,), SKILLS, lost_facts([LOST], now_s=100.0), 100.0)


def test_a_lost_object_is_three_facts() -> None:
    assert [str(fact) for fact in SCENE.facts] == [
        '(red_cube is lost)',
        '(red_cube last_seen_at 0.450 0.160 0.020)',
        '(red_cube unseen_for 12 s)',
    ]
    assert lost_names(SCENE) == ('red_cube',)
    assert lost_text(SCENE, 'red_cube') == (
        'red_cube is lost: it was last seen at 0.450 0.160 0.020 12 s ago.'
    )


@pytest.mark.parametrize('name', ['red_cube', 'Red cube'])
def test_a_call_that_names_a_lost_object_is_refused_with_that_sentence(name: str) -> None:
    with pytest.raises(CallError) as caught:
        check_call(SkillCall('pick', (name,)), SCENE)

    assert caught.value.code is Code.OBJECT_LOST
    assert caught.value.outcome.status is Status.REJECTED
    assert str(caught.value) == lost_text(SCENE, 'red_cube')
