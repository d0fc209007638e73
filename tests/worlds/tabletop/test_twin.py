"""Simulations of a table as it was observed."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from bbllm.core.types import MOVABLE, Code, Pose, Scene, SkillCall
from bbllm.scene.scene_file import make_scene, overlap
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm.worlds.tabletop.twin import MOST_OFF_M, Deviation, drawn, twin_of

OBJECTS = [
    {'name': 'red_cube', 'kind': 'cube', 'xy': [0.5, 0.1], 'color': 'red', 'yaw_deg': 30},
    {'name': 'can', 'kind': 'cylinder', 'xy': [0.4, -0.1], 'size': [0.05, 0.08], 'mass': 0.3},
    {'name': 'blue_cube', 'kind': 'cube', 'xyz': [0.5, 0.1, 0.06], 'color': 'blue'},
    {'name': 'banana', 'kind': 'banana', 'xy': [0.45, 0.3]},
    {'name': 'bowl', 'kind': 'bowl', 'xy': [0.55, -0.25]},
]
FILE = make_scene({'objects': OBJECTS, 'locations': [{'name': 'location_A', 'xy': [0.4, 0.2]}]})


@pytest.fixture
def table() -> Iterator[TabletopWorld]:
    world = TabletopWorld(FILE, seed=1)
    yield world
    world.close()


def poses(scene: Scene) -> dict[str, tuple[float, ...]]:
    return {item.name: item.pose.position_m for item in scene.objects}


def assert_same(twin: Scene, real: Scene, within_m: float) -> None:
    assert {*map(str, twin.facts)} == {*map(str, real.facts)}
    for name, place in poses(real).items():
        assert poses(twin)[name] == pytest.approx(place, abs=within_m), name


def test_a_twin_shows_the_scene_that_it_was_made_from(table: TabletopWorld) -> None:
    scene = table.observe()
    twin = twin_of(scene, Deviation())
    assert_same(twin.observe(), scene, 0.0005)
    kinds = {item.name: (item.kind, item.color, item.size_m) for item in scene.objects}
    assert {x.name: (x.kind, x.color, x.size_m) for x in twin.observe().objects} == kinds


def test_a_twin_begins_with_what_is_in_the_hand_and_goes_on_with_it(table: TabletopWorld) -> None:
    assert table.execute(SkillCall('pick', ('blue_cube',))).succeeded
    twin = twin_of(table.observe(), Deviation())
    assert twin.observe().held == 'blue_cube'
    assert_same(twin.observe(), table.observe(), 0.002)

    place = SkillCall('place', ('location_A',))
    assert twin.execute(place).succeeded and table.execute(place).succeeded
    assert_same(twin.observe(), table.observe(), 0.002)


def test_objects_of_a_twin_are_off_from_where_they_are_observed(table: TabletopWorld) -> None:
    scene = table.observe()
    off = Deviation(offsets={'can': Pose(position_m=(0.005, 0.0, 0.0))})
    twin = twin_of(scene, off)
    seen, true = poses(twin.observe()), poses(twin.truth())
    for name in ('red_cube', 'can', 'banana'):
        assert seen[name] == pytest.approx(poses(scene)[name], abs=0.0005)
    assert true['can'][0] - seen['can'][0] == pytest.approx(0.005, abs=1e-4)
    assert true['can'][1] == pytest.approx(seen['can'][1], abs=1e-4)


def test_a_heavier_twin_pulls_more(table: TabletopWorld) -> None:
    def pull_n(mass: float) -> float:
        twin = twin_of(table.observe(), Deviation(mass=mass))
        assert twin.execute(SkillCall('pick', ('blue_cube',))).succeeded
        twin.settled()
        return -twin.robot.vertical_force_n()

    assert pull_n(2.0) == pytest.approx(2 * pull_n(1.0), rel=0.1)


def test_without_friction_nothing_can_be_lifted(table: TabletopWorld) -> None:
    scene = table.observe()
    outcome = twin_of(scene, Deviation(friction=0.01)).execute(SkillCall('pick', ('can',)))
    assert outcome.code in (Code.OBJECT_LOST, Code.WOULD_NOT_RISE, Code.GRASP_FAILED)
    assert twin_of(scene, Deviation()).execute(SkillCall('pick', ('can',))).succeeded


def test_drawn_objects_are_a_little_off_and_never_in_each_other() -> None:
    row = [
        {'name': f'cube_{i}', 'kind': 'cube', 'xy': [0.4 + 0.0405 * (i % 4), 0.0405 * (i // 4)]}
        for i in range(12)
    ]
    world = TabletopWorld(make_scene({'objects': row}))
    scene, dice = world.observe(), np.random.default_rng(4)
    moved = 0
    for _ in range(20):
        twin = twin_of(scene, drawn(scene, dice))
        objects = [item for item in twin.truth().objects if item.kind in MOVABLE]
        assert not any(overlap(a, b) for a, b in combinations(objects, 2))
        was = poses(scene)
        for item in objects:
            off = np.subtract(item.pose.position_m, was[item.name])
            assert np.abs(off[:2]).max() < MOST_OFF_M * 1.5 + 0.0005
            moved += bool(np.abs(off[:2]).max() > 1e-4)
        twin.close()
    assert moved > 20
