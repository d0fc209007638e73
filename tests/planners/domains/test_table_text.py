"""The text of a table: frame, kinds, rows with yaw and reach, facts that say something new."""

import math

import pytest

from bbllm.core.types import Kind, Pose, Scene, SceneObject
from bbllm.planners.domains.tabletop.scene_text import table_environment

UPSIDE_DOWN = (1.0, 0.0, 0.0, 0.0)


def turned(deg: float, axis: str = 'z') -> tuple[float, float, float, float]:
    """Return the quaternion of a turn about one axis."""
    half = math.radians(deg) / 2
    part = {name: math.sin(half) if name == axis else 0.0 for name in 'xyz'}
    return (part['x'], part['y'], part['z'], math.cos(half))


def row(
    quat: tuple[float, float, float, float],
    kind: Kind = Kind.CUBE,
    size: tuple[float, float, float] = (0.04, 0.04, 0.04),
) -> str:
    """Return what the row of an object adds to its position."""
    pose = Pose(position_m=(0.4, 0.1, 0.02), quat_xyzw=quat)
    item = SceneObject(name='a', kind=kind, pose=pose, size_m=size)
    text = table_environment(Scene((item,), (), (), 0.0), reach=True)
    return text.splitlines()[-1].partition('0.020')[2].strip()


@pytest.mark.parametrize('deg', [-44, -10, 1, 40])
@pytest.mark.parametrize('more', [-180, -90, 0, 90, 180])
def test_the_yaw_of_a_cube_is_that_of_the_nearest_equivalent_pose(deg: int, more: int) -> None:
    assert row(turned(deg + more)) == f'yaw {deg}'


@pytest.mark.parametrize(
    ('quat', 'kind', 'size', 'expected'),
    [
        (turned(0.3), Kind.CUBE, (0.04, 0.04, 0.04), ''),
        (turned(90, 'x'), Kind.CUBE, (0.04, 0.04, 0.04), ''),
        (UPSIDE_DOWN, Kind.CUBE, (0.04, 0.04, 0.04), ''),
        (turned(45, 'x'), Kind.CUBE, (0.04, 0.04, 0.04), 'tilted'),
        (turned(30), Kind.CYLINDER, (0.04, 0.04, 0.06), ''),
        (turned(90, 'y'), Kind.CYLINDER, (0.04, 0.04, 0.06), 'tilted'),
        (turned(80), Kind.OTHER, (0.04, 0.20, 0.06), 'yaw 80'),
        (turned(-100), Kind.OTHER, (0.04, 0.20, 0.06), 'yaw 80'),
        (turned(30), Kind.CONTAINER, (0.3, 0.2, 0.1), 'yaw 30 room 0.244 x 0.144'),
        (turned(30), Kind.FIXTURE, (1.0, 1.0, 0.04), ''),
    ],
)
def test_a_symmetric_object_has_no_yaw_and_a_leaning_one_is_tilted(
    quat: tuple[float, float, float, float],
    kind: Kind,
    size: tuple[float, float, float],
    expected: str,
) -> None:
    assert row(quat, kind, size) == expected


def test_a_size_that_is_unlike_most_is_in_its_row() -> None:
    items = tuple(
        SceneObject(
            name=name,
            kind=Kind.CUBE,
            pose=Pose(position_m=(0.4, y, 0.02)),
            size_m=(edge, edge, edge),
        )
        for name, y, edge in (('a', 0.0, 0.04), ('b', 0.1, 0.05), ('c', 0.2, 0.04))
    )

    assert table_environment(Scene(items, (), (), 0.0), reach=True).splitlines()[-3:] == [
        'a cube 0.400 0.000 0.020',
        'b cube 0.400 0.100 0.020 size 0.05 x 0.05 x 0.05',
        'c cube 0.400 0.200 0.020',
    ]


def test_where_every_size_is_another_one_none_counts_as_usual() -> None:
    items = tuple(
        SceneObject(
            name=name, kind=kind, pose=Pose(position_m=(0.4, 0.0, 0.0)), size_m=(edge, edge, edge)
        )
        for name, kind, edge in (('table', Kind.FIXTURE, 1.0), ('pear', Kind.OTHER, 0.05))
    )

    header, *_, table, pear = table_environment(Scene(items, (), (), 0.0), reach=True).splitlines()

    assert ', size [m]. Seen' in header
    assert table.endswith('size 1 x 1 x 1')
    assert pear.endswith('size 0.05 x 0.05 x 0.05')
