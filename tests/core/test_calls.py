"""The border where names and numbers of a call are checked."""

from __future__ import annotations

import pytest

from bbllm.core.calls import CallError, check_call, parse_pose
from bbllm.core.types import Code, Scene, Skill, SkillCall

SCENE = Scene(
    objects=(),
    skills=(Skill('wait', ('seconds',)), Skill('place', ('target',))),
    facts=(),
    stamp_s=0.0,
)
LONG = 20_000


@pytest.mark.parametrize(
    'seconds',
    [
        '9' * LONG,
        '1' * LONG + 'x',
        ' ' * LONG,
        '.' * LONG,
        '1.' * LONG,
        '1e' + '9' * LONG,
        '²',
        '',
    ],
)
def test_no_text_holds_the_reading_of_seconds_up(seconds: str) -> None:
    with pytest.raises(CallError, match='is no waiting time') as caught:
        check_call(SkillCall('wait', (seconds,)), SCENE)

    assert caught.value.code is Code.BAD_ARGUMENTS
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    'pose',
    [
        '9' * LONG + ' 0 0',
        '0.' + '1' * LONG + ' 0 0',
        '1 ' * LONG,
        '1 ' + ' ' * LONG,
        '² 0 0',
        '1e' + '9' * 40 + ' 0 0',
    ],
)
def test_no_text_holds_the_reading_of_a_pose_up(pose: str) -> None:
    with pytest.raises(ValueError, match='is no pose'):
        parse_pose(pose)


@pytest.mark.parametrize(('text', 'seconds'), [('2.50 s', '2.5'), ('.5', '0.5'), ('1e1', '10')])
def test_seconds_have_a_unit_or_none(text: str, seconds: str) -> None:
    assert check_call(SkillCall('wait', (text,)), SCENE).args == (seconds,)


def test_a_name_of_any_length_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(CallError, match='The skills are: ') as caught:
        check_call(SkillCall('wa it' * LONG, ()), SCENE)

    assert len(str(caught.value)) < 300
