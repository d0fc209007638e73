"""Writes the video of an episode: the arm, with its light and camera, beside the plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bbllm.bags.motion import HOW, RecordedMotion, motion_path, read_motion
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode, SceneRecorded
from bbllm.core.types import Kind
from bbllm.sim.build import CAMERA
from bbllm.sim.render import check_video, draw_frames, save_video
from bbllm_viewer.video.layout import GROUND, clock_of, page_of, view_box
from bbllm_viewer.video.story import Story
from bbllm_viewer.video.storyboard import Frame, frames_of
from bbllm_viewer.view3d.drawn_scene import DrawnScene
from bbllm_viewer.viz.png import draw

Array = NDArray[np.float64]

SPEED = 2.0
"""How many times as fast as the robot a video is; slow enough to follow."""
FPS, LIGHT_FPS = 20.0, 12.5
"""Of an .mp4, and of files that browsers show as pictures."""
STILL_FPS = 10.0
"""Of the plan alone, in which nothing moves."""
SCALE, LIGHT_SCALE = 4 / 3, 1.0
"""Of their pages: 1280 by 720 and 960 by 540 pixels."""
MOST_PICTURES = 1000
"""In an animation, whose pictures are all in memory: 1.5 GB."""
SAME = 1e-4
"""Positions that differ less are drawn once [m, rad]."""
UNMOVED = (Kind.FIXTURE, Kind.LOCATION)
TARGET_M = 40
"""Moments of a motion that have to fit into the picture."""
NEAR_M = 1.6
"""What lies further from the base, as on the floor, does not count [m]."""
MARGIN = 1.04
LEAST_DEG, MOST_DEG = 12.0, 60.0
SHADOW_PX, SLICES = 1024, 20
"""In place of 4096 and 28; a software renderer takes half the time."""
OVERSIZE = 2
"""How much larger pictures are drawn: cheaper and smoother than samples within each pixel."""
BACKGROUND = (230, 235, 240)
CONE_DEG = 40.0
"""Of the lamp, which lights the table evenly: a GIF has too few colours for gradients."""


@dataclass(frozen=True, slots=True)
class Film:
    """A video that was written."""

    path: Path
    frames: int
    duration_s: float
    hints: tuple[str, ...]
    """What is not in it, and why."""


def write_film(
    episode: Episode,
    journal: Path,
    path: Path,
    speed: float = SPEED,
    on_progress: Callable[[int, int], None] | None = None,
    *,
    earlier: Sequence[tuple[Episode, Path]] = (),
) -> Film:
    """
    Write the video of an episode from its journal and the motion beside it; nothing is simulated.

    Without a motion, and without a table to draw it on, it shows the plan alone.

    Args:
        episode: As read from the journal; also one that breaks off.
        journal: Where the journal is.
        path: The video; its name ends as `sim.video_file.VIDEO_SUFFIXES` has it.
        speed: How many times as fast as the robot was, over 0.
        on_progress: Called with the number of frames that are drawn, and of all.
        earlier: Episodes with their journals that the video begins with, as of a conversation.

    Raises:
        ConfigError: The file cannot be written, nothing can be drawn on this machine, or the
            video is too long for an animation.
    """
    check_video(path)
    light = path.suffix.lower() != '.mp4'
    fps, scale = (LIGHT_FPS, LIGHT_SCALE) if light else (FPS, SCALE)
    parts, hints = list[tuple[Episode, _Arm | None]](), list[str]()
    for record, written in (*earlier, (episode, journal)):
        arm, missing = _arm_of(record, written)
        parts.append((record, arm))
        hints += missing
    if not any(arm for _, arm in parts):
        fps = STILL_FPS
    frames = [frames_of(each, arm.motion if arm else None, speed, fps) for each, arm in parts]
    total = sum(map(len, frames))
    if light:
        _check_length(path, sum(len(set(each)) for each in frames))
    drawn = chain.from_iterable(
        _Pictures(*part, scale).drawn(each) for part, each in zip(parts, frames)
    )
    save_video(path, _counted(drawn, total, on_progress), fps)
    return Film(path, total, total / fps, tuple(hints))


class _Arm:
    """A motion and what is needed to draw it."""

    def __init__(self, episode: Episode, motion: RecordedMotion) -> None:
        scenes = (x.data.scene for x in episode.events if isinstance(x.data, SceneRecorded))
        scene = next(scenes, None)
        around = [item for item in scene.objects if item.kind in UNMOVED] if scene else []
        drawn = DrawnScene([*around, *motion.objects], motion.robot)
        self.motion = motion
        self.model = drawn.model
        light(self.model)
        self.rows = drawn.rows(motion.joints_rad, motion.finger_m, motion.poses)

    def seen(self, samples: Sequence[int]) -> tuple[Array, list[int]]:
        """Return the positions that have to be drawn for some samples, and which is whose."""
        kept, which = list[int](), list[int]()
        for sample in samples:
            row = self.rows[sample]
            if not kept or np.abs(row - self.rows[kept[-1]]).max() > SAME:
                kept.append(sample)
            which.append(len(kept) - 1)
        return self.rows[kept], which


class _Pictures:
    """The pictures of a video; what stands still is drawn once."""

    def __init__(self, episode: Episode, arm: _Arm | None, scale: float) -> None:
        self._episode, self._arm, self._scale = episode, arm, scale
        self._story, self._taken = Story(), 0

    def drawn(self, frames: Sequence[Frame]) -> Iterator[Image.Image]:
        """Yield a picture for each frame; equal ones that follow each other are one object."""
        views = self._views([frame.sample for frame in frames])
        before: tuple[Frame | None, Image.Image | None] = (None, None)
        page = picture = Image.new('RGB', (1, 1))
        for frame in frames:
            view = next(views)
            if before == (frame, view):
                yield picture
                continue
            if before[0] is None or frame.n_events != before[0].n_events:
                page = self._page(frame.n_events)
            picture = page.copy()
            clock = clock_of(frame.clock, frame.remark, self._story.caption.tone)
            left, top = (round(side * self._scale) for side in clock.corner)
            picture.paste(draw(clock, self._scale, GROUND), (left, top))
            if view is not None:
                picture.paste(view, view_box(self._scale)[:2])
            before = (frame, view)
            yield picture

    def _page(self, n_events: int) -> Image.Image:
        events = self._episode.events
        for event in events[self._taken : n_events]:
            self._story.take(event)
        self._taken = n_events
        if n_events > len(events):
            self._story.break_off()
        return draw(page_of(self._story, view=self._arm is not None), self._scale, GROUND)

    def _views(self, samples: Sequence[int]) -> Iterator[Image.Image | None]:
        """Yield the arm at each sample; None for ever where there is none."""
        if self._arm is None:
            yield from repeat(None)
            return
        rows, which = self._arm.seen(samples)
        width, height = view_box(self._scale)[2:]
        aim(self._arm.model, rows, width / height)
        pictures = draw_frames(self._arm.model, rows, (OVERSIZE * width, OVERSIZE * height))
        shown, picture = -1, None
        for number in which:
            while shown < number:
                shown, picture = shown + 1, next(pictures).reduce(OVERSIZE)
            yield picture


def _arm_of(episode: Episode, journal: Path) -> tuple[_Arm | None, tuple[str, ...]]:
    path = motion_path(journal)
    if not path.exists():
        return None, (f'The video shows the plan alone: there is no motion {path}. {HOW}',)
    try:
        arm = _Arm(episode, read_motion(path))
    except ConfigError as error:
        return None, (f'The video shows the plan alone. {error}',)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Of a damaged journal: the values are of the right type, and make no sense together.
        text = f'The video shows the plan alone: the scene on record cannot be drawn ({error}).'
        return None, (text,)
    if not arm.motion.complete:
        return arm, (f'The motion {path} breaks off; the video shows it as far as it goes.',)
    return arm, ()


def _check_length(path: Path, n_pictures: int) -> None:
    if n_pictures > MOST_PICTURES:
        raise ConfigError(
            f'{path} would have {n_pictures} pictures, and at most {MOST_PICTURES} are possible '
            'in such a file. Name an .mp4 file, which can have any length.'
        )


def _counted(
    pictures: Iterator[Image.Image], total: int, on_progress: Callable[[int, int], None] | None
) -> Iterator[Image.Image]:
    for number, picture in enumerate(pictures, start=1):
        if on_progress is not None:
            on_progress(number, total)
        yield picture


def light(model: mujoco.MjModel) -> None:
    """Light a model of `bbllm_viewer.view3d.drawn_scene` evenly, before a plain background."""
    quality = model.vis.quality
    quality.shadowsize, quality.numslices, quality.offsamples = SHADOW_PX, SLICES, 0
    model.light_exponent[:] = 0.0
    model.light_cutoff[:] = CONE_DEG
    model.geom_rgba[model.geom('floor').id, 3] = 0.0
    model.tex_data[:] = np.tile(np.array(BACKGROUND, np.uint8), model.tex_data.size // 3)


def aim(model: mujoco.MjModel, rows: Array, aspect: float) -> None:
    """
    Turn the camera of a model to the arm and the objects, and zoom in as far as all are seen.

    Args:
        model: Of `bbllm_viewer.view3d.drawn_scene`; changed.
        rows: Positions, shape (n, nq).
        aspect: Width of the picture to its height.
    """
    data = mujoco.MjData(model)
    target, camera = model.body('camera_target').id, model.camera(CAMERA).id
    moves = model.geom_bodyid > 0
    points, radii = list[Array](), list[Array]()
    for row in rows[np.unique(np.linspace(0, len(rows) - 1, TARGET_M).astype(int))]:
        data.qpos[:] = row
        mujoco.mj_forward(model, data)
        points.append(data.geom_xpos[moves])
        radii.append(model.geom_rbound[moves])
    where, radius = np.concatenate(points), np.concatenate(radii)
    near = (np.linalg.norm(where, axis=1) < NEAR_M) & (where[:, 2] > -radius)
    where, radius, eye = where[near], radius[near], data.cam_xpos[camera].copy()
    for _ in range(3):
        ahead = _unit(model.body_pos[target] - eye)
        right = _unit(np.cross(ahead, (0.0, 0.0, 1.0)))
        up = np.cross(right, ahead)
        seen = where - eye
        depth = seen @ ahead
        across, along = seen @ right / depth, seen @ up / depth
        spans = [
            (float((side - radius / depth).min()), float((side + radius / depth).max()))
            for side in (across, along)
        ]
        (left, end), (low, high) = spans
        turned = ahead + right * (left + end) / 2 + up * (low + high) / 2
        model.body_pos[target] = eye + turned
        half = max((high - low) / 2, (end - left) / 2 / aspect) * MARGIN
        fov_deg = math.degrees(2 * math.atan(half))
        model.cam_fovy[camera] = min(MOST_DEG, max(LEAST_DEG, fov_deg))


def _unit(vector: Array) -> Array:
    return vector / math.hypot(*vector)
