"""The bench of the eyes: truth, figures, and one trial where pictures can be drawn."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.errors import ConfigError
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.camera import Intrinsics
from bbllm.scene.scene_file import SceneFile
from bbllm.sim.build import build_spec
from bbllm.sim.camera_settings import d435
from bbllm.sim.drawing import RenderError
from bbllm_bench.benchmarks.eyes.command import eyes, figures_of, run_eyes_bench
from bbllm_bench.benchmarks.eyes.tables import (
    BLACK,
    LAMP_LIGHT,
    LAMPS,
    MIDDLE_M,
    TROUBLES,
    VIEW_DEG,
    VIEW_FROM_M,
    crowded_table,
    lamps_of,
    posture_of,
    scene_of,
    settings_of,
    table_of,
    trouble_of,
)
from bbllm_bench.benchmarks.eyes.trials import Seen, Trial, run_trial
from bbllm_bench.benchmarks.shared import write_json
from bbllm_vision.detectors.views import CameraView
from bbllm_vision.detectors.visibility import visible_shares

VIEW = CameraView.of(
    Intrinsics(width_px=320, height_px=240, fx_px=400, fy_px=400, cx_px=159.5, cy_px=119.5),
    Pose(position_m=(0.5, 0.0, 0.9), quat_xyzw=(-math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)),
)
NO_ROBOT = np.zeros((240, 320), bool)


def cube(name: str, x_m: float, y_m: float, z_m: float = 0.02) -> SceneObject:
    pose = Pose(position_m=(x_m, y_m, z_m))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(0.04, 0.04, 0.04))


def seen(**changes: object) -> Seen:
    values = {
        'name': 'a', 'kind': 'cube', 'visible': 1.0, 'distance_m': 1.4, 'error_m': 0.001,
        'yaw_deg': 1.0, 'tracked_error_m': 0.0005, 'tracked_yaw_deg': 0.5,
    }  # fmt: skip
    return Seen(**{**values, **changes})  # type: ignore[arg-type]


def trial(*objects: Seen, false: tuple[str, ...] = ()) -> Trial:
    return Trial(
        index=0, label='a/0', trouble='none', home=True, objects=objects, false=false,
        tracked_false=(), detect_s=(0.05,), processor_s=(0.04,), draw_s=(0.03,),
    )  # fmt: skip


def test_what_is_covered_is_not_visible() -> None:
    items = [cube('free', 0.4, 0.1), cube('below', 0.5, 0.0), cube('top', 0.5, 0.0, 0.06)]

    shares = visible_shares(items, VIEW, NO_ROBOT)

    assert shares['free'] == 1.0
    assert shares['top'] == 1.0
    assert shares['below'] < 0.05


def test_what_the_robot_hides_or_is_outside_is_not_visible() -> None:
    items = [cube('half', 0.5, 0.0), cube('outside', 0.5, 2.0)]
    robot = NO_ROBOT.copy()
    robot[:, :160] = True

    shares = visible_shares(items, VIEW, robot)

    assert shares['half'] == pytest.approx(0.5, abs=0.05)
    assert shares['outside'] == 0.0


def test_hidden_objects_do_not_count_and_false_ones_do() -> None:
    trials = [
        trial(seen(), seen(error_m=None, yaw_deg=None), seen(error_m=None, visible=0.2)),
        trial(seen(error_m=0.003), false=('b',)),
    ]

    figures = figures_of('all', trials)

    assert figures.objects == 3
    assert figures.recall.value == pytest.approx(2 / 3)
    assert figures.precision is not None
    assert figures.precision.value == pytest.approx(2 / 3)
    assert figures.error_mm[0].value == pytest.approx(2.0)


def test_tables_are_the_same_for_the_same_seed() -> None:
    assert table_of(3, 2) == table_of(3, 2)
    assert table_of(3, 2) != table_of(4, 2)
    assert table_of(3, 0)[0].startswith('tabletop/')


def test_a_crowded_table_has_a_tower_and_a_row_with_small_gaps() -> None:
    scene = crowded_table(np.random.default_rng(1))

    assert isinstance(scene, SceneFile)
    assert any(item.pose.position_m[2] > 0.05 for item in scene.movables)
    row = [item.pose.position_m for item in scene.movables[:3]]
    assert math.dist(row[0], row[1]) == pytest.approx(0.045)


def test_every_other_arm_is_at_home() -> None:
    assert np.array_equal(posture_of(1, 0), posture_of(1, 2))
    assert not np.array_equal(posture_of(1, 0), posture_of(1, 1))


def test_a_moved_camera_is_off_by_five_millimetres() -> None:
    scene = table_of(1, 0)[1]

    assert math.hypot(*trouble_of('moved', scene, 1, 0).camera_offset_m) == pytest.approx(0.005)
    assert trouble_of('clutter', scene, 1, 0).unknown_objects
    assert TROUBLES[0] == 'none'


@pytest.mark.parametrize('index', range(3))
def test_other_cameras_point_at_the_table_from_any_side(index: int) -> None:
    (mount,) = settings_of('view', 1, index).mounts
    T = matrix_from_pose(mount.T_parent_link)
    way = np.array(MIDDLE_M) - T[:3, 3]

    assert settings_of('none', 1, index) == d435()
    assert VIEW_FROM_M[0] <= np.linalg.norm(way) <= VIEW_FROM_M[1]
    assert T[:3, 0] == pytest.approx(way / np.linalg.norm(way))  # x is the optical axis
    assert T[2, 1] == pytest.approx(0.0)  # level
    assert VIEW_DEG[0] <= math.degrees(math.asin(-T[2, 0])) <= VIEW_DEG[1]


def test_other_lamps_replace_the_room_s_and_black_objects_are_drawn_in() -> None:
    scene = table_of(1, 0)[1]
    spec = build_spec(scene, 0.001, visuals=True)
    lamps = len(spec.lights)

    lamps_of('none', 1, 0)(spec)
    assert len(spec.lights) == lamps
    lamps_of('lamps', 1, 0)(spec)
    assert lamps < len(spec.lights) <= lamps + LAMPS
    assert not np.any(spec.lights[0].diffuse)
    assert 0.5 < np.sum([light.diffuse for light in spec.lights], axis=0).max() <= LAMP_LIGHT

    black = scene_of('black', scene, 1, 0)
    assert scene_of('none', scene, 1, 0) is scene
    changed = [a for a, b in zip(black.objects, scene.objects) if a != b]
    assert 1 <= len(changed) <= BLACK
    assert {item.color for item in changed} == {'black'}


def test_a_trial_finds_the_objects_of_a_table(tmp_path: Path) -> None:
    try:
        done = run_trial(0, 1, 'none', 3, tmp_path)
    except RenderError as error:
        pytest.skip(str(error))

    assert not done.false
    for item in done.objects:
        if item.visible > 0.9:
            assert item.error_m is not None
            assert item.error_m < 0.003, item
            assert item.tracked_error_m is not None
    assert list(tmp_path.iterdir()) == []  # pictures are of bad cases alone


def test_pictures_that_cannot_be_written_are_refused_before_the_first_table(
    tmp_path: Path,
) -> None:
    taken = tmp_path / 'taken'
    taken.touch()
    with pytest.raises(ConfigError, match='name another folder with --pictures'):
        eyes(pictures=taken)


def test_the_report_is_json(tmp_path: Path) -> None:
    try:
        report = run_eyes_bench(1, 1, ['none'], n_pictures=3)
    except RenderError as error:
        pytest.skip(str(error))
    write_json(tmp_path / 'eyes.json', report)

    data = json.loads((tmp_path / 'eyes.json').read_text())
    assert data['after_one'][0]['recall']['n'] > 0
