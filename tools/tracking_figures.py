"""
Measure how steady and how quick tracked poses are, over a simulated detector.

    python tools/tracking_figures.py

Prints the root mean square of the error of position and turn before and after the filter while a
cube rests, and how long it takes until the scene follows it when it is put somewhere else. Delays
are counted from the move to the stamp of the picture that settled it; what the detector itself
and the network take comes on top.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.detections import Doubts, Picture
from bbllm.scene.transforms import difference, multiply, normalized
from bbllm.skills.shapes import yaw_pose
from bbllm.worlds.perception.tracking import ObjectTracker, TrackingParams

SIGMA_M = 0.002
SIGMA_RAD = math.radians(1.5)
DROPOUT = 0.1
OUTLIER = 0.02
"""Share of sightings that are somewhere else on the table."""
SIZE_M = (0.04, 0.04, 0.04)
REST_S = 120.0
MOVES = 100
FOLLOWED_M = 0.005
"""A move is followed when the pose is this near to where the cube is [m]."""


@dataclass(frozen=True)
class Setting:
    """One detector with one kind of move."""

    rate_hz: float
    move_m: float


class Detector:
    """Sees one cube, badly."""

    def __init__(self, rate_hz: float, seed: int = 1):
        self.tracker = ObjectTracker(TrackingParams(), Doubts(lambda text: None))
        self.now_s = 100.0
        self.truth = yaw_pose((0.5, 0.0, 0.02), 0.3)
        self._period_s = 1.0 / rate_hz
        self._random = random.Random(seed)

    def look(self) -> Pose | None:
        """Take one picture; return where the cube was seen."""
        self.now_s += self._period_s
        rng = self._random
        seen = None
        if rng.random() >= DROPOUT:
            x, y, z = (v + rng.gauss(0.0, SIGMA_M) for v in self.truth.position_m)
            if rng.random() < OUTLIER:
                x, y = rng.uniform(0.3, 0.7), rng.uniform(-0.4, 0.4)
            turn = normalized((*(rng.gauss(0.0, SIGMA_RAD) / 2 for _ in range(3)), 1.0))
            quat = multiply(turn, self.truth.quat_xyzw)
            seen = Pose(position_m=(x, y, z), quat_xyzw=quat)
        sightings = () if seen is None else (_sighting(seen),)
        picture = Picture(source='camera', stamp_s=self.now_s, sightings=sightings)
        self.tracker.see(picture, _nothing)
        return seen

    @property
    def pose(self) -> Pose | None:
        """Where the cube is, as far as the tracker tells."""
        track = self.tracker.tracks.get('cube')
        return track.item.pose if track is not None and track.placed else None

    def settle(self, duration_s: float) -> None:
        """Let the cube rest."""
        end_s = self.now_s + duration_s
        while self.now_s < end_s:
            self.look()


def rest(rate_hz: float) -> tuple[float, float, float, float]:
    """Return rms errors at rest: seen and tracked position [mm], seen and tracked turn [deg]."""
    detector = Detector(rate_hz)
    detector.settle(5.0)
    end_s = detector.now_s + REST_S
    errors: list[tuple[float, float]] = []
    raw: list[tuple[float, float]] = []
    while detector.now_s < end_s:
        seen, pose = detector.look(), detector.pose
        if seen is not None and _off(seen, detector.truth)[0] < 0.05:  # no outlier
            raw.append(_off(seen, detector.truth))
        if pose is not None:
            errors.append(_off(pose, detector.truth))
    (raw_m, raw_rad), (off_m, off_rad) = _rms(raw), _rms(errors)
    return raw_m * 1e3, off_m * 1e3, math.degrees(raw_rad), math.degrees(off_rad)


def moves(setting: Setting) -> tuple[float, float]:
    """Return the median and the 95th percentile of the delay after a move [s]."""
    detector = Detector(setting.rate_hz)
    detector.settle(5.0)
    delays = []
    for i in range(MOVES):
        sign = 1.0 if i % 2 else -1.0
        x, y, z = detector.truth.position_m
        detector.truth = yaw_pose((x, y + sign * setting.move_m, z), 0.3)
        moved_s = detector.now_s
        while detector.pose is None or _off(detector.pose, detector.truth)[0] > FOLLOWED_M:
            detector.look()
        delays.append(detector.now_s - moved_s)
        detector.settle(3.0)
    delays.sort()
    return delays[len(delays) // 2], delays[int(0.95 * len(delays))]


def main() -> None:
    """Print the figures."""
    print(
        f'noise {SIGMA_M * 1e3:g} mm and {math.degrees(SIGMA_RAD):g} deg per axis, '
        f'{DROPOUT:.0%} not seen, {OUTLIER:.0%} seen elsewhere'
    )
    for rate_hz in (5.0, 30.0):
        seen_mm, tracked_mm, seen_deg, tracked_deg = rest(rate_hz)
        print(
            f'{rate_hz:2.0f} Hz, at rest: {seen_mm:.2f} -> {tracked_mm:.2f} mm, '
            f'{seen_deg:.2f} -> {tracked_deg:.2f} deg'
        )
        for move_m in (0.1, 0.02, 0.008):
            half_s, most_s = moves(Setting(rate_hz, move_m))
            print(
                f'{rate_hz:2.0f} Hz, moved by {move_m * 1e3:.0f} mm: followed after '
                f'{half_s:.2f} s (median), {most_s:.2f} s (95 %)'
            )


def _sighting(pose: Pose) -> SceneObject:
    return SceneObject(name='cube', kind=Kind.CUBE, size_m=SIZE_M, color='', pose=pose)


def _nothing(item: SceneObject) -> bool:
    return False


def _off(pose: Pose, truth: Pose) -> tuple[float, float]:
    turned = difference(pose.quat_xyzw, truth.quat_xyzw, Kind.CUBE, SIZE_M)
    return math.dist(pose.position_m, truth.position_m), turned


def _rms(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    a, b = (math.sqrt(sum(pair[i] ** 2 for pair in pairs) / len(pairs)) for i in range(2))
    return a, b


if __name__ == '__main__':
    main()
