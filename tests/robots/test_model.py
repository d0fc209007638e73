"""The model of the arm alone, and of the fingers, against what is published."""

import mujoco
import numpy as np
import pytest

from bbllm.robots.fr3 import FR3


def test_the_arm_model_has_seven_joints_and_rigid_fingers_at_the_width_asked_for() -> None:
    for width_m in (FR3.hand.max_width_m, 0.04):
        model = FR3.arm_model(width_m)
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        assert (model.nq, model.nv, model.nu) == (7, 7, 7)
        faces = []
        for side in ('left', 'right'):
            pad = model.geom(f'fr3_{side}finger_pad')
            centre = data.geom_xpos[pad.id]
            normal = data.geom_xmat[pad.id].reshape(3, 3)[:, 1]
            faces.append(centre - normal * pad.size[1])
        assert np.linalg.norm(faces[0] - faces[1]) == pytest.approx(width_m, abs=1e-9)


def test_the_fingers_are_as_thin_as_the_real_ones_where_they_pass_neighbours() -> None:
    model = FR3.arm_model()
    pad = model.geom('fr3_leftfinger_pad')
    middle = model.geom('fr3_leftfinger_middle')
    assert 2 * pad.size[1] == pytest.approx(0.0144)
    assert middle.pos[1] + middle.size[1] == pytest.approx(0.019)
    # the tip reaches less below the TCP than half a cube, so that a cube on a table can be held
    tip_below_tcp = 0.0584 + pad.pos[2] + pad.size[2] - 0.1034
    assert 0 < tip_below_tcp < 0.02
