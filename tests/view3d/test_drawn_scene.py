"""What is drawn is where the simulator has it, in Python and in a browser."""

import io
import json
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.scene_file import load_scene
from bbllm.sim.build import build_model
from bbllm_viewer.view3d.drawn_scene import DrawnScene, plain_row, script
from tests.browser import Visitor, launched

JOINTS = (0.3, -0.6, 0.2, -2.2, -0.4, 1.9, 0.9)
MOVED = Pose(position_m=(0.5, -0.2, 0.3), quat_xyzw=(0.0, 0.6, 0.0, 0.8))


def objects_of(name: str) -> tuple[SceneObject, ...]:
    scene = load_scene(name)
    return (*scene.fixtures, *scene.movables, *scene.places)


def placed(name: str) -> tuple[DrawnScene, np.ndarray, mujoco.MjData]:
    """Return a scene with its arm and first object moved."""
    drawn = DrawnScene(objects_of(name))
    row = drawn.qpos(JOINTS, 0.05, {drawn.names[0]: MOVED, 'no such object': MOVED})
    data = mujoco.MjData(drawn.model)
    data.qpos[:] = row
    mujoco.mj_kinematics(drawn.model, data)
    return drawn, row, data


@pytest.mark.parametrize('name', ['plus_sign', 'fruit'])
def test_every_shape_is_where_the_simulator_has_it(name: str) -> None:
    drawn, row, data = placed(name)
    model = build_model(load_scene(name), 0.002, visuals=True)
    simulated = mujoco.MjData(model)
    simulated.qpos[:] = row
    mujoco.mj_kinematics(model, simulated)
    seen = [geom for geom in range(model.ngeom) if model.geom_group[geom] not in (3, 4)]

    def shapes(of: mujoco.MjModel, where: mujoco.MjData, geoms: list[int]) -> list[list[float]]:
        rows = [
            [of.geom_type[i], *of.geom_size[i], *where.geom_xpos[i], *of.geom_rgba[i]]
            for i in geoms
        ]
        return sorted([round(float(x), 6) + 0.0 for x in row] for row in rows)

    assert shapes(drawn.model, data, list(range(drawn.model.ngeom))) == pytest.approx(
        np.array(shapes(model, simulated, seen)), abs=1e-5
    )


def test_objects_of_a_damaged_journal_are_drawn_or_left_out() -> None:
    cube = next(x for x in objects_of('plus_sign') if x.kind is Kind.CUBE)
    odd = [
        replace(cube, name='fr3_link0'),
        replace(cube, name='<b>&/"'),
        replace(cube, name='<b>&/"'),
        replace(cube, name='', size_m=(0.0, 0.1, 0.1)),
        replace(cube, name='nowhere', pose=Pose(position_m=(float('nan'), 0.0, 0.0))),
        replace(cube, name='hand', kind=Kind.HAND),
    ]

    drawn = DrawnScene(odd)

    assert drawn.names == ('fr3_link0', '<b>&/"', '<b>&/"')
    assert drawn.model.nq == 9 + 3 * 7


PAGE = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0; background:#fff">
<canvas id="view" style="width:100vw; height:100vh; display:block"></canvas><pre id="out"></pre>
<script>{script}</script><script>
const view = new View3D(document.getElementById('view'));
view.load({description});
view.show({qpos});
document.getElementById('out').textContent = JSON.stringify(view.problem || view.poses());
document.getElementById('out').hidden = true;
</script>"""


def test_a_browser_draws_the_arm_where_the_simulator_has_it(tmp_path: Path) -> None:
    drawn, row, data = placed('plus_sign')
    page = tmp_path / 'page.html'
    page.write_text(
        PAGE.format(
            script=script(),
            description=json.dumps(drawn.description),
            qpos=json.dumps(plain_row(row)),
        )
    )

    with launched() as browser:
        visitor = Visitor(browser, page.as_uri())
        poses = json.loads(visitor.page.locator('#out').text_content() or '')
        pixels = np.asarray(Image.open(io.BytesIO(visitor.page.screenshot())).convert('RGB'))
        assert visitor.faults == []
        visitor.close()

    assert np.array([position for position, _ in poses]) == pytest.approx(data.xpos, abs=1e-3)
    for (_, quat), true in zip(poses, data.xquat, strict=True):
        assert abs(np.dot(quat, true)) == pytest.approx(1, abs=1e-6)
    pixels = pixels.astype(int)
    red = (pixels[..., 0] > 150) & (pixels[..., 1] < 60) & (pixels[..., 2] < 60)
    assert red.sum() > 50
    arm = (pixels.min(axis=2) > 150) & (np.ptp(pixels, axis=2) < 20) & (pixels.max(axis=2) < 250)
    assert arm.sum() > 5000
