"""What a planner sees and feels, as text and as numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import NotMeasuredError, ParseError, WorldError
from bbllm.core.observation import FORMS, Observed, observed, parse_observed
from bbllm.core.records import from_json, to_json
from bbllm.core.types import HandReading, Kind, Pose, Scene, SceneObject

DOWN = (1.0, 0.0, 0.0, 0.0)
NUMBERS = st.floats(-2.0, 2.0).map(lambda value: round(value, 3) + 0.0)
SEVEN = st.tuples(*[NUMBERS] * 7)


def cube(name: str, x: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.CUBE, pose=Pose(position_m=(x, 0.1, 0.02)))


def scene_with(hand: HandReading | None) -> Scene:
    place = SceneObject(name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0, 0, 0)))
    return Scene((cube('red_cube', 0.4), place, cube('blue_cube', 0.5)), (), (), 1.0, hand)


def test_two_blocks_and_a_hand_are_the_26_numbers_of_the_paper() -> None:
    hand = HandReading(
        tcp=Pose(position_m=(0.3, 0.0, 0.2), quat_xyzw=DOWN), width_m=0.04, force_n=(0.1, 0, -0.98)
    )

    seen = observed(scene_with(hand))

    assert len(seen.vector()) == 26
    assert seen.vector()[14:] == (0.3, 0.0, 0.2, *DOWN, 0.1, 0, -0.98, 0.02, 0.02)
    assert tuple(seen.blocks) == ('red_cube', 'blue_cube')


@pytest.mark.parametrize(
    ('hand', 'says'),
    [
        (None, 'not measured where the hand is.* tells the states of its joints'),
        (
            HandReading(tcp=Pose(position_m=(0.3, 0.0, 0.2), quat_xyzw=DOWN), width_m=0.04),
            'force on the hand is not measured. It is while the arm rests',
        ),
    ],
)
def test_what_nothing_measures_is_said_to_be_so_and_is_never_a_zero(
    hand: HandReading | None, says: str
) -> None:
    seen = observed(scene_with(hand))

    assert 'Force: [not measured]' in str(seen)
    assert parse_observed(str(seen)) == seen
    with pytest.raises(NotMeasuredError, match=says) as caught:
        seen.vector()
    assert isinstance(caught.value, WorldError)


def test_whatever_can_be_picked_is_observed() -> None:
    things = tuple(
        SceneObject(name=kind.value, kind=kind, pose=Pose(position_m=(0.4, 0, 0))) for kind in Kind
    )

    seen = observed(Scene(things, (), (), 1.0, None))

    assert tuple(seen.blocks) == ('cube', 'cylinder', 'other')


@given(st.dictionaries(st.from_regex(r'[a-z]+_cube', fullmatch=True), SEVEN, min_size=1), SEVEN)
def test_line_reads_back_as_what_was_written(blocks: dict[str, object], eef: object) -> None:
    force = tuple(math.trunc(value) / 1.0 for value in (1, -2, 3))
    seen = Observed(blocks=blocks, eef=eef, force_n=force, fingers_m=(0.02, 0.02))  # type: ignore[arg-type]  # drawn

    assert parse_observed(str(seen)) == seen
    assert from_json(Observed, to_json(seen)) == seen


@pytest.mark.parametrize(
    ('line', 'says'),
    [
        ('nothing at all', r'is no observation. One looks like: red_cube: \[0.450 '),
        ('red_cube: [1 2 3]', r'red_cube has 7 numbers.* looks like: red_cube: \[0.450 '),
        ('EEF: [1 0 0 1 0 0 nan]', 'EEF has 7 numbers'),
        ('EEF: [1 0 0 1 0 0 0] Force: [1 2]', r'Force has 3 .* Force: \[0.10 0.00 -0.98\]'),
        ('EEF: [1 0 0 1 0 0 0] Gripper: [1]', r'Gripper has 2 .* Gripper: \[0.040 0.040\]'),
    ],
)
def test_line_that_is_no_observation_is_refused_with_what_is_wrong(line: str, says: str) -> None:
    with pytest.raises(ParseError, match=says) as caught:
        parse_observed(line)

    form = str(caught.value).split('looks like: ')[1]
    assert parse_observed(f'EEF: {FORMS[7]} {form}')
