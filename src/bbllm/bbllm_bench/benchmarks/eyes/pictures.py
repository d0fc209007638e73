"""Annotated pictures of the worst cases: what was detected where, and what is missing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from bbllm.core.errors import ConfigError
from bbllm.core.types import Pose, SceneObject
from bbllm.scene.camera import RgbdImage
from bbllm.skills.shapes import rotation_of
from bbllm_vision.detectors.views import CameraView

if TYPE_CHECKING:
    from bbllm_bench.benchmarks.eyes.trials import Trial

GREEN, RED, INK = (0, 150, 0), (220, 0, 0), (20, 20, 20)


def save_picture(
    folder: Path,
    trial: Trial,
    image: RgbdImage,
    view: CameraView,
    items: Sequence[SceneObject],
    matched: Mapping[str, Pose],
) -> None:
    """Write a PNG with the box of each object, its name and its errors; red: not detected."""
    picture = np.ascontiguousarray(image.rgb)
    errors = {item.name: item for item in trial.objects}
    for item in items:
        pose, found = matched.get(item.name), errors[item.name]
        color = RED if pose is None else GREEN
        pixels = _draw_box(picture, view, pose or item.pose, item, color)
        words = f'{item.name} {found.visible:.0%}'
        if found.error_m is not None:
            words += f' {found.error_m * 1e3:.1f} mm'
        if found.yaw_deg is not None:
            words += f' {found.yaw_deg:.1f} deg'
        _write(picture, words, (pixels[:, 0].min(), pixels[:, 1].min() - 4), color)
    title = f'{trial.label}, {trial.trouble}'
    if trial.false:
        title += f'; false: {", ".join(trial.false)}'
    _write(picture, title, (6, picture.shape[0] - 8), INK)
    path = folder / f'{trial.trouble}-{trial.index:04d}.png'
    if not cv2.imwrite(str(path), picture[..., ::-1]):
        raise ConfigError(f'The picture {path} cannot be written; name another folder.')


def _draw_box(
    picture: np.ndarray,
    view: CameraView,
    pose: Pose,
    item: SceneObject,
    color: tuple[int, int, int],
) -> np.ndarray:
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    corners = signs * item.size_m @ np.array(rotation_of(pose)).T + pose.position_m
    pixels = view.project(corners)[:, :2]
    for one, other in itertools.combinations(range(8), 2):
        if np.count_nonzero(signs[one] != signs[other]) == 1:
            ends = [tuple(int(v) for v in np.rint(pixels[i])) for i in (one, other)]
            cv2.line(picture, ends[0], ends[1], color, 1, cv2.LINE_AA)
    return pixels


def _write(
    picture: np.ndarray, text: str, at: tuple[float, float], color: tuple[int, int, int]
) -> None:
    where = (int(at[0]), int(at[1]))
    cv2.putText(picture, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.35, color, 1, cv2.LINE_AA)
