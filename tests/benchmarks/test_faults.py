"""The bench of faults on a real stack: one trial of each kind of end."""

import pytest

from bbllm.sim.faults import Fault
from bbllm_bench.benchmarks.faults.robot import run_fault_bench
from bbllm_bench.benchmarks.faults.trials import FaultResult, Verdict, draw_trials

pytestmark = pytest.mark.ros


@pytest.mark.slow  # eleven faults in tasks on a stack
def test_faults_in_mid_task_end_in_a_finished_task_or_in_a_clear_stop() -> None:
    trials = draw_trials([Fault.REFLEX, Fault.USER_STOP, Fault.GRIPPER_MISS], 1, seed=1)
    received: list[FaultResult] = []

    results = run_fault_bench(trials, received.append)

    assert received == results
    reported = [(r.trial.fault.value, r.trial.person, r.verdict, r.message) for r in results]
    assert [end[2] for end in reported] == [
        Verdict.FINISHED,  # a reflex, recovered from
        Verdict.FINISHED,  # a user stop that a person released
        Verdict.CLEAR_STOP,  # one that nobody released
        Verdict.FINISHED,  # a grasp that missed
    ], reported
    # A reflex between two motions is recovered from within its call, which no code tells.
    assert all(result.struck for result in results[1:])
    # A goal that crossed the user stop is a matter of milliseconds, which no test can hold a busy
    # machine to; one that came while a person was waited for is none.
    stray = [goal for result in results for goal in result.stray]
    assert [goal for goal in stray if '0.000 s into waiting' not in goal] == []
    # Whatever moved, a person had approved a plan before.
    assert all(result.approvals >= 1 and result.goals > 1 for result in results)
