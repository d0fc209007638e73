"""Pictures: drawn where a graphics library is, refused with the package's name where none is."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bbllm.sim import render
from bbllm.sim.render import RenderError, render_png, save_picture, viewer
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
