"""Simulated cameras: where a picture shows what, its noise, and that physics stay the same."""

import math
import os
import signal
from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bbllm.core.errors import UnknownNameError, WorldError
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.scene.camera import RgbdImage
from bbllm.scene.object_models import ObjectPart
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.sim import drawing
from bbllm.sim.camera_noise import depth_noise_m, noisy_depth
from bbllm.sim.camera_settings import (
    D435_MODES,
    Light,
    Trouble,
    UnknownObject,
    d435,
    d435_of,
)
from bbllm.sim.cameras import SimCameras, state_of
from bbllm.sim.drawing import RenderError
from bbllm.sim.simulation import Simulation
from bbllm_vision.camera_trouble import unknown_objects

EDGE_M = 0.06
CUBE = {'name': 'red_cube', 'kind': 'cube', 'color': 'red', 'xy': [0.45, 0.05], 'size': EDGE_M}
EXACT = replace(d435(640, 480), subpixel_px=0.0, depth_step_m=1e-6, edge_m=0.0, color_noise=0.0)
CAMERAS = ('table_camera', 'hand_camera')
Points = NDArray[np.float64]


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(make_scene({'objects': [CUBE]}))


@pytest.fixture
def cameras(simulation: Simulation) -> Iterator[SimCameras]:
    """Cameras without noise."""
    with SimCameras(simulation, EXACT) as cameras:
        taken(cameras, 'table_camera')
        yield cameras


def taken(cameras: SimCameras, name: str) -> RgbdImage:
    """Take a picture; skip the test where nothing can be drawn."""
    try:
        return cameras.take(name)
    except RenderError as error:
        if drawing.PACKAGES not in str(error):
            raise
        pytest.skip(str(error))


def red(image: RgbdImage) -> NDArray[np.bool_]:
    pixels = image.rgb.astype(int)
    return np.asarray((pixels[..., 0] > 60) & (pixels[..., 1] < 40) & (pixels[..., 2] < 40))


def projected(points_m: Points, image: RgbdImage, T_world_camera: Pose) -> Points:
    """Return pixel and depth of points of the world, shape (n, 3)."""
    turn = Rotation.from_quat(T_world_camera.quat_xyzw)
    x, y, z = turn.inv().apply(points_m - np.array(T_world_camera.position_m)).T
    k = image.intrinsics
    return np.stack([k.fx_px * x / z + k.cx_px, k.fy_px * y / z + k.cy_px, z], axis=1)


def top_corners() -> Points:
    half = EDGE_M / 2
    return np.array([[0.45 + a * half, 0.05 + b * half, EDGE_M] for a in (-1, 1) for b in (-1, 1)])


@pytest.mark.parametrize('name', CAMERAS)
def test_a_cube_is_where_intrinsics_and_pose_project_it(name: str, cameras: SimCameras) -> None:
    image = cameras.take(name)
    points = projected(top_corners(), image, cameras.pose(name))

    # The top is a polygon: its own pixels, and none of the table beside it, have its depth.
    middle = points.mean(axis=0)
    for u, v, z in points:
        for share, is_top in ((0.9, True), (1.1, False)):
            column, row = (
                (middle[:2] + share * (np.array([u, v]) - middle[:2])).round().astype(int)
            )
            off_m = image.depth_m[row, column] - z
            assert bool(abs(off_m) < 0.002) is is_top, (share, off_m)
    rows, columns = np.nonzero(red(image))
    bounds = [[columns.min(), rows.min()], [columns.max(), rows.max()]]
    sides = np.array(top_corners())
    sides[:, 2] = 0.0
    outline = np.vstack([points, projected(sides, image, cameras.pose(name))])[:, :2]
    assert np.array(bounds) == pytest.approx(
        np.array([outline.min(axis=0), outline.max(axis=0)]), abs=1.0
    )


def test_the_camera_of_the_hand_moves_with_it(simulation: Simulation) -> None:
    cameras = SimCameras(simulation, EXACT)
    before, early = cameras.pose('hand_camera'), state_of(simulation)
    simulation.hold(np.append(FR3.home_rad + 0.1, 0.02))
    simulation.step(300)

    hand = simulation.data.body('fr3_hand')
    mujoco.mj_kinematics(simulation.model, simulation.data)
    link = (
        hand.xpos + hand.xmat.reshape(3, 3) @ cameras.mount('hand_camera').T_parent_link.position_m
    )
    after = cameras.pose('hand_camera')
    assert np.linalg.norm(np.subtract(after.position_m, link)) == pytest.approx(0.015)
    assert np.linalg.norm(np.subtract(after.position_m, before.position_m)) > 0.02
    assert cameras.pose('hand_camera', early) == before
    assert cameras.pose('table_camera') == cameras.pose('table_camera', early)


