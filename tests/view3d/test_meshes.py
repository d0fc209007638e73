"""The real shapes of a robot, of a package that may be installed."""

import base64
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from bbllm.robots.registry import load_robot
from bbllm_viewer.view3d import meshes
from bbllm_viewer.view3d.meshes import robot_meshes, thinned

ROBOT = """<mujoco><compiler meshdir="elsewhere"/>
<asset>
  <mesh name="part" file="part.obj"/><mesh name="unused" file="not_there.obj"/>
  <material name="dark" rgba="0.2 0.2 0.2 1"/>
</asset>
<worldbody><body name="fr3_link0"><body name="fr3_link1" pos="0 0 0.333">
  <joint axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <geom type="mesh" mesh="part" material="dark" group="2"/>
  <geom type="box" size="1 1 1" group="3"/>
</body></body></worldbody></mujoco>"""
CORNERS = [(x, y, z) for x in (0, 0.1) for y in (0, 0.2) for z in (0.1, 0.4)]
FACES = ['1 3 4 2', '5 6 8 7', '1 2 6 5', '3 7 8 4', '1 5 7 3', '2 4 8 6']


@pytest.fixture(autouse=True)
def anew() -> Any:
    robot_meshes.cache_clear()
    yield
    robot_meshes.cache_clear()


def test_shapes_of_the_package_are_where_its_model_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / 'shapes_of_a_test' / 'assets'
    (folder / 'meshes').mkdir(parents=True)
    (folder.parent / '__init__.py').write_text('raise RuntimeError("its code ran")')
    (folder / 'fr3.xml').write_text(ROBOT)
    lines = [f'v {x} {y} {z}' for x, y, z in CORNERS] + [f'f {face}' for face in FACES]
    (folder / 'meshes' / 'part.obj').write_text('\n'.join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(meshes, 'PACKAGE', 'shapes_of_a_test')
    found: Any = robot_meshes()

    (shape,), (mesh,) = found['shapes'], found['meshes']
    model = load_robot('fr3').spec().compile()
    assert shape['body'] == model.body('fr3_link1').id
    assert shape['rgba'] == [0.2, 0.2, 0.2, 1.0]
    points = np.frombuffer(base64.b64decode(mesh['points']), '<i2').reshape(-1, 3) * 1e-4
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.array(shape['quat']))
    placed = points @ turn.reshape(3, 3).T + shape['pos']
    rounded = {tuple(abs(round(x, 2)) for x in point) for point in placed.tolist()}
    assert rounded == {*CORNERS}
    faces = np.frombuffer(base64.b64decode(mesh['faces']), '<u2')
    assert len(faces) == 3 * 12 and faces.max() == 7


def test_without_the_package_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes, 'PACKAGE', 'no_such_package_is_installed')
    assert robot_meshes() == {}


def test_points_that_are_close_become_one() -> None:
    points = np.array([[0.001, 0, 0], [0.002, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [1, 2, 3]])

    merged, kept = thinned(points, faces)

    assert len(merged) == 3 and kept.shape == (2, 3)
    assert [0.0015, 0.0, 0.0] in merged.round(6).tolist()
