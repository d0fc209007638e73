"""One trial of the eyes: pictures of a random table, what is detected, and what is tracked."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import (
    WORLD_FRAME,
    Detection,
    Doubts,
    SightingParams,
    SightingReader,
)
from bbllm.scene.object_models import OBJECT_MODELS, model_like
from bbllm.scene.transforms import TransformTree, compose, difference
from bbllm.sim.cameras import CameraState, SimCameras, state_of
from bbllm.sim.simulation import Simulation
from bbllm.worlds.perception.tracking import ObjectTracker, TrackingParams
from bbllm_bench.benchmarks.eyes.pictures import save_picture
from bbllm_bench.benchmarks.eyes.tables import (
    lamps_of,
    posture_of,
    scene_of,
    settings_of,
    table_of,
    trouble_of,
)
from bbllm_vision.detectors.arm_mask import arm_mask
from bbllm_vision.detectors.blocks import BlocksDetector
from bbllm_vision.detectors.forms import class_names
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.silhouette_fit import ROUND_KINDS
from bbllm_vision.detectors.views import CameraView
from bbllm_vision.detectors.visibility import visible_shares

CAMERA = 'table_camera'
MATCH_M = 0.03
"""A detection that is farther from the object it names is false [m]."""
PERIOD_S = 1 / 15
"""Between two pictures [s]."""
FIRST_S = 1.0
"""Stamp of the first picture [s]."""
BAD_M, BAD_DEG = 0.005, 5.0
"""Larger errors are the worst cases, beside what is missing or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One object of a table."""

    name: str
    kind: str
    visible: float
    """Share of its silhouette that the camera sees."""
    distance_m: float
    """From the camera [m]."""
    error_m: float | None
    """Of the first picture; None where it was not detected [m]."""
    yaw_deg: float | None
    """The same modulo symmetry; None also where it is the same however it is turned [deg]."""
    tracked_error_m: float | None
    """After all pictures; None where it is not tracked [m]."""
    tracked_yaw_deg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one table gave."""

    index: int
    label: str
    trouble: str
    home: bool
    """Whether the arm was in its home posture."""
    objects: tuple[Seen, ...]
    false: tuple[str, ...]
    """Names of false detections of the first picture."""
    tracked_false: tuple[str, ...]
    detect_s: tuple[float, ...]
    """Wall time of each detection, the mask of the robot included [s]."""
    processor_s: tuple[float, ...]
    """Processor time of each detection, which other programs affect less [s]."""
    draw_s: tuple[float, ...]
    """Wall time of each picture [s]."""

    @property
    def is_bad(self) -> bool:
        return bool(self.false) or any(
            item.visible >= VISIBLE
            and (item.error_m is None or item.error_m > BAD_M or (item.yaw_deg or 0.0) > BAD_DEG)
            for item in self.objects
        )


VISIBLE = 0.5
"""Objects with a smaller share in view are hidden: whether they are found does not count."""


def run_trial(
    index: int, seed: int, trouble: str, pictures: int, folder: Path | None = None
) -> Trial:
    """Draw a table so many times, and compare detections and tracks with the truth."""
    cv2.setNumThreads(1)
    label, scene = table_of(seed, index)
    scene = scene_of(trouble, scene, seed, index)
    simulation = Simulation(scene)
    posture = posture_of(seed, index)
    simulation.data.qpos[: len(posture)] = posture
    width_m = simulation.joint_state().width_m
    catalogue = Catalogue.of_objects(scene.movables)
    detector = BlocksDetector(catalogue, scene.fixtures)
    tracking = _Tracking(catalogue, scene.fixtures)
    state = state_of(simulation)
    detect_s, processor_s, draw_s = [], [], []
    first: tuple[Detection, ...] = ()
    shown = None
    with SimCameras(
        simulation,
        settings_of(trouble, seed, index),
        trouble_of(trouble, scene, seed, index),
        seed=index,
        add=lamps_of(trouble, seed, index),
    ) as eyes:
        T_world_camera = eyes.pose(CAMERA)
        eyes.take(CAMERA)  # the first one starts the process that draws
        for number in range(pictures):
            at = CameraState(qpos=state.qpos, stamp_s=FIRST_S + number * PERIOD_S)
            begun_s = time.perf_counter()
            image = eyes.take(CAMERA, at)
            drawn_s, used_s = time.perf_counter(), time.process_time()
            robot = arm_mask(posture, width_m, image.intrinsics, T_world_camera)
            found = detector.detect(image, T_world_camera, ignored=robot)
            processor_s.append(time.process_time() - used_s)
            draw_s.append(drawn_s - begun_s)
            detect_s.append(time.perf_counter() - drawn_s)
            tracking.take(found, T_world_camera, at.stamp_s)
            if number == 0:
                first, shown = found, image
    assert shown is not None  # there is at least one picture
    view = CameraView.of(shown.intrinsics, T_world_camera)
    shares = visible_shares(scene.movables, view, robot)
    matched, false = match(first, scene.movables, catalogue, T_world_camera)
    tracked = _as_named(tracking.placed, scene.movables, catalogue)
    objects = []
    for item in scene.movables:
        pose, later = matched.get(item.name), tracked.get(item.name)
        objects.append(
            Seen(
                name=item.name,
                kind=kind_of(item),
                visible=shares[item.name],
                distance_m=math.dist(item.pose.position_m, T_world_camera.position_m),
                error_m=_error_m(pose, item),
                yaw_deg=_yaw_deg(pose, item),
                tracked_error_m=_error_m(later, item),
                tracked_yaw_deg=_yaw_deg(later, item),
            )
        )
    trial = Trial(
        index=index,
        label=label,
        trouble=trouble,
        home=index % 2 == 0,
        objects=tuple(objects),
        false=false,
        tracked_false=tuple(
            item.name for item in objects if (item.tracked_error_m or 0.0) > MATCH_M
        ),
        detect_s=tuple(detect_s),
        processor_s=tuple(processor_s),
        draw_s=tuple(draw_s),
    )
    if folder is not None and trial.is_bad:
        save_picture(folder, trial, shown, view, scene.movables, matched)
    return trial


