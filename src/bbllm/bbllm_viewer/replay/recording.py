"""
An episode on record as a page replays it: what is shown at each moment, and how the arm moved.

The time of a replay is neither that of the clock nor that of the simulation: each stretch between
two things on record takes as long as it did in whichever was longer. So an arm that was simulated
faster than it moves is seen at its own speed, and a model's thinking is not left out.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bbllm.bags.motion import UNMOVED, RecordedMotion, motion_path, read_motion
from bbllm.core.errors import ConfigError
from bbllm.core.events import (
    Episode,
    EpisodeEnded,
    Event,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
)
from bbllm.core.types import Outcome, SceneObject
from bbllm_viewer.replay.shown_episode import PageChange, ShownEpisode, visible
from bbllm_viewer.view3d.drawn_scene import DIGITS, DrawnScene

Array = NDArray[np.float64]

LONGEST_S = 10.0
"""What a stretch without anything on record takes at most, such as a wait for a person [s]."""
BROKEN_MOTION = 'The file of the motion breaks off; from there on the view stays as it is.'
MOST_SAMPLES = 20_000
"""Of a longer motion, every second or n-th is kept: 11 minutes without a rest at 30 Hz."""
FARTHEST = 1e8
"""Of a number on record, in units of the last digit: damaged files can contain anything."""


def recording_of(episode: Episode, journal: Path) -> Mapping[str, object]:
    """
    Return an episode as JSON values for `static/replay.js`.

    A *moment* is the index of an event. What is shown from a moment on stands in histories, each
    a list of [moment, value] in the order of time.

    Returns:
        `times_s`, the time of each moment; `values`, histories by name; `rows`, the history of
        each place of the plan, in which a value has what differs from the one before; `n_rows`,
        the history of their number; `talk`, each sentence of the conversation with its moment;
        `marks`, steps, failures and repairs as [moment, word]; `drawn`, `motion`: the scene and
        how it moved, None where no motion can be read; `note`: what is missing of the motion, in
        one sentence, or ''.
    """
    path, motion, note = motion_path(journal), None, ''
    try:
        motion = read_motion(path)
    except ConfigError as error:
        note = str(error) if path.exists() else ''
    moments, samples, is_cut = play_times(episode.events, motion)
    histories = _Histories()
    shown = ShownEpisode()
    for moment, event in enumerate(episode.events):
        histories.take(moment, shown.take(event))
    if not isinstance(episode.events[-1].data, EpisodeEnded):
        histories.end(len(moments) - 1, episode.message)
    drawn = packed = None
    if motion is not None:
        drawn, packed = packed_motion(_objects(episode, motion), motion, samples)
    return {
        'times_s': [round(float(time_s), 3) for time_s in moments],
        'longest_s': LONGEST_S if is_cut else None,
        'values': histories.values,
        'rows': histories.rows,
        'n_rows': histories.n_rows,
        'talk': histories.talk,
        'marks': [[at, word] for at, event in enumerate(episode.events) if (word := _mark(event))],
        'drawn': drawn,
        'motion': packed,
        'note': BROKEN_MOTION if motion and not motion.complete else note,
    }


def play_times(
    events: Sequence[Event], motion: RecordedMotion | None, longest_s: float = LONGEST_S
) -> tuple[Array, Array, bool]:
    """
    Return when events and samples of the motion come in a replay, which begins at 0.

    No stretch between two of them takes longer than *longest_s* [s].

    Returns:
        Shape (n_events,) and (n_samples,) [s], neither of which runs backwards; and whether a
        stretch was shortened.
    """
    stamps = np.maximum.accumulate(np.nan_to_num([event.stamp_s for event in events]))
    if motion is None:
        took_s = [x.data.duration_s if isinstance(x.data, Outcome) else 0.0 for x in events]
        worlds = np.cumsum(np.nan_to_num(took_s))
    else:
        sampled = np.maximum.accumulate(motion.stamps_s)
        world_s = np.nan_to_num(motion.world_s)
        worlds = np.concatenate([np.interp(stamps, sampled, world_s), world_s])
        stamps = np.concatenate([stamps, sampled])
    order = np.argsort(stamps, kind='stable')
    passed = [np.diff(clock[order], prepend=clock[order[0]]) for clock in (stamps, worlds)]
    stretches = np.maximum(*passed)
    times = np.empty(len(order))
    times[order] = np.cumsum(np.minimum(stretches, longest_s))
    return times[: len(events)], times[len(events) :], bool((stretches > longest_s).any())


@dataclass(slots=True)
class _Histories:
    values: dict[str, list[list[object]]] = field(default_factory=dict)
    rows: list[list[list[object]]] = field(default_factory=list)
    n_rows: list[list[int]] = field(default_factory=list)
    talk: list[list[object]] = field(default_factory=list)
    _newest: list[Mapping[str, object]] = field(default_factory=list)

    def take(self, moment: int, change: PageChange) -> None:
        for name, value in change.values.items():
            if name == 'talk' and isinstance(value, list):  # it only ever grows
                self.talk += [[moment, sentence] for sentence in value[len(self.talk) :]]
            else:
                self.values.setdefault(name, []).append([moment, value])
        for place, row in change.rows.items():
            if place == len(self.rows):
                self.rows.append([])
                self._newest.append({})
            old = self._newest[place]
            new = {name: value for name, value in row.items() if old.get(name) != value}
            self.rows[place].append([moment, new])
            self._newest[place] = row
        if not self.n_rows or self.n_rows[-1][1] != change.n_rows:
            self.n_rows.append([moment, change.n_rows])

    def end(self, moment: int, message: str) -> None:
        """Note that the journal breaks off."""
        ending = {'text': f'The journal breaks off. {message}', 'good': False}
        self.values.setdefault('ending', []).append([moment, visible(ending)])
        self.values.setdefault('running', []).append([moment, False])


def _mark(event: Event) -> str:
    match event.data:
        case StepBegun():
            return 'step'
        case RepairBegun():
            return 'repair'
        case StepFailed() | StepPassed():
            return 'failure'
        case Outcome(succeeded=False):
            return 'failure'
    return ''


def _objects(episode: Episode, motion: RecordedMotion) -> Iterator[SceneObject]:
    scenes = (x.data.scene for x in episode.events if isinstance(x.data, SceneRecorded))
    if (scene := next(scenes, None)) is not None:
        yield from (item for item in scene.objects if item.kind in UNMOVED)
    yield from motion.objects


def packed_motion(
    objects: Iterable[SceneObject], motion: RecordedMotion, times_s: Array
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """
    Return what `View3D.load` takes, and the positions from time to time.

    Args:
        objects: Furniture and places as well as what moves.
        motion: N samples.
        times_s: When each is to be shown, shape (N,) [s].

    Returns:
        The description; and `columns`, the indices of the m positions that ever differ from those
        of the description, `scale`, by which numbers are to be divided, and `deltas`: in base 64
        and deflated, an array of int32 of shape (1 + m, n), little-endian, whose rows are the
        times [ms] and the positions, each number as difference from the one before it. Samples
        that equal the one before are left out.
    """
    drawn = DrawnScene(objects, motion.robot)
    exact = drawn.rows(motion.joints_rad, motion.finger_m, motion.poses)
    rows = _whole(exact * 10.0**DIGITS)
    rest = _whole(np.array(drawn.description['qpos']) * 10.0**DIGITS)
    kept = np.flatnonzero(np.any(np.diff(rows, axis=0, prepend=rows[:1] + 1), axis=1))
    kept = kept[:: -(-len(kept) // MOST_SAMPLES)]
    columns = np.flatnonzero(np.any(rows[kept] != rest, axis=0))
    matrix = np.vstack([_whole(times_s[kept] * 1e3), rows[kept][:, columns].T])
    deltas = np.diff(matrix, axis=1, prepend=0).astype('<i4')
    return drawn.description, {
        'columns': columns.tolist(),
        'scale': 10**DIGITS,
        'deltas': base64.b64encode(zlib.compress(deltas.tobytes(), 9)).decode(),
    }


def _whole(values: Array) -> NDArray[np.int64]:
    return np.rint(np.clip(np.nan_to_num(values), -FARTHEST, FARTHEST)).astype(np.int64)
