"""Pictures: drawn where a graphics library is, refused with the package's name where none is."""

import io
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image, ImageSequence

from bbllm.core.errors import ConfigError
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.sim import drawing
from bbllm.sim.drawing import RenderError
from bbllm.sim.render import (
    Window,
    check_video,
    render_png,
    save_picture,
    save_video,
    viewer,
)
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation


def test_a_picture_shows_the_colours_of_the_objects_on_the_table(tmp_path: Path) -> None:
    cube = {'name': 'big', 'kind': 'cube', 'color': 'red', 'xy': [0.6, 0.0], 'size': 0.3}
    simulation = Simulation(make_scene({'objects': [cube]}))
    try:
        picture = render_png(simulation, width_px=160, height_px=120)
    except RenderError as error:
        pytest.skip(str(error))
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert('RGB')).astype(int)
    assert pixels.shape == (120, 160, 3)
    red = (pixels[..., 0] > 2 * pixels[..., 1]) & (pixels[..., 0] > 2 * pixels[..., 2])
    assert red.sum() > 100
    path = save_picture(simulation, tmp_path / 'table.png')
    assert Image.open(path).format == 'PNG'


def test_an_mp4_has_the_pictures_in_their_order(tmp_path: Path) -> None:
    av = pytest.importorskip('av', reason='comes with the extra video')
    shades = (0, 60, 120, 180, 240)
    pictures = [Image.new('RGB', (65, 33), (shade, shade, shade)) for shade in shades]

    path = save_video(tmp_path / 'shades.mp4', iter(pictures), 12.5)

    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format='rgb24') for frame in container.decode(video=0)]
        assert container.duration / av.time_base == pytest.approx(len(shades) / 12.5, abs=0.01)
    assert [frame.shape for frame in frames] == [(32, 64, 3)] * len(shades)
    assert [frame.mean() for frame in frames] == pytest.approx(shades, abs=4)


def test_an_mp4_without_its_library_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'av', None)

    check_video(tmp_path / 'arm.gif')
    with pytest.raises(ConfigError, match=r'make extras.*\.gif or \.webp'):
        check_video(tmp_path / 'arm.mp4')


def test_few_pixels_of_an_object_keep_their_colour_in_a_gif(tmp_path: Path) -> None:
    picture = np.asarray(Image.linear_gradient('L').convert('RGB').resize((300, 300))).copy()
    picture[..., 2] //= 2
    dots = {(0, 110, 0): (10, 10), (110, 0, 110): (10, 40), (200, 200, 0): (10, 70)}
    for color, (y, x) in dots.items():
        picture[y : y + 6, x : x + 6] = color

    path = save_video(tmp_path / 'dots.gif', [Image.fromarray(picture)] * 2, 12.5)

    with Image.open(path) as video:
        drawn = np.asarray(video.convert('RGB')).astype(int)
    for color, (y, x) in dots.items():
        assert np.abs(drawn[y + 3, x + 3] - color).max() < 12


@pytest.mark.parametrize('name', ['still.gif', 'still.webp'])
def test_a_picture_that_stands_still_is_stored_once_and_shown_as_long(
    name: str, tmp_path: Path
) -> None:
    still, moved = (Image.new('RGB', (64, 48), shade) for shade in ('#204060', '#e0e0e0'))
    moved.paste('#ff0000', (8, 8, 24, 24))
    end = moved.copy()
    end.paste('#00ff00', (40, 8, 56, 24))

    path = save_video(tmp_path / name, iter([still, still, still, moved, end]), 12.5)

    frames, durations_ms = [], []
    with Image.open(path) as video:
        for frame in ImageSequence.Iterator(video):
            frames.append(np.asarray(frame.convert('RGB')).astype(int))
            durations_ms.append(frame.info['duration'])
    assert durations_ms == [240, 80, 80]
    for drawn, picture in zip(frames, (still, moved, end), strict=True):
        # Each frame is whole, although only what changed is stored.
        assert np.abs(drawn - np.asarray(picture)).mean() < 6


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('arm.avi', r'must end with \.gif or \.webp or \.mp4'),
        ('no_folder/arm.gif', 'There is no folder'),
    ],
)
def test_a_name_that_no_video_can_have_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=words):
        check_video(tmp_path / name)


def test_without_a_graphics_library_the_error_names_the_packages(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(drawing, 'BACKENDS', ('no_such_library',))
    with pytest.raises(RenderError) as caught:
        render_png(Simulation(load_scene('empty_table')))
    assert 'libegl1' in str(caught.value)
    assert 'libosmesa6' in str(caught.value)
    assert capfd.readouterr() == ('', '')


def test_without_a_display_the_viewer_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    robot = SimulatedRobot(Simulation(load_scene('empty_table')))
    with pytest.raises(RenderError, match='needs a display'), viewer(robot):
        pass


class FakeWindow:
    """Stands for MuJoCo's window: keeps what it was given, and drags a body at each sync."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, **panels: bool) -> None:
        self.model, self.data, self.panels = model, data, panels

    def is_running(self) -> bool:
        return True

    def sync(self) -> None:
        self.data.body('fr3_hand').xfrc_applied[2] = -3.0

    def close(self) -> None:
        self.data = None


def test_a_window_shows_what_the_physics_leaves_out_and_a_drag_in_it_reaches_the_physics() -> None:
    opened: list[FakeWindow] = []

    def launch(*words: Any, **more: bool) -> FakeWindow:
        opened.append(FakeWindow(*words, **more))
        return opened[0]

    simulation = Simulation(load_scene('plus_sign'))
    window = Window(simulation, launch)
    simulation.hold(np.append(FR3.home_rad + 0.1, 0.02))
    simulation.step(200)
    window.sync()

    (fake,) = opened
    assert fake.model.ngeom > simulation.model.ngeom + 30
    assert fake.data.qpos == pytest.approx(simulation.data.qpos, abs=0)
    name = simulation.scene.movables[0].name
    assert fake.data.body(name).xpos == pytest.approx(simulation.object_poses()[name].position_m)
    assert simulation.data.body('fr3_hand').xfrc_applied[2] == -3.0