class _Tracking:
    """Identities and the tracker of `state_estimator`, with its default parameters."""

    def __init__(self, catalogue: Catalogue, fixtures: Sequence[SceneObject]) -> None:
        doubts = Doubts(lambda _: None)
        self._tree = TransformTree()
        self._identities = Identities(catalogue)
        reserved = [item.name for item in fixtures]
        self._reader = SightingReader(self._tree, catalogue, reserved, doubts, SightingParams())
        self._tracker = ObjectTracker(TrackingParams(), doubts)

    def take(self, found: Sequence[Detection], T_world_camera: Pose, stamp_s: float) -> None:
        self._tree.add(WORLD_FRAME, CAMERA, T_world_camera, stamp_s, static=True)
        named = self._identities.named(found, T_world_camera)
        picture = self._reader.read(
            named, source=CAMERA, frame=CAMERA, stamp_s=stamp_s, now_s=stamp_s
        )
        if picture is not None:
            self._tracker.see(picture, lambda _: False)

    @property
    def placed(self) -> Mapping[str, SceneObject]:
        return {name: t.item for name, t in self._tracker.tracks.items() if t.placed}


def _as_named(
    placed: Mapping[str, SceneObject], items: Sequence[SceneObject], catalogue: Catalogue
) -> dict[str, Pose]:
    """Return tracked poses by true names: which of two that are alike is which is open."""
    true = {item.name: item.pose for item in items}
    found: dict[str, Pose] = {}
    for names in class_names(catalogue).values():
        poses = [placed[name].pose for name in names if name in placed]
        gaps = np.array(
            [[math.dist(p.position_m, true[name].position_m) for name in names] for p in poses]
        ).reshape(len(poses), len(names))
        for row, column in zip(*linear_sum_assignment(gaps), strict=True):
            found[names[column]] = poses[row]
    return found


def match(
    found: Sequence[Detection],
    items: Sequence[SceneObject],
    catalogue: Catalogue,
    T_world_camera: Pose,
) -> tuple[dict[str, Pose], tuple[str, ...]]:
    """Return where the objects were detected, and the classes of false detections."""
    names = class_names(catalogue)
    true = {item.name: item for item in items}
    matched: dict[str, Pose] = {}
    false = []
    for detection in sorted(found, key=lambda detection: -detection.confidence):
        if detection.confidence < SightingParams().min_confidence:
            continue
        seen = Pose(position_m=detection.position_m, quat_xyzw=detection.quat_xyzw)
        pose = compose(T_world_camera, seen)
        free = [name for name in names[detection.name] if name not in matched]
        gaps = {name: math.dist(pose.position_m, true[name].pose.position_m) for name in free}
        nearest = min(gaps, key=lambda name: gaps[name], default='')
        if nearest and gaps[nearest] <= MATCH_M:
            matched[nearest] = pose
        else:
            false.append(detection.name)
    return matched, tuple(false)


def kind_of(item: SceneObject) -> str:
    """Return `cube`, `cylinder`, or the kind of `scene.object_models`."""
    model = model_like(item)
    known = (kind for kind, other in OBJECT_MODELS.items() if other is model)
    return next(known, item.kind.value)


def _error_m(pose: Pose | None, item: SceneObject) -> float | None:
    return None if pose is None else math.dist(pose.position_m, item.pose.position_m)


def _yaw_deg(pose: Pose | None, item: SceneObject) -> float | None:
    if pose is None or item.kind is Kind.CYLINDER or kind_of(item) in ROUND_KINDS:
        return None
    kind = Kind.CUBE if kind_of(item) == 'box' else item.kind
    quat, true = pose.quat_xyzw, item.pose.quat_xyzw
    return math.degrees(difference(quat, true, kind, item.size_m))
