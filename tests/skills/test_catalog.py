"""The border where names are checked, and the words of the skills."""

import pytest
from hypothesis import strategies as st

from bbllm.core.skill_calls import (
    CallError,
    check_call,
)
from bbllm.core.types import Code, Kind, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.skills.catalog import SKILLS


def entity(name: str, kind: Kind) -> SceneObject:
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(0.5, 0.0, 0.02)))


SCENE = Scene(
    objects=(
        entity('red_cube', Kind.CUBE),
        entity('blue_cube', Kind.CUBE),
        entity('location_A', Kind.LOCATION),
    ),
    skills=SKILLS,
    facts=(),
    stamp_s=0.0,
)


@pytest.mark.parametrize(
    ('call', 'checked'),
    [
        (SkillCall('pick', ('red_cube',)), 'pick(red_cube)'),
        (SkillCall('Grasp', ('Red cube',)), 'pick(red_cube)'),
        (SkillCall('place', ('location_a',)), 'place(location_A)'),
        (SkillCall('place', ('blue-cube',)), 'place(blue_cube)'),
        (SkillCall('place', ('0.45, -0.10 0.020 90',)), 'place(0.45 -0.1 0.02 90)'),
        (SkillCall('reach', ('.4 0 -0.0',)), 'reach(0.4 0 0)'),
        (SkillCall('return to base'), 'return_to_base()'),
        (SkillCall('wait', ('2.50 seconds',)), 'wait(2.5)'),
    ],
)
def test_a_call_is_returned_in_the_spelling_of_the_scene(call: SkillCall, checked: str) -> None:
    assert str(check_call(call, SCENE)) == checked


@pytest.mark.parametrize(
    ('call', 'code', 'reported'),
    [
        (SkillCall('throw', ('red_cube',)), Code.UNKNOWN_SKILL, 'return_to_base'),
        (SkillCall('pick', ('red_cub',)), Code.UNKNOWN_OBJECT, 'are: red_cube, '),
        (SkillCall('pick', ('0.4 0 0.02',)), Code.UNKNOWN_OBJECT, 'no object named'),
        (SkillCall('place', ('location_B',)), Code.UNKNOWN_OBJECT, 'are: location_A, '),
        (SkillCall('place', ()), Code.BAD_ARGUMENTS, 'place takes target, but got 0'),
        (SkillCall('place', ('0.4 0',)), Code.BAD_ARGUMENTS, '`x y z`'),
        (SkillCall('place', ('0.4 nan 0',)), Code.BAD_ARGUMENTS, 'no pose'),
        (SkillCall('place', ('0.4 inf 0.1',)), Code.BAD_ARGUMENTS, 'no pose'),
        (SkillCall('place', ('0.4 2.0 0.1',)), Code.BAD_ARGUMENTS, 'within 2 m'),
        (SkillCall('place', ('0.4 0 0.1 361',)), Code.BAD_ARGUMENTS, '360'),
        (SkillCall('wait', ('0',)), Code.BAD_ARGUMENTS, 'at most 60 seconds'),
        (SkillCall('wait', ('60.5',)), Code.BAD_ARGUMENTS, 'at most 60 seconds'),
        (SkillCall('wait', ('nan',)), Code.BAD_ARGUMENTS, 'at most 60 seconds'),
        (SkillCall('open_gripper', ('red_cube',)), Code.BAD_ARGUMENTS, 'no arguments'),
    ],
)
def test_a_bad_call_is_refused_with_its_code_and_what_there_is(
    call: SkillCall, code: Code, reported: str
) -> None:
    with pytest.raises(CallError) as caught:
        check_call(call, SCENE)

    outcome = caught.value.outcome
    assert (outcome.status, outcome.code, outcome.call) == (Status.REJECTED, code, call)
    assert reported in outcome.message


coordinates = st.floats(-1.99, 1.99)