def test_the_physics_know_nothing_of_cameras() -> None:
    with_cameras, without = (Simulation(make_scene({'objects': [CUBE]})) for _ in range(2))
    with SimCameras(with_cameras, EXACT) as cameras:
        for _ in range(3):
            taken(cameras, 'table_camera')
            cameras.pose('hand_camera')
            for simulation in (with_cameras, without):
                simulation.hold(np.append(FR3.home_rad + 0.05, 0.02))
                simulation.step(50)
    assert with_cameras.data.qpos.tobytes() == without.data.qpos.tobytes()
    assert with_cameras.model.ncam == without.model.ncam
    assert with_cameras.model.ngeom == without.model.ngeom


@pytest.mark.parametrize('size_px', D435_MODES)
@pytest.mark.parametrize('depth_m', [0.5, 1.4])
def test_the_depth_noise_has_the_published_rms(size_px: tuple[int, int], depth_m: float) -> None:
    settings = d435(*size_px)
    exact = np.full((480, 640), depth_m, np.float32)
    depth = noisy_depth(exact, settings, np.random.default_rng(1))

    rms = depth_m**2 * 0.08 / (settings.depth_focal_px * 0.05)
    assert depth_noise_m(depth_m, settings) == pytest.approx(rms)
    rounding = 0.001 / math.sqrt(12.0)
    assert (depth - depth_m).std() == pytest.approx(math.hypot(rms, rounding), rel=0.1)
    assert abs((depth - depth_m).mean()) < 0.1 * rms
    steps = depth / 0.001
    assert np.abs(steps - np.rint(steps)).max() < 0.01
    # Neighbours agree, since they are matched by the same window; distant pixels do not.
    error = depth - depth_m
    near, far = (np.corrcoef(error[:, n:].ravel(), error[:, :-n].ravel())[0, 1] for n in (2, 40))
    assert near > 0.6
    assert abs(far) < 0.1


def test_no_depth_is_too_near_too_far_and_beside_steps() -> None:
    settings = d435(640, 480)
    exact = np.full((60, 80), 1.0, np.float32)
    exact[:, 20:] = 0.8
    exact[:10], exact[-10:] = 0.17, 3.1
    depth = noisy_depth(exact, settings, np.random.default_rng(1))

    assert (depth[:10] == 0).all()
    assert (depth[-10:] == 0).all()
    assert (depth[20:40, 19:21] == 0).all()
    assert (depth[20:40, :19] > 0.9).all()
    assert (depth[20:40, 21:] > 0.7).all()
    assert (
        noisy_depth(exact, replace(settings, edge_m=0.0), np.random.default_rng(1))[20:40] > 0
    ).all()


def test_the_same_seed_gives_the_same_pictures_and_another_does_not(
    simulation: Simulation,
) -> None:
    pictures = []
    for seed in (1, 1, 2):
        with SimCameras(simulation, d435(640, 480), seed=seed) as cameras:
            pictures.append([taken(cameras, name) for name in CAMERAS])
    first, again, other = pictures
    for a, b, c in zip(first, again, other, strict=True):
        assert (a.rgb == b.rgb).all()
        assert (a.depth_m == b.depth_m).all()
        assert (a.rgb != c.rgb).any()
        assert (a.depth_m != c.depth_m).any()
    simulation.step()
    with SimCameras(simulation, d435(640, 480), seed=1) as cameras:
        later = cameras.take('table_camera')
    assert later.stamp_s > first[0].stamp_s
    assert (later.depth_m != first[0].depth_m).any()


def test_a_picture_of_an_earlier_state_shows_that_state(
    simulation: Simulation, cameras: SimCameras
) -> None:
    early, before = state_of(simulation), cameras.take('table_camera')
    simulation.set_object_pose('red_cube', Pose(position_m=(0.6, -0.2, EDGE_M / 2)))
    simulation.step(10)
    now, then = cameras.take('table_camera'), cameras.take('table_camera', early)

    assert now.stamp_s == pytest.approx(simulation.time_s)
    assert then.stamp_s == before.stamp_s < now.stamp_s
    assert (red(then) == red(before)).all()
    assert (red(now) != red(before)).any()


