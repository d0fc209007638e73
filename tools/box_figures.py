#!/usr/bin/env python3
"""
Measure poses from boxes on random simulated tables, where the truth is known.

    python tools/box_figures.py                      # boxes projected from the truth
    python tools/box_figures.py --eyes --tables 5    # boxes by the model `eyes` of config/llm.yaml

Prints misses, errors of positions and yaw, and of a model how far the edges of its boxes are off.
"""

import argparse
import itertools

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.core.types import MOVABLE, Pose, SceneObject
from bbllm.llm.models.factory import load_config, make_eyes
from bbllm.scene.camera import RgbdImage
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.scene_file import make_scene
from bbllm.scene.transforms import compose, difference
from bbllm.sim.cameras import SimCameras
from bbllm.sim.simulation import Simulation
from bbllm_vision.detectors.boxes import PictureBox, locate
from bbllm_vision.detectors.vlm import VlmDetector

CAMERA = 'table_camera'
COLORS = ('red', 'green', 'blue', 'yellow', 'orange', 'purple', 'white', 'black')
APART_M = 0.09
SETTLING_STEPS = 300


def random_table(seed: int) -> Simulation:
    """Return a table with four to seven cubes of 40 mm and cylinders of 40 x 60 mm, at rest."""
    dice = np.random.default_rng(seed)
    spots = []
    n = int(dice.integers(4, 8))
    while len(spots) < n:
        x, y = float(dice.uniform(0.33, 0.75)), float(dice.uniform(-0.45, 0.45))
        if all(np.hypot(x - a, y - b) > APART_M for a, b in spots):
            spots.append((x, y))
    objects = []
    for color, spot in zip(COLORS, spots):
        kind, size = ('cylinder', [0.04, 0.06]) if dice.random() < 0.3 else ('cube', 0.04)
        objects.append(
            {
                'name': f'{color}_{kind}',
                'kind': kind,
                'color': color,
                'size': size,
                'xy': list(spot),
                'yaw_deg': float(dice.uniform(0, 90)),
            }
        )
    simulation = Simulation(make_scene({'objects': objects}))
    simulation.step(SETTLING_STEPS)
    return simulation


def true_box(item: SceneObject, image: RgbdImage, T_world_camera: Pose) -> np.ndarray:
    """Return left, top, right, bottom of the corners of an object [px]."""
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    corners = Rotation.from_quat(item.pose.quat_xyzw).apply(signs * item.size_m)
    seen = (
        Rotation.from_quat(T_world_camera.quat_xyzw)
        .inv()
        .apply(corners + item.pose.position_m - np.array(T_world_camera.position_m))
    )
    camera = image.intrinsics
    u = camera.fx_px * seen[:, 0] / seen[:, 2] + camera.cx_px
    v = camera.fy_px * seen[:, 1] / seen[:, 2] + camera.cy_px
    return np.array((u.min(), v.min(), u.max(), v.max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--tables', type=int, default=100)
    parser.add_argument('--seed', type=int, default=101)
    parser.add_argument('--eyes', action='store_true', help='ask the model of the role eyes')
    asked = parser.parse_args()
    model = make_eyes(load_config()) if asked.eyes else None
    off_m, off_rad, off_px, missed, n = [], [], [], 0, 0
    for seed in range(asked.seed, asked.seed + asked.tables):
        simulation = random_table(seed)
        items = [item for item in simulation.objects() if item.kind in MOVABLE]
        catalogue = Catalogue.of_objects(items)
        with SimCameras(simulation, seed=seed) as cameras:
            image, T_world_camera = cameras.take(CAMERA), cameras.pose(CAMERA)
        truth = {item.name: true_box(item, image, T_world_camera) for item in items}
        boxes = {
            name: PictureBox(
                entry=catalogue.named(name),
                left_px=box[0],
                top_px=box[1],
                right_px=box[2],
                bottom_px=box[3],
                confidence=1.0,
            )
            for name, box in truth.items()
        }
        if model is not None:
            drawn = VlmDetector(model, catalogue).boxes(image)
            boxes = {box.entry.name: box for box in drawn}
        for item in items:
            n += 1
            box = boxes.get(item.name)
            found = box and locate(box, image, T_world_camera)
            if not found:
                missed += 1
                continue
            pose = compose(
                T_world_camera, Pose(position_m=found.position_m, quat_xyzw=found.quat_xyzw)
            )
            off_m.append(np.linalg.norm(np.subtract(pose.position_m, item.pose.position_m)))
            if item.kind.value == 'cube':  # corners around a cylinder are outside of it
                off_rad.append(
                    difference(pose.quat_xyzw, item.pose.quat_xyzw, item.kind, item.size_m)
                )
                edges = (box.left_px, box.top_px, box.right_px, box.bottom_px)
                off_px.append(np.abs(np.subtract(edges, truth[item.name])).max())
    print(f'{n} objects on {asked.tables} tables, {missed} missed')
    for what, values, unit in (
        ('position', np.array(off_m) * 1000, 'mm'),
        ('yaw of cubes', np.degrees(off_rad), 'deg'),
        ('worst edge of boxes of cubes', np.array(off_px), 'px'),
    ):
        median, p95 = np.percentile(values, (50, 95))
        print(f'{what}: median {median:.2f}, p95 {p95:.2f}, worst {values.max():.2f} {unit}')


if __name__ == '__main__':
    main()
