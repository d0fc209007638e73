"""Why a robot has stopped, as its mode and its errors tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from played_recoveries import DOWN

from bbllm.arm.driver import RobotMode
from bbllm.arm.execution.stop_causes import (
    CAUSES,
    NEED_A_PERSON,
    StopCause,
    diagnose,
    hardware_is_up,
)
from bbllm.core.types import Code


def test_every_error_of_the_driver_has_a_cause() -> None:
    franka = pytest.importorskip('franka_msgs.msg')

    assert set(CAUSES) == set(franka.Errors.get_fields_and_field_types())


@pytest.mark.parametrize('error', sorted(CAUSES))
def test_every_error_gives_a_sentence_and_advice(error: str) -> None:
    shown = replace(DOWN, mode=RobotMode.IDLE, last_errors=(error,))

    stop = diagnose(shown, hardware_was_down=True)

    assert stop.cause is CAUSES[error]
    assert stop.cause in NEED_A_PERSON or stop.code in (Code.REFLEX, Code.CONTROLLER_ABORTED)
    sentence = stop.sentence('lifting red_cube')
    assert 'while lifting red_cube' in sentence
    assert '{' not in sentence
    assert sentence.endswith('.')
    assert stop.advice


def test_errors_that_were_heard_before_the_stop_are_not_taken_for_its_cause() -> None:
    heard_before = replace(DOWN, last_errors=('communication_constraints_violation',))

    assert diagnose(heard_before, hardware_was_down=True).cause is StopCause.UNKNOWN


def test_of_several_errors_the_one_that_needs_a_person_counts() -> None:
    shown = replace(
        DOWN,
        mode=RobotMode.REFLEX,
        current_errors=('joint_reflex', 'joint_position_limits_violation'),
    )

    assert diagnose(shown, hardware_was_down=True).cause is StopCause.JOINT_LIMIT


def test_a_reflex_that_was_no_matter_of_force_says_so() -> None:
    shown = replace(DOWN, mode=RobotMode.REFLEX, current_errors=('power_limit_violation',))

    sentence = diagnose(shown, hardware_was_down=True).sentence('lifting red_cube')

    assert sentence == (
        'a reflex stopped the arm while lifting red_cube: it needed more power than it may.'
    )


@pytest.mark.parametrize(
    ('shown', 'answered', 'controllers_active', 'up'),
    [
        (True, True, False, True),  # somebody has only taken a controller down
        (True, False, True, True),
        (True, False, False, False),  # nobody knows, so a person is asked
        (False, True, True, False),
    ],
)
def test_hardware_counts_as_up_only_where_something_shows_that_it_is(
    shown: bool, answered: bool, controllers_active: bool, up: bool
) -> None:
    told = hardware_is_up(shown=shown, answered=answered, controllers_active=controllers_active)

    assert told is up
