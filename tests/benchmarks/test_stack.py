"""What the bench of the stack makes of events and stamps."""

from __future__ import annotations

import pytest

from bbllm.core.events import Event, ModelCall, StepBegun
from bbllm.core.types import Outcome, SkillCall, Status
from benchmarks.stack.command import Spread, overheads_of

pytestmark = pytest.mark.ros


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


def test_first_plan_is_no_step() -> None:
    events = [
        Event(1.0, ModelCall(role='brain', model='m', duration_s=9.0)),
        *step(2.0, 0.0, 2.1, 3.0),
    ]

    assert list(overheads_of(events, [2.5])) == pytest.approx([0.5])


def test_spread_is_in_milliseconds() -> None:
    spread = Spread.of([0.001, 0.002, 0.003])

    assert (spread.n, spread.median_ms) == (3, pytest.approx(2.0))
