"""
Which moment of an episode each frame of its video shows.

The arm moves by the world's clock, so many times as fast as it did. Waiting for a model or a
person, and other rest, is cut short; captions that have to be read stop the video.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bbllm.bags.motion import RecordedMotion
from bbllm.core.events import Episode, Event
from bbllm.core.types import Outcome, SkillCall
from bbllm_viewer.video.story import END_S, holds_of

Array = NDArray[np.float64]

REST_S = 0.8
"""How long a rest of any length is shown [s]."""
CALL_S = 1.2
"""Least time of a call, as if the robot had moved so long: refused ones take none [s]."""
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


@dataclass(frozen=True, slots=True)
class Shot:
    """The stretch of a video from one event to the next: it stands still, then the arm moves."""

    n_events: int
    still_s: float
    """How long it stands still, in the video [s]."""
    moving_s: float
    """How long the arm moves then, in the video [s]."""
    stamp_s: float
    """Wall clock of the event [s]."""
    remark: str
    """While it stands still."""


class Storyboard:
    """The frames of the video of one episode."""

    def __init__(self, episode: Episode, motion: RecordedMotion | None, speed: float) -> None:
        """Plan a video in which the robot is *speed* times as fast as it was."""
        self._speed = speed
        self._motion = motion
        self._tempo = None if motion is None else _Tempo(motion, speed)
        self._start_s = episode.events[0].stamp_s
        self._runs = f'×{speed:g}' if motion else ''
        self._held = PAUSED if motion else ''
        self.shots = self._shots(episode)

    @property
    def duration_s(self) -> float:
        """Of the video [s]."""
        return sum(shot.still_s + shot.moving_s for shot in self.shots)

    def count(self, fps: float) -> int:
        """Return the number of frames."""
        return max(1, math.ceil(self.duration_s * fps - 1e-6))

    def frames(self, fps: float) -> Iterator[Frame]:
        """Yield the frames; those of a picture that stands still are one and the same."""
        shots = iter(self.shots)
        shot, begin_s = next(shots), 0.0
        still = self._still(shot)
        for number in range(self.count(fps)):
            at_s = number / fps
            while at_s >= begin_s + shot.still_s + shot.moving_s - 1e-9:
                following = next(shots, None)
                if following is None:
                    break
                begin_s += shot.still_s + shot.moving_s
                shot, still = following, self._still(following)
            into_s = at_s - begin_s - shot.still_s
            yield still if into_s <= 0 or not shot.moving_s else self._moving(shot, into_s)

    def _still(self, shot: Shot) -> Frame:
        if self._tempo is None or self._motion is None:
            return Frame(shot.n_events, 0, self._wall_text(shot.stamp_s), shot.remark)
        video_s = self._tempo.video_s(shot.stamp_s)
        frame = self._at(shot, video_s)
        ended = not self._motion.complete and shot.stamp_s > self._motion.stamps_s[-1] + REST_S
        return replace(frame, remark=BROKEN if ended else shot.remark)

    def _moving(self, shot: Shot, into_s: float) -> Frame:
        assert self._tempo is not None
        return self._at(shot, self._tempo.video_s(shot.stamp_s) + into_s)

    def _at(self, shot: Shot, video_s: float) -> Frame:
        assert self._tempo is not None
        sample, world_s, cut = self._tempo.at(video_s)
        remark = 'a rest, cut short' if cut else self._runs
        return Frame(shot.n_events, sample, f'{world_s:.1f} s of the robot', remark)

    def _wall_text(self, stamp_s: float) -> str:
        return f'{stamp_s - self._start_s:.1f} s on the clock'

    def _shots(self, episode: Episode) -> list[Shot]:
        events = episode.events
        stamps = np.maximum.accumulate([event.stamp_s for event in events]).tolist()
        calls = list(_calls(events))
        in_call = {i for begin, end in calls for i in range(begin, end)}
        shots = [
            self._shot(i, hold_s, stamps, waits=i not in in_call)
            for i, hold_s in enumerate(holds_of(events))
        ]
        for begin, end in calls:
            shown_s = sum(shot.still_s + shot.moving_s for shot in shots[begin:end])
            missing_s = max(0.0, CALL_S / self._speed - shown_s)
            shots[begin] = replace(shots[begin], still_s=shots[begin].still_s + missing_s)
        if episode.ending is None:
            stamp_s = max(stamps[-1], self._tempo.end_s if self._tempo else 0.0)
            shots.append(Shot(len(events) + 1, END_S, 0.0, stamp_s, self._held))
        return shots

    def _shot(self, i: int, hold_s: float, stamps: Sequence[float], *, waits: bool) -> Shot:
        last = i + 1 == len(stamps)
        until_s = math.inf if last else stamps[i + 1]
        moving_s = 0.0
        if self._tempo is not None:
            moving_s = self._tempo.video_s(until_s) - self._tempo.video_s(stamps[i])
        waited_s = until_s - stamps[i] if waits and not last else 0.0
        remark = self._held if hold_s else self._runs
        if waited_s > REST_S:
            remark = f'a wait of {waited_s:.0f} s, cut short'
        return Shot(i + 1, max(hold_s, min(waited_s, REST_S)), moving_s, stamps[i], remark)


class _Tempo:
    """Where in a video, without its stops, each sample of a motion is."""

    def __init__(self, motion: RecordedMotion, speed: float) -> None:
        self._stamps_s = np.maximum.accumulate(motion.stamps_s)
        self._world_s = motion.world_s - motion.world_s[0]
        steps_s = np.diff(self._world_s) / speed
        for begin, end in _rests(motion):
            steps_s[begin:end] *= REST_S / max(steps_s[begin:end].sum(), REST_S)
        # A gap, as where no samples were written.
        steps_s = np.clip(np.nan_to_num(steps_s), 0.0, REST_S)
        self._cut = steps_s < np.diff(self._world_s) / speed - 1e-6
        self._video_s: Array = np.concatenate([[0.0], np.cumsum(steps_s)])
        self.end_s = float(self._stamps_s[-1])

    def video_s(self, stamp_s: float) -> float:
        """Return when a moment of the wall clock is shown [s]."""
        return float(np.interp(stamp_s, self._stamps_s, self._video_s))

    def at(self, video_s: float) -> tuple[int, float, bool]:
        """Return the sample of a time of the video, its clock [s], and whether it is in a cut."""
        last = len(self._video_s) - 1
        sample = min(last, int(np.searchsorted(self._video_s, video_s - 1e-9)))
        clock_s = float(np.interp(video_s, self._video_s, self._world_s))
        return sample, clock_s, bool(sample and self._cut[sample - 1])


def _rests(motion: RecordedMotion) -> Iterator[tuple[int, int]]:
    """Yield the stretches of intervals between samples in which nothing moves."""
    moved = np.abs(np.diff(motion.joints_rad, axis=0)).max(axis=1) > STILL_RAD
    for column in (motion.finger_m[:, np.newaxis], *motion.poses.values()):
        moved |= np.abs(np.diff(column, axis=0)).max(axis=1) > STILL_M
    edges = np.flatnonzero(np.diff(np.concatenate([[1], moved, [1]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _calls(events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """Yield for each call the places of its begin and its outcome, or where it broke off."""
    begin: int | None = None
    for i, event in enumerate(events):
        if begin is not None and isinstance(event.data, (SkillCall, Outcome)):
            yield begin, i
            begin = None
        if isinstance(event.data, SkillCall):
            begin = i
    if begin is not None:
        yield begin, len(events)
