"""
The real shapes of an FR3 for the view, where the package `franky-sim` is installed.

Its assets are those of MuJoCo Menagerie and franka_description (Apache 2.0). No code of it runs.
Surfaces are thinned to a grid, so that a browser receives some 400 kB.
"""

from __future__ import annotations

import base64
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.robots.registry import load_robot
from bbllm_viewer.view3d.drawn_scene import plain_row

PACKAGE = 'franky_sim'
ROBOT = 'fr3'
BODIES = {
    'hand': 'fr3_hand',
    'left_finger': 'fr3_leftfinger',
    'right_finger': 'fr3_rightfinger',
}
"""Bodies whose names differ there from those of this project."""
VISIBLE = 2
"""Group of the shapes that are drawn there."""
GRID_M = 0.005
"""Points of a surface in one cube of this edge become one."""
UNIT_M = 1e-4


@cache
def robot_meshes() -> Mapping[str, object]:
    """
    Return what `View3D.dress` takes; nothing where the package is not installed.

    Returns:
        `robot`, the name of the robot; `shapes`, as of `DrawnScene.description`, each with the
        index of its mesh; `meshes`, each with `points`, whole numbers of 0.1 mm (int16), and
        `faces`, three indices of points each (uint16), in base 64.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return {}
    theirs = _model(Path(found.submodule_search_locations[0]) / 'assets')
    ours = load_robot(ROBOT).spec().compile()
    there, here = mujoco.MjData(theirs), mujoco.MjData(ours)
    mujoco.mj_kinematics(theirs, there)
    mujoco.mj_kinematics(ours, here)
    shapes: list[object] = []
    meshes: list[object] = []
    for geom in range(theirs.ngeom):
        name = theirs.body(theirs.geom_bodyid[geom]).name
        body = ours.body(BODIES.get(name, name)).id
        turn = here.xmat[body].reshape(3, 3).T
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, (turn @ there.geom_xmat[geom].reshape(3, 3)).ravel())
        material = theirs.geom_matid[geom]
        color = theirs.geom_rgba[geom] if material < 0 else theirs.mat_rgba[material]
        shapes.append(
            {
                'body': int(body),
                'shape': 'mesh',
                'mesh': len(meshes),
                'size': [1.0, 1.0, 1.0],
                'pos': plain_row(turn @ (there.geom_xpos[geom] - here.xpos[body])),
                'quat': plain_row(quat),
                'rgba': plain_row(color),
            }
        )
        points, faces = thinned(*_surface(theirs, int(theirs.geom_dataid[geom])))
        meshes.append(
            {
                'points': _packed(np.rint(points / UNIT_M), '<i2'),
                'faces': _packed(faces, '<u2'),
            }
        )
    return {'robot': ROBOT, 'shapes': shapes, 'meshes': meshes}


def thinned(
    points: NDArray[np.float64], faces: NDArray[np.int64], grid_m: float = GRID_M
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """
    Return a surface in which the points of each cube of a grid are one.

    Args:
        points: Shape (n, 3) [m].
        faces: Indices of points, shape (m, 3).
        grid_m: Edge of a cube.
    """
    cubes = np.floor(points / grid_m).astype(np.int64)
    _, place, counts = np.unique(cubes, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    sums = np.zeros((len(counts), 3))
    np.add.at(sums, place, points)
    merged = place[faces]
    first, second, third = merged.T
    flat = (first == second) | (second == third) | (third == first)
    return sums / counts[:, np.newaxis], merged[~flat]


def _model(assets: Path) -> mujoco.MjModel:
    """Compile what is drawn of the robot."""
    spec = mujoco.MjSpec.from_file(str(assets / f'{ROBOT}.xml'))
    spec.meshdir = str(assets / 'meshes')
    for key in list(spec.keys):
        spec.delete(key)
    for geom in list(spec.geoms):
        if geom.group != VISIBLE:
            spec.delete(geom)
    drawn = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in drawn:
            spec.delete(mesh)
    return spec.compile()


def _surface(model: mujoco.MjModel, mesh: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    begin, n_points = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    first, n_faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    points = np.asarray(model.mesh_vert[begin : begin + n_points], dtype=np.float64)
    return points, np.asarray(model.mesh_face[first : first + n_faces], dtype=np.int64)


def _packed(numbers: NDArray[np.generic], kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()
