"""Random tables for the eyes: scenes of suites, crowded tables, and what troubles pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np

from bbllm.arm.driver import Array
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.registry import load_robot
from bbllm.scene.scene_file import ObjectSpec, SceneFile, TableSpec
from bbllm.sim.camera_settings import TABLE_CAMERA, CameraSettings, Light, Trouble, d435
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.scene_recipe import CUBE_COLORS, CYLINDER_COLORS
from bbllm_bench.suites.suite import Suite, load_suite
from bbllm_vision.camera_trouble import CLUTTER, MOVED_M, unknown_objects

SUITES = ('tabletop', 'table_sorting', 'partial')
FACTORS = ('lamps', 'view', 'black')
"""What the detector was not made for, one at a time; `wild` is all of them at once."""
TROUBLES = ('none', 'light', 'clutter', 'moved', *FACTORS, 'wild')
LAMPS = 3
"""Most lamps of a table with other lamps."""
LAMP_FROM_M, LAMP_HEIGHT_M = (0.0, 1.5), (0.8, 2.5)
"""How far beside the middle of the table a lamp is, and how high above it [m]."""
LAMP_LIGHT, AROUND_LIGHT, TINT = 0.9, (0.15, 0.35), 0.2
"""Light of all lamps together and light around, of 1; by how much a colour may be less."""
VIEW_FROM_M, VIEW_DEG = (0.85, 1.35), (38.0, 78.0)
"""How far a camera of another view is from the middle of the table [m], and how steep [deg]."""
MIDDLE_M = (0.5, 0.0, 0.0)
"""Where lamps and cameras point [m]."""
BLACK = 2
"""How many objects of a table with black ones are black."""
EDGES_M = (0.032, 0.040, 0.048, 0.056)
"""Of cuboids [m]."""
EDGE_M, GAP_M = 0.04, 0.005
"""Edge of a cube, and the gap between neighbours [m]."""
AREA_X_M, AREA_Y_M = (0.30, 1.05), (-0.65, 0.65)
"""Where objects of crowded tables are [m]."""
LEAST_TCP_M = 0.15
"""Height of the hand in a random posture [m]."""
SWING_RAD = 0.5
"""How far joints are from the home posture in a random one [rad]."""


def table_of(seed: int, index: int) -> tuple[str, SceneFile]:
    """Return a scene and where it comes from: every third is crowded, the others of suites."""
    if index % 3 == 2:
        return f'crowded/{index}', crowded_table(np.random.default_rng((seed, index)))
    tasks = _tasks()
    suite, task = tasks[(index - index // 3) % len(tasks)]
    case = make_case(suite, task, seed=seed, trial=index)
    assert isinstance(case.scene, SceneFile)  # these suites are on tables
    return f'{suite.name}/{task}/{index}', case.scene


@cache
def _tasks() -> tuple[tuple[Suite, str], ...]:
    suites = [load_suite(name) for name in SUITES]
    return tuple((suite, task.name) for suite in suites for task in suite.tasks)


def crowded_table(dice: np.random.Generator) -> SceneFile:
    """
    Return a table with a row of three cubes with gaps of 5 mm, a tower, cuboids and cylinders.

    In every other row all cubes are of one colour: they are alike.
    """
    cubes, cylinders = (
        list(map(str, dice.permutation(colors))) for colors in (CUBE_COLORS, CYLINDER_COLORS)
    )
    spots: list[tuple[float, float, float]] = []
    objects: list[dict[str, object]] = []

    def spot(radius_m: float) -> tuple[float, float]:
        while True:
            x, y = float(dice.uniform(*AREA_X_M)), float(dice.uniform(*AREA_Y_M))
            if all(math.hypot(x - a, y - b) > radius_m + r for a, b, r in spots):
                spots.append((x, y, radius_m))
                return x, y

    def yaw(most_deg: float = 45.0) -> float:
        return float(dice.uniform(-most_deg, most_deg))

    (x, y), turn = spot(0.12), yaw()
    row, alike = [cubes.pop() for _ in range(3)], dice.random() < 0.5
    for place in range(3):
        color = row[0] if alike else row[place]
        away = (place - 1) * (EDGE_M + GAP_M)
        at = (x + away * math.cos(math.radians(turn)), y + away * math.sin(math.radians(turn)))
        name = f'{color}_cube_{place}'
        objects.append({'name': name, 'kind': 'cube', 'color': color, 'xy': at, 'yaw_deg': turn})
    x, y = spot(0.06)
    for level in range(int(dice.integers(2, 4))):
        off = dice.uniform(-0.003, 0.003, 2).tolist()
        xyz = (x + off[0], y + off[1], EDGE_M * (level + 0.5))
        color = cubes.pop()
        objects.append(
            {'name': f'{color}_cube', 'kind': 'cube', 'color': color, 'xyz': xyz, 'yaw_deg': yaw()}
        )
    for number in range(4):
        color = cubes.pop()
        size = dice.choice(EDGES_M, 3).tolist() if number < 2 else EDGE_M
        objects.append(
            {
                'name': f'{color}_cube',
                'kind': 'cube',
                'color': color,
                'xy': spot(0.06),
                'size': size,
                'yaw_deg': yaw(90.0),
            }
        )
    for color in cylinders[:2]:
        objects.append(
            {'name': f'{color}_cylinder', 'kind': 'cylinder', 'color': color, 'xy': spot(0.05)}
        )
    table = TableSpec(xy=(0.45, 0.0), size=(1.4, 1.6))
    specs = tuple(ObjectSpec.model_validate(item) for item in objects)
    return SceneFile(name='crowded', tables=(table,), objects=specs)


def posture_of(seed: int, index: int) -> Array:
    """Return the joints of the arm, shape (7,): at home in every other trial [rad]."""
    robot = load_robot()
    home = robot.home_rad
    if index % 2 == 0:
        return home
    dice = np.random.default_rng((seed, index, 1))
    while True:
        posture = home + dice.uniform(-SWING_RAD, SWING_RAD, len(home))
        if robot.kinematics.forward(posture)[2, 3] > LEAST_TCP_M:
            return np.asarray(posture)


def scene_of(name: str, scene: SceneFile, seed: int, index: int) -> SceneFile:
    """Return the table of a trial, where the trouble is one of colours."""
    if name not in ('black', 'wild'):
        return scene
    dice = np.random.default_rng((seed, index, 3))
    plain = [item.name for item in scene.objects if item.kind in ('cube', 'cylinder')]
    chosen = set(map(str, dice.permutation(plain)[:BLACK]))
    objects = (
        item.model_copy(update={'color': 'black'}) if item.name in chosen else item
        for item in scene.objects
    )
    return scene.model_copy(update={'objects': tuple(objects)})


def settings_of(name: str, seed: int, index: int) -> CameraSettings:
    """Return the camera of a trial: that over the table, or one from any side of it."""
    settings = d435()
    if name in ('lamps', 'wild'):
        settings = replace(settings, shadows=True)
    if name not in ('view', 'wild'):
        return settings
    dice = np.random.default_rng((seed, index, 4))
    away_m, steep_deg = dice.uniform(*VIEW_FROM_M), dice.uniform(*VIEW_DEG)
    turn, steep = dice.uniform(-math.pi, math.pi), math.radians(steep_deg)
    ahead = -np.array(
        [math.cos(steep) * math.cos(turn), math.cos(steep) * math.sin(turn), math.sin(steep)]
    )
    left = np.cross([0.0, 0.0, 1.0], ahead)
    left /= np.linalg.norm(left)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([ahead, left, np.cross(ahead, left)])
    T[:3, 3] = np.array(MIDDLE_M) - away_m * ahead
    mount = replace(TABLE_CAMERA, T_parent_link=pose_of_matrix(T))
    return replace(settings, mounts=(mount,))


def lamps_of(name: str, seed: int, index: int) -> Callable[[mujoco.MjSpec], None]:
    """Return what changes the light of a trial: one to three tinted lamps in place of its own."""

    def relight(spec: mujoco.MjSpec) -> None:
        if name not in ('lamps', 'wild'):
            return
        dice = np.random.default_rng((seed, index, 5))

        def tint() -> Array:
            return 1.0 - TINT * dice.random(3)

        around = dice.uniform(*AROUND_LIGHT)
        spec.visual.headlight.ambient = around * tint()
        spec.visual.headlight.diffuse = [0.0] * 3
        spec.lights[0].diffuse = [0.0] * 3
        shares = dice.dirichlet(np.ones(int(dice.integers(1, LAMPS + 1))))
        for share in shares.tolist():
            turn, way_m = dice.uniform(-math.pi, math.pi), dice.uniform(*LAMP_FROM_M)
            beside = np.array([way_m * math.cos(turn), way_m * math.sin(turn), 0.0])
            at = np.array(MIDDLE_M) + beside + [0.0, 0.0, dice.uniform(*LAMP_HEIGHT_M)]
            spec.worldbody.add_light(
                pos=at,
                dir=np.array(MIDDLE_M) - at,
                diffuse=share * LAMP_LIGHT * tint(),
                castshadow=True,
            )

    return relight


def trouble_of(name: str, scene: SceneFile, seed: int, index: int) -> Trouble:
    """Return what makes the pictures of a trial worse: one of `TROUBLES`."""
    dice = np.random.default_rng((seed, index, 2))
    if name == 'light':
        return Trouble(light=(Light.DIM, Light.SIDE)[index % 2])
    if name == 'moved':
        way = dice.standard_normal(3)
        x, y, z = (MOVED_M * way / np.linalg.norm(way)).tolist()
        return Trouble(camera_offset_m=(x, y, z))
    if name == 'clutter':
        return Trouble(unknown_objects=unknown_objects(scene, CLUTTER, int(dice.integers(2**31))))
    return Trouble()
