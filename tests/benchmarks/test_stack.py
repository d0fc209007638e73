"""What the bench of the stack makes of events and stamps."""

import pytest

from bbllm.core.events import Event, ModelCall, StepBegun
from bbllm.core.types import Outcome, SkillCall, Status
from bbllm_bench.benchmarks.time.stack import overheads_of

CALL = SkillCall('wait')


def step(begun_s: float, model_s: float, called_s: float, ended_s: float) -> list[Event]:
    return [
        Event(begun_s, StepBegun(0, 'a step')),
        Event(begun_s + model_s, ModelCall(role='brain', model='m', duration_s=model_s)),
        Event(called_s, CALL),
        Event(ended_s, Outcome(call=CALL, status=Status.SUCCEEDED)),
    ]


def test_overhead_is_the_way_to_the_first_trajectory_without_the_model() -> None:
    events = [*step(10.0, 0.5, 10.6, 14.0), *step(20.0, 0.0, 20.1, 24.0)]

    found = list(overheads_of(events, [10.7, 12.0, 20.3]))

    assert found == pytest.approx([0.2, 0.3])


def test_step_without_a_trajectory_does_not_count() -> None:
    events = [*step(10.0, 0.0, 10.1, 11.0), *step(20.0, 0.0, 20.1, 21.0)]

    assert list(overheads_of(events, [5.0, 20.2, 30.0])) == pytest.approx([0.2])
