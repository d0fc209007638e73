"""Lost objects: facts that say so, and calls that are refused with them."""

from __future__ import annotations

import pytest

from bbllm.core.missing_objects import LostObject, lost_facts, lost_names, lost_text
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Fact, Kind, Pose, Scene, SceneObject, Skill, SkillCall, Status

SKILLS = (Skill('pick', ('object',)), Skill('place', ('target',)))
BLUE = SceneObject(name='blue_cube', kind=Kind.CUBE, pose=Pose(position_m=(0.5, 0.0, 0.02)))
LOST = LostObject(name='red_cube', position_m=(0.45, 0.16, 0.02), seen_s=88.0)
SCENE = Scene((BLUE,), SKILLS, lost_facts([LOST], now_s=100.0), 100.0)


def test_lost_thing_is_told_in_three_facts() -> None:
    assert [str(fact) for fact in SCENE.facts] == [
        '(red_cube is lost)',
        '(red_cube last_seen_at 0.450 0.160 0.020)',
        '(red_cube unseen_for 12 s)',
    ]
    assert lost_names(SCENE) == ('red_cube',)


def test_sentence_says_where_and_when_it_was_last() -> None:
    assert lost_text(SCENE, 'red_cube') == (
        'red_cube is lost: it was last seen at 0.450 0.160 0.020 12 s ago.'
    )


def test_sentence_says_as_much_as_is_known() -> None:
    scene = Scene((), (), (Fact('red_cube', 'is', 'lost'),), 0.0)

    assert lost_text(scene, 'red_cube') == 'red_cube is lost.'


@pytest.mark.parametrize('name', ['red_cube', 'Red cube'])
def test_call_that_names_a_lost_thing_is_refused_with_that_sentence(name: str) -> None:
    with pytest.raises(CallError) as caught:
        check_call(SkillCall('pick', (name,)), SCENE)

    assert caught.value.code is Code.OBJECT_LOST
    assert caught.value.outcome.status is Status.REJECTED
    assert str(caught.value) == lost_text(SCENE, 'red_cube')


def test_name_that_nobody_ever_heard_of_is_still_unknown() -> None:
    with pytest.raises(CallError) as caught:
        check_call(SkillCall('pick', ('pear',)), SCENE)

    assert caught.value.code is Code.UNKNOWN_OBJECT


def test_thing_that_is_there_may_be_named_whatever_else_is_lost() -> None:
    assert check_call(SkillCall('pick', ('blue_cube',)), SCENE).args == ('blue_cube',)