def test_a_dead_process_is_an_error_and_the_next_picture_starts_another(
    cameras: SimCameras,
) -> None:
    assert cameras.pid is not None
    os.kill(cameras.pid, signal.SIGKILL)
    with pytest.raises(RenderError, match='the drawing process ended with -9'):
        cameras.take('table_camera')
    assert red(cameras.take('table_camera')).any()


def test_a_silent_process_is_an_error_that_names_what_was_waited_for(
    cameras: SimCameras,
) -> None:
    process = cameras._process
    assert process is not None
    process.timeout_s = 0.1
    os.kill(process.pid, signal.SIGSTOP)
    words = rf'the drawing process \(pid {process.pid}\) did not send a picture within 0.1 s'
    with pytest.raises(RenderError, match=words):
        cameras.take('table_camera')


def test_a_camera_of_another_name_is_refused(simulation: Simulation) -> None:
    cameras = SimCameras(simulation)
    for ask in (cameras.take, cameras.pose):
        with pytest.raises(UnknownNameError, match='table_camera'):
            ask('ceiling_camera')


def test_a_moved_camera_shows_another_picture_and_reports_the_same_pose(
    simulation: Simulation, cameras: SimCameras
) -> None:
    moved_m = (0.005, 0.0, 0.0)
    with SimCameras(simulation, EXACT, Trouble(camera_offset_m=moved_m)) as moved:
        image, before = moved.take('table_camera'), cameras.take('table_camera')
        assert moved.pose('table_camera') == cameras.pose('table_camera')
    # What the camera has moved by, the picture moves the other way.
    shift_px = np.nonzero(red(image))[1].mean() - np.nonzero(red(before))[1].mean()
    assert shift_px == pytest.approx(-0.005 * 615.0 / 1.35, abs=0.5)


def test_light_from_the_side_changes_colours_and_not_depth(
    simulation: Simulation, cameras: SimCameras
) -> None:
    with SimCameras(simulation, EXACT, Trouble(light=Light.SIDE)) as troubled:
        image, room = troubled.take('table_camera'), cameras.take('table_camera')
    assert (image.depth_m == room.depth_m).all()
    assert np.abs(image.rgb.astype(int) - room.rgb).mean() > 10


def test_unknown_objects_are_drawn_and_in_no_scene(
    simulation: Simulation, cameras: SimCameras
) -> None:
    block = ObjectPart(shape='box', half_m=(0.05, 0.05, 0.05), color='magenta')
    item = UnknownObject(pose=Pose(position_m=(0.7, -0.2, 0.05)), parts=(block,))
    with SimCameras(simulation, EXACT, Trouble(unknown_objects=(item,))) as cluttered:
        image = cluttered.take('table_camera')
        u, v, z = projected(np.array([[0.7, -0.2, 0.1]]), image, cameras.pose('table_camera'))[0]
    row, column = round(v), round(u)
    assert image.depth_m[row, column] == pytest.approx(z, abs=0.001)
    assert image.rgb[row, column, 1] < 0.3 * image.rgb[row, column, 0]
    assert len(simulation.object_poses()) == 1


def test_a_size_that_the_camera_does_not_have_lists_those_it_has() -> None:
    assert d435_of('640x480') == d435(640, 480)
    with pytest.raises(UnknownNameError, match='Known: 1280x720, 640x480, 848x480'):
        d435_of('800x600')


def test_clutter_is_beside_all_that_the_scene_has_and_follows_its_seed() -> None:
    scene = load_scene('plus_sign')
    placed = unknown_objects(scene, 8, seed=3)
    assert placed == unknown_objects(scene, 8, seed=3) != unknown_objects(scene, 8, seed=4)
    assert len({item.pose.position_m for item in placed}) == 8
    for item in placed:
        reach_m = max(math.hypot(*part.half_m[:2]) for part in item.parts)
        for other in (*scene.movables, *scene.places):
            apart_m = math.dist(item.pose.position_m[:2], other.pose.position_m[:2])
            assert apart_m > reach_m + other.size_m[0] / 2
    with pytest.raises(WorldError, match=r'There is room for [0-9]+ unknown objects'):
        unknown_objects(scene, 200, seed=3)
