"""The border where names and numbers of a call are checked."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.skill_calls import CallError, check_call, format_pose, is_pose_like, parse_pose
from bbllm.core.types import Code, Scene, Skill, SkillCall

SKILLS = (Skill('wait', ('seconds',)), Skill('place', ('target',)), Skill('reach', ('target',)))
SCENE = Scene((), SKILLS, (), 0.0)
LONG = 20_000


@pytest.mark.parametrize('seconds', ['.' * LONG, '1e' + '9' * LONG, '²', ''])
def test_no_text_holds_the_reading_of_seconds_up(seconds: str) -> None:
    with pytest.raises(CallError, match='is no waiting time') as caught:
        check_call(SkillCall('wait', (seconds,)), SCENE)

    assert caught.value.code is Code.BAD_ARGUMENTS
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize('pose', ['9' * LONG + ' 0 0', '1 ' * LONG, '1 ' + ' ' * LONG, '² 0 0'])
def test_no_text_holds_the_reading_of_a_pose_up(pose: str) -> None:
    with pytest.raises(ValueError, match='is no pose'):
        parse_pose(pose)


@pytest.mark.parametrize(('text', 'seconds'), [('2.50 s', '2.5'), ('.5', '0.5'), ('1e1', '10')])
def test_seconds_have_a_unit_or_none(text: str, seconds: str) -> None:
    assert check_call(SkillCall('wait', (text,)), SCENE).args == (seconds,)


coordinates = st.floats(-1.9999, 1.9999)


@given(coordinates, coordinates, coordinates, st.floats(-180, 180), st.floats(0.951, 1.049))
def test_a_pose_of_the_hand_is_written_as_it_was_read(
    x: float, y: float, z: float, yaw_deg: float, length: float
) -> None:
    quat = straight_down(yaw_deg)
    text = ' '.join(str(value) for value in (x, y, z, *(part * length for part in quat)))

    written = format_pose(parse_pose(text))
    read = parse_pose(written)

    assert is_pose_like(text) and is_pose_like(f'[{written}]')
    assert format_pose(read) == written
    assert read.position_m == pytest.approx((x, y, z), abs=1e-4)
    assert read.pose.quat_xyzw == pytest.approx(quat, abs=1e-4)
    assert math.hypot(*read.pose.quat_xyzw) == pytest.approx(1.0)
    assert read.yaw_deg is None


@given(st.tuples(*[st.floats(-1.1, 1.1)] * 4))
def test_a_quaternion_that_was_taken_once_is_taken_again_unchanged(
    quat: tuple[float, float, float, float],
) -> None:
    try:
        literal = parse_pose(' '.join(str(part) for part in (0.5, 0.1, 0.03, *quat)))
    except ValueError:
        return

    assert parse_pose(format_pose(literal)) == literal


@pytest.mark.parametrize(
    'text',
    [
        '[0.5, 0.1, 0.0320, 1.02, 0, 0, 0]',
        ' 0.5 0.1 0.032 0.98 0.0 0.0 0.0 ',
        '[0.5 0.1 0.032 1.0 -0.0 0 0]',
        '.5,.1,.032,1,0,0,0.00001',
    ],
)
def test_all_ways_to_write_a_pose_of_the_hand_become_one(text: str) -> None:
    checked = check_call(SkillCall('place', (text,)), SCENE)

    assert checked.args == ('0.5 0.1 0.032 1 0 0 0',)
    assert check_call(checked, SCENE) == checked


@pytest.mark.parametrize(
    ('pose', 'text'),
    [
        ('0.5 0.1 0.03 1 0 0', 'it has 6 numbers'),
        ('[0.5 0.1 0.03 1 0 0 0', 'is no pose. A pose is `x y z`'),
        ('0.5 0.1 0.03 1 0 nan 0', 'is no pose'),
        ('0.5 1.99999 0.03 1 0 0 0', 'each of x, y, z must be within 2 m'),
        ('0.5 0.1 0.03 0 0 0 0', 'has a quaternion of length 0, but'),
        ('0.5 0.1 0.03 0.7 0.2 0 0', 'of length 0.728, but'),
        ('0.5 0.1 0.03 1 0.5 0 0', 'a hand that points straight down has `1 0 0 0`'),
        # That of a block that stands upright, and of one that is turned by 90 degrees.
        ('0.5 0.1 0.03 0 0 0 1', 'point 180.0 degrees away from straight down'),
        ('0.5 0.1 0.03 0 0 0 1', '; `1 0 0 0` would do.'),
        ('0.5 0.1 0.03 0 0 0.7071 0.7071', '; `0.7071 0.7071 0 0` would do.'),
        ('0.5 0.1 0.03 0.9962 0 0.0873 0', 'point 10.1 degrees away'),
    ],
)
def test_a_pose_of_the_hand_that_will_not_do_is_refused_with_one_that_would(
    pose: str, text: str
) -> None:
    with pytest.raises(CallError) as caught:
        check_call(SkillCall('reach', (pose,)), SCENE)

    assert caught.value.code is Code.BAD_ARGUMENTS
    assert text in str(caught.value)


def test_the_quaternion_that_would_do_is_taken() -> None:
    with pytest.raises(ValueError, match='would do') as caught:
        parse_pose('0.5 0.1 0.03 0.9 0.3 0.2 0.25')

    offered = str(caught.value).split('`')[-2]
    literal = parse_pose(f'0.5 0.1 0.03 {offered}')
    assert literal.quat_xyzw == pytest.approx((0.9487, 0.3162, 0.0, 0.0), abs=1e-4)


def test_a_hand_that_is_tilted_by_less_than_ten_degrees_is_taken() -> None:
    half = math.radians(9.9) / 2

    literal = parse_pose(f'0.5 0.1 0.03 {math.cos(half)} 0 {math.sin(half)} 0')

    assert literal.quat_xyzw == pytest.approx((math.cos(half), 0.0, math.sin(half), 0.0), abs=1e-4)


def straight_down(yaw_deg: float) -> tuple[float, float, float, float]:
    """Half a turn about x, then the yaw about the world's z."""
    half = math.radians(yaw_deg) / 2
    return (math.cos(half), math.sin(half), 0.0, 0.0)
