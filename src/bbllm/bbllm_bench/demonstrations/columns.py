"""
The columns of a data set of demonstrations: what a frame and what an episode has.

A camera would be one more entry of `FRAME`, of dtype `video` with names height, width and
channels, and the files of its images (`lerobot_files`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bbllm.robots.registry import load_robot
from bbllm.scene.scene_file import SceneFile
from bbllm_bench.demonstrations.drawing import DemoSpec
from bbllm_bench.demonstrations.lerobot_files import Feature
from bbllm_bench.demonstrations.playing import Demo, DemoRecord
from bbllm_bench.demonstrations.statistics import Column
from bbllm_bench.log.results import EpisodeResult

SLOTS = 12
"""Objects that `observation.environment_state` has room for, so that data sets of all seeds have
the same shape and can be merged; the largest table of the suite `tabletop` has 11."""
NO_STEP = 'no step'
"""Text of the subtask while no step has begun, and when the plan has ended."""
POSE = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
ROBOT = (*load_robot().joints, 'width')


@dataclass(frozen=True, slots=True)
class Played:
    """One episode of the data set."""

    spec: DemoSpec
    record: DemoRecord

    @property
    def demo(self) -> Demo:
        return self.record.demo

    @property
    def result(self) -> EpisodeResult:
        return self.record.result

    @property
    def scene(self) -> SceneFile:
        return self.spec.case.table


FRAME: Mapping[str, tuple[Feature, Callable[[Played], Column]]] = {
    # Joints [rad], then the distance of the fingers [m], as measured at the time of the frame.
    'observation.state': (Feature('float32', ROBOT), lambda of: of.demo.measured),
    # Poses of the objects in the frame of the base [m, unit quaternion]; zeros in empty slots.
    'observation.environment_state': (
        Feature('float32', tuple(f'object_{i}.{name}' for i in range(SLOTS) for name in POSE)),
        lambda of: _slots(of.demo),
    ),
    # Set points of the same, in force at the time of the next frame [rad, m].
    'action': (Feature('float32', ROBOT), lambda of: of.demo.set_points),
    'next.done': (Feature('bool'), lambda of: _last(of, True)),
    'next.success': (Feature('bool'), lambda of: _last(of, of.result.passed)),
    'step_index': (Feature('int64'), lambda of: of.demo.step_index),
    'call_index': (Feature('int64'), lambda of: of.demo.call_index),
    'call_failed': (Feature('bool'), lambda of: of.demo.call_failed),
    'feedback_loop': (Feature('int64'), lambda of: of.demo.feedback_loop),
}
"""What a frame has beside the indexes, with what it is filled from."""

_TEXT, _NUMBER, _TEXTS = pa.string(), pa.int64(), pa.list_(pa.string())
_NUMBERS, _TRIPLES = pa.list_(pa.int64()), pa.list_(pa.list_(pa.float64(), 3))
EPISODE: Mapping[str, tuple[pa.DataType, Callable[[Played], object]]] = {
    # What the hidden checker of the settled table found.
    'success': (pa.bool_(), lambda of: of.result.passed),
    'verdict': (_TEXT, lambda of: of.result.reason),
    # How the planner ended.
    'ending': (_TEXT, lambda of: of.result.ending),
    'ending_message': (_TEXT, lambda of: of.result.message),
    'feedback_loops': (_NUMBER, lambda of: of.result.loops),
    'feedback_loops_allowed': (_NUMBER, lambda of: of.spec.key.k),
    'missed_pick': (_NUMBER, lambda of: of.spec.miss or 0),
    # Where it comes from.
    'suite': (_TEXT, lambda of: of.spec.case.suite),
    'case': (_TEXT, lambda of: of.spec.case.task),
    'trial': (_NUMBER, lambda of: of.spec.case.trial),
    'draw': (_NUMBER, lambda of: of.spec.number),
    # The objects in the order of their slots; the locations, which never move [m].
    'objects': (_TEXTS, lambda of: [item.name for item in of.scene.movables]),
    'object_kinds': (_TEXTS, lambda of: [item.kind.value for item in of.scene.movables]),
    'object_sizes_m': (_TRIPLES, lambda of: [item.size_m for item in of.scene.movables]),
    'locations': (_TEXTS, lambda of: [item.name for item in of.scene.places]),
    'location_positions_m': (
        _TRIPLES,
        lambda of: [item.pose.position_m for item in of.scene.places],
    ),
    # The calls in their order, those included that were refused before anything moved.
    'calls': (_TEXTS, lambda of: [call.text for call in of.demo.calls]),
    'call_statuses': (_TEXTS, lambda of: [call.status for call in of.demo.calls]),
    'call_codes': (_TEXTS, lambda of: [call.code for call in of.demo.calls]),
    'call_messages': (_TEXTS, lambda of: [call.message for call in of.demo.calls]),
    'call_from_frames': (_NUMBERS, lambda of: [call.begin for call in of.demo.calls]),
    'call_to_frames': (_NUMBERS, lambda of: [call.end for call in of.demo.calls]),
}
"""What an episode has beside LeRobot's own columns, with what it is filled from."""


def features() -> dict[str, Feature]:
    return {name: feature for name, (feature, _) in FRAME.items()}


def frames_of(played: Played) -> dict[str, Column]:
    return {name: fill(played) for name, (_, fill) in FRAME.items()}


def episode_of(played: Played) -> dict[str, object]:
    return {name: fill(played) for name, (_, fill) in EPISODE.items()}


def subtasks_of(played: Played) -> list[str]:
    return [text or NO_STEP for text in played.demo.step_text]


def _slots(demo: Demo) -> Column:
    n, objects, _ = demo.poses.shape
    slots = np.zeros((n, SLOTS, len(POSE)))
    slots[:, :objects] = demo.poses
    return slots.reshape(n, -1)


def _last(of: Played, value: bool) -> Column:
    column = np.zeros(len(of.demo), dtype=bool)
    column[-1] = value
    return column
