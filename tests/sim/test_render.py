"""Pictures: drawn where a graphics library is, refused with the package's name where none is."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bbllm.sim import render
from bbllm.sim.render import (
    RenderError,
    VideoRecorder,
    check_video,
    render_png,
    save_picture,
    viewer,
)
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.scene_file import load_scene, make_scene
from bbllm.sim.simulation import Simulation


def test_a_picture_shows_the_colours_of_the_things_on_the_table(tmp_path: Path) -> None:
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


@pytest.mark.parametrize('name', ['arm.gif', 'arm.webp'])
def test_a_video_has_a_frame_for_each_80_ms_and_keeps_the_colours(
    name: str, tmp_path: Path
) -> None:
    cube = {'name': 'big', 'kind': 'cube', 'color': 'red', 'xy': [0.6, 0.0], 'size': 0.3}
    simulation = Simulation(make_scene({'objects': [cube]}))
    recorder = VideoRecorder(simulation)
    for _ in range(20):
        simulation.step(20)
        recorder.sample()
    drawn: list[tuple[int, int]] = []
    try:
        path = recorder.save(
            tmp_path / name, width_px=80, height_px=60, on_progress=lambda *n: drawn.append(n)
        )
    except RenderError as error:
        pytest.skip(str(error))

    assert drawn == [(n, 6) for n in range(1, 7)]
    with Image.open(path) as video:
        assert video.info['loop'] == 0
        pixels = np.asarray(video.convert('RGB')).astype(int)
    assert pixels.shape == (60, 80, 3)
    assert ((pixels[..., 0] > 150) & (pixels[..., 1] < 60)).sum() > 20


@pytest.mark.parametrize(
    ('name', 'words'),
    [('arm.mp4', r'must end with \.gif or \.webp'), ('no_folder/arm.gif', 'There is no folder')],
)
def test_a_name_that_no_video_can_have_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=words):
        check_video(tmp_path / name)


def test_without_a_graphics_library_the_error_names_the_packages(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(render, 'BACKENDS', ('no_such_library',))
    with pytest.raises(RenderError) as caught:
        render_png(Simulation(load_scene('empty_table')))
    assert 'libegl1' in str(caught.value)
    assert 'libosmesa6' in str(caught.value)
    assert capfd.readouterr() == ('', '')


def test_without_a_display_the_viewer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    robot = SimulatedRobot(Simulation(load_scene('empty_table')))
    with pytest.raises(RenderError, match='needs a display'), viewer(robot):
        pass
