"""The trials of the bench of faults: drawn by a seed, and judged by what is seen."""

from dataclasses import replace

import pytest

from bbllm.core.events import Ending
from bbllm.sim.faults import Fault
from bbllm_bench.benchmarks.faults.trials import (
    LATEST,
    LATEST_GOAL,
    NEEDS_PERSON,
    FaultResult,
    FaultTrial,
    Verdict,
    draw_trials,
    judge,
    rows_of,
)

USER_STOP = FaultTrial(fault=Fault.USER_STOP, trial=0, after_goals=2, delay_s=0.05, person=False)


def test_same_seed_draws_the_same_trials_and_another_one_others() -> None:
    faults = list(Fault)

    assert draw_trials(faults, 5, 3) == draw_trials(faults, 5, 3)
    assert draw_trials(faults, 5, 3) != draw_trials(faults, 5, 4)


def test_what_only_a_person_can_take_back_is_tried_with_and_without_one() -> None:
    trials = draw_trials(list(Fault), 2, 0)

    without = {trial.fault for trial in trials if not trial.person}
    assert without == NEEDS_PERSON
    assert len(trials) == 2 * (len(Fault) + len(NEEDS_PERSON))
    for trial in trials:
        latest = LATEST_GOAL.get(trial.fault, LATEST)
        assert min(1, latest) <= trial.after_goals <= latest


@pytest.mark.parametrize(
    ('ending', 'message', 'done', 'verdict'),
    [
        (Ending.FINISHED, '', True, Verdict.FINISHED),
        # A task that says that it is done proves nothing.
        (Ending.FINISHED, '', False, Verdict.NEITHER),
        (Ending.WORLD_FAILED, 'The user stop is pressed; release it.', False, Verdict.CLEAR_STOP),
        (Ending.WORLD_FAILED, 'Something went wrong.', False, Verdict.NEITHER),
        (Ending.GAVE_UP, 'The user stop is pressed; release it.', False, Verdict.NEITHER),
    ],
)
def test_an_end_is_judged_by_ending_sentence_and_table(
    ending: Ending, message: str, done: bool, verdict: Verdict
) -> None:
    assert judge(USER_STOP, ending, message, done) is verdict


def test_a_goal_that_arrives_while_the_robot_is_stopped_spoils_a_good_end() -> None:
    result = FaultResult(
        trial=USER_STOP,
        verdict=Verdict.CLEAR_STOP,
        struck=True,
        ending=Ending.WORLD_FAILED,
        message='The user stop is pressed.',
    )

    assert result.good
    assert not replace(result, stray=('a grasp',)).good
    assert not replace(result, verdict=Verdict.FINISHED).good
    (row,) = rows_of([result, replace(result, stray=('a', 'b'))])
    assert (row['n'], row['good'], row['stray']) == (2, 1, 2)
