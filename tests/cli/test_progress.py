"""What is known of an episode while its events come in."""

from __future__ import annotations

import pytest
from told_events import FAR, REPAIRED, after, call, event, outcome, states, step

from bbllm.cli.views.progress import StepState
from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    ModelCall,
    PlanMade,
    RepairBegun,
    StepFailed,
    StepPassed,
)


def test_a_repaired_step_stays_in_sight_and_steps_never_tried_go() -> None:
    progress = after(*REPAIRED)

    assert states(progress) == [
        (0, StepState.DONE),
        (1, StepState.REPLACED),
        (1, StepState.PENDING),
        (2, StepState.PENDING),
    ]
    assert progress.rows[1].note == FAR
    assert progress.repairs == 1


def test_a_step_is_running_from_its_announcement_to_its_outcome() -> None:
    assert after(step(0)).current is not None
    assert after(step(0), call('pick', 'a'), outcome('pick a')).current is None


def test_a_step_that_the_body_passed_on_is_neither_done_nor_failed() -> None:
    progress = after(step(0), event(StepPassed(index=0, text='x')), step(1))

    assert progress.rows[0].state is StepState.PASSED


def test_a_step_that_stays_failed_carries_its_reason() -> None:
    failed = event(StepFailed(index=0, text='x', cause=FAR))

    progress = after(step(0), outcome('pick c', 'FAILED', FAR), failed, step(1))

    assert progress.rows[0].state is StepState.FAILED
    assert progress.rows[0].note == FAR


def test_a_repair_by_what_a_person_said_keeps_the_step_that_it_replaced() -> None:
    progress = after(
        event(RepairBegun(index=0, text='x', cause='A person said: not that', loop=1)),
        event(PlanMade(steps=('rest',), start=0)),
    )

    assert states(progress) == [(0, StepState.REPLACED), (0, StepState.PENDING)]


def test_a_cancelled_episode_stops_the_step_that_ran() -> None:
    progress = after(step(0), event(EpisodeEnded(ending=Ending.CANCELLED, message='Ctrl-C')))

    assert progress.rows[0].state is StepState.STOPPED


def test_counts_add_up() -> None:
    spent = {'model': 'm', 'duration_s': 0.5, 'retries': 0}
    calls = [
        event(ModelCall(role=role, prompt_tokens=100, completion_tokens=10, **spent))
        for role in ('brain', 'body')
    ]

    progress = after(*REPAIRED, *calls)

    assert (progress.calls, progress.model_calls, progress.tokens) == (2, 2, 220)
    assert progress.robot_s == pytest.approx(2.0)
