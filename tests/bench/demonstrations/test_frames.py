"""The frames of a demonstration: what was measured, what was commanded, and what went on."""

from functools import lru_cache

import numpy as np
import pytest

from bbllm.core.events import Ending, EpisodeEnded, Event, EventData, RepairBegun, StepBegun
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.llm.config import LlmConfig
from bbllm_bench.demonstrations.drawing import DemoSettings, DemoSpec, draw
from bbllm_bench.demonstrations.playing import FPS, NONE, DemoRecord, label, play
from bbllm_bench.runner.play_here import play as play_unsampled

SEED = 5


def spec_of(number: int, misses: float = 0.0, unrepaired: float = 0.0) -> DemoSpec:
    settings = DemoSettings(episodes=1, seed=SEED, misses=misses, unrepaired=unrepaired)
    return draw(number, settings, LlmConfig())


@lru_cache(maxsize=4)
def played(number: int, misses: float = 0.0, unrepaired: float = 0.0) -> DemoRecord:
    return play(spec_of(number, misses, unrepaired))


def test_an_episode_is_as_long_in_frames_as_on_the_clock_of_the_robot() -> None:
    record = played(0)

    assert record.result.passed
    assert len(record.demo) == pytest.approx(record.result.robot_s * FPS, abs=6)
    assert record.demo.measured.shape == record.demo.set_points.shape == (len(record.demo), 8)


def test_sampling_changes_nothing_of_what_happens() -> None:
    sampled, bare = played(0).result, play_unsampled(spec_of(0)).result

    assert sampled.robot_s == bare.robot_s
    assert sampled.settled == bare.settled


def test_an_action_is_where_the_arm_is_one_frame_later() -> None:
    demo = played(0).demo
    arm, asked = demo.measured[1:, :7], demo.set_points[:-1, :7]
    moved = np.abs(np.diff(demo.measured[:, :7], axis=0))

    assert moved.max() > 0.02
    assert np.abs(arm - asked).max() < 0.002
    # The arm stands at first, so that it is commanded to stay.
    assert np.abs(demo.set_points[0, :7] - demo.measured[0, :7]).max() < 0.002


def test_the_fingers_are_asked_to_close_before_an_object_rises_with_the_hand() -> None:
    spec, demo = spec_of(0), played(0).demo
    name = spec.case.table_goal.model_dump()['text'].partition('(')[2].partition(',')[0]
    names = [item.name for item in spec.case.table.movables]
    height = demo.poses[:, names.index(name), 2]
    risen = int(np.argmax(height > height[0] + 0.01))

    assert height[0] == pytest.approx(0.02, abs=0.001)
    assert (demo.set_points[risen - 3 : risen, 7] == 0.0).all()
    assert demo.measured[risen, 7] == pytest.approx(0.04, abs=0.002)
    assert np.linalg.norm(demo.poses[:, :, 3:], axis=2) == pytest.approx(1.0)


def test_a_call_that_fails_and_its_repair_are_labelled() -> None:
    demo = played(0, misses=1.0).demo
    failed = [i for i, call in enumerate(demo.calls) if call.code == Code.GRASP_FAILED.name]

    assert len(failed) == 1
    call = demo.calls[failed[0]]
    assert call.end - call.begin > FPS
    assert set(np.flatnonzero(demo.call_failed)) == {*range(call.begin, call.end)}
    assert (demo.call_index[call.begin : call.end] == failed[0]).all()
    assert (demo.feedback_loop[: call.end] == 0).all() and demo.feedback_loop[-1] == 1
    assert played(0, misses=1.0).result.passed


def test_without_feedback_loops_the_failure_stays() -> None:
    record = played(0, misses=1.0, unrepaired=1.0)

    assert not record.result.passed
    assert record.result.ending == Ending.GAVE_UP.name
    assert not record.demo.feedback_loop.any()


def test_every_frame_of_a_call_belongs_to_the_step_that_it_carries_out() -> None:
    demo = played(0).demo

    for call in demo.calls:
        steps = {*demo.step_text[call.begin : call.end]}
        assert len(steps) == 1
        assert steps.pop().split()[0] == call.text.partition('(')[0].partition('_')[0]
    assert demo.step_index[0] == NONE and demo.step_text[0] == ''
    assert demo.step_index[-1] == NONE and demo.call_index[-1] == NONE


PICK, PLACE = SkillCall('pick', ('a',)), SkillCall('place', ('b',))


def outcome(call: SkillCall, status: Status, code: Code = Code.NONE) -> Outcome:
    return Outcome(call=call, status=status, code=code)


def test_labels_follow_the_times_of_events() -> None:
    stamps_s = np.array([0.0, 0.033, 0.067, 0.1, 0.133, 0.167])
    happened: list[tuple[float, EventData]] = [
        (0.02, StepBegun(0, 'take a')),
        (0.02, PICK),
        (0.067, outcome(PICK, Status.FAILED, Code.GRASP_FAILED)),
        (0.067, RepairBegun(0, 'take a', 'It slipped.')),
        (0.067, StepBegun(0, 'take b')),
        (0.067, PLACE),
        (0.067, outcome(PLACE, Status.REJECTED, Code.NOT_HOLDING)),
        (0.1, PICK),
        (0.15, outcome(PICK, Status.SUCCEEDED)),
        (0.15, EpisodeEnded(Ending.FINISHED, '')),
    ]
    rows = np.zeros((6, 8))
    demo = label(
        stamps_s,
        [(time_s, Event(0.0, data)) for time_s, data in happened],
        measured=rows,
        set_points=rows,
        poses=np.zeros((6, 0, 7)),
    )

    assert demo.step_text == ('', 'take a', 'take b', 'take b', 'take b', '')
    assert demo.step_index.tolist() == [NONE, 0, 0, 0, 0, NONE]
    assert demo.call_index.tolist() == [NONE, 0, NONE, 2, 2, NONE]
    assert demo.call_failed.tolist() == [False, True, False, False, False, False]
    assert demo.feedback_loop.tolist() == [0, 0, 1, 1, 1, 1]
    assert [(c.code, c.begin, c.end) for c in demo.calls] == [
        ('GRASP_FAILED', 1, 2),
        ('NOT_HOLDING', 2, 2),
        ('NONE', 3, 5),
    ]


def test_draws_are_equal_for_a_seed_and_differ_between_numbers_and_seeds() -> None:
    first, again, other = spec_of(4), spec_of(4), spec_of(6)
    elsewhere = draw(4, DemoSettings(episodes=1, seed=SEED + 1), LlmConfig())

    assert first == again
    assert len({s.case.table.model_dump_json() for s in (first, other, elsewhere)}) == 3
    assert spec_of(1).case.suite == 'tabletop' and spec_of(0).case.suite == 'pick_place'
