"""
Which moment of an episode each frame of its video shows.

Times are those of a replay (`replay.recording.play_times`): the arm moves by the world's clock, so
many times as fast as it did. Waiting for a model or a person, and other rest, is cut short;
captions that have to be read stop the video.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bbllm.bags.motion import RecordedMotion
from bbllm.core.events import Episode
from bbllm_viewer.replay.recording import play_times
from bbllm_viewer.video.story import END_S, holds_of

REST_S = 0.8
"""How long a rest of any length is shown [s]."""
STILL_RAD, STILL_M = 2e-4, 1e-4
"""What moves less between two samples rests, each joint and each part of a pose."""
PAUSED = 'paused'
BROKEN = 'the motion breaks off here'


@dataclass(frozen=True, slots=True)
class Frame:
    """What one frame shows."""

    n_events: int
    """How many events have happened; one more than there are where the journal breaks off."""
    sample: int
    """Of the motion; 0 where there is none."""
    clock: str
    remark: str
    """How fast the clock runs, or why it does not."""


def frames_of(
    episode: Episode, motion: RecordedMotion | None, speed: float, fps: float
) -> list[Frame]:
    """Return the frames of a video in which the robot is *speed* times as fast as it was."""
    events = episode.events
    kept = np.zeros(1, int) if motion is None else _moving(motion)
    events_s, samples_s, _ = play_times(
        events, None if motion is None else _at(motion, kept), REST_S * speed
    )
    holds_s = np.array(holds_of(events))
    waited_s = np.concatenate([[0.0], np.cumsum(holds_s)])
    shown_s = events_s / speed + waited_s[:-1]
    taken_s = samples_s / speed + waited_s[np.searchsorted(events_s, samples_s, 'right')]
    end_s = float(np.max([shown_s[-1] + holds_s[-1], *taken_s[-1:]]))
    if episode.ending is None:
        shown_s, holds_s = np.append(shown_s, end_s), np.append(holds_s, END_S)
        end_s += END_S
    frames = []
    for number in range(max(1, math.ceil(end_s * fps - 1e-6))):
        at_s = number / fps + 1e-9
        n_events = int(np.searchsorted(shown_s, at_s, 'right'))
        is_held = at_s < shown_s[n_events - 1] + holds_s[n_events - 1]
        if motion is None:
            stamp_s = events[min(n_events, len(events)) - 1].stamp_s
            clock = f'{stamp_s - events[0].stamp_s:.1f} s on the clock'
            frames.append(Frame(n_events, 0, clock, ''))
            continue
        place = max(0, int(np.searchsorted(taken_s, at_s, 'right')) - 1)
        remark = PAUSED if is_held else f'×{speed:g}'
        if not motion.complete and place == len(kept) - 1:
            remark = BROKEN
        world_s = float(motion.world_s[kept[place]] - motion.world_s[0])
        frames.append(Frame(n_events, int(kept[place]), f'{world_s:.1f} s of the robot', remark))
    return frames


def _moving(motion: RecordedMotion) -> NDArray[np.int64]:
    """Return the samples between which something moves, the first and the last."""
    moved = np.abs(np.diff(motion.joints_rad, axis=0)).max(axis=1) > STILL_RAD
    for column in (motion.finger_m[:, np.newaxis], *motion.poses.values()):
        moved |= np.abs(np.diff(column, axis=0)).max(axis=1) > STILL_M
    kept = np.concatenate([[True], moved]) | np.concatenate([moved, [True]])
    return np.flatnonzero(kept)


def _at(motion: RecordedMotion, kept: NDArray[np.int64]) -> RecordedMotion:
    return replace(motion, stamps_s=motion.stamps_s[kept], world_s=motion.world_s[kept])
