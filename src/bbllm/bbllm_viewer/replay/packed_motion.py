"""The motion of an arm and its objects, as few bytes as a page can read without a library."""

import base64
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from bbllm.bags.motion import RecordedMotion
from bbllm.core.types import SceneObject
from bbllm_viewer.view3d.drawn_scene import DIGITS, DrawnScene

Array = NDArray[np.float64]

MOST_SAMPLES = 20_000
"""Of a longer motion, every second or n-th is kept: 11 minutes without a rest at 30 Hz."""
FARTHEST = 1e8
"""Of a number on record, in units of the last digit: damaged files can contain anything."""


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
