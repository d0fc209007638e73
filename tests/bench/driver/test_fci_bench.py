"""`bbllm bench driver --fci`: its report, and a fault in the middle of a motion."""

import importlib.util

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.driver.faults import FaultReport, in_motion
from bbllm_bench.benchmarks.driver.fci import grids_of, notes_of
from bbllm_bench.benchmarks.driver.trials import FciTrial
from bbllm_franka.simulated_server import interpreter

GOOD = FciTrial(seed=4, tracking_rad=0.04, cycle_s=6.0, simulated_s=4.0, success_rate=0.97)
BAD = FciTrial(seed=5, reason='pick(a): no', reflexes=('joint_reflex',), tracking_rad=0.05)
FAULT = FaultReport(fault='a gap', ended='the reason', reflexes=('joint_reflex',), again='done')


def test_the_report_counts_what_was_clean_and_names_what_failed() -> None:
    report = {'seed': 4, 'trials': [GOOD, BAD], 'faults': [FAULT], 'machine': {}, 'wall_s': 1.0}
    measures, faults = grids_of(report)
    assert dict(measures.rows) == {
        'picks and places that succeeded': '1 of 2',
        'without a reflex': '1 of 2',
        'reflexes': 'joint_reflex 1',
        'largest tracking error, mrad': '50.0',
        'cycle, s': '6.00',
        'cycle over that in simulation': '1.50',
        'lowest share of commands in time': '0.97',
    }
    assert faults.rows == (('a gap', 'the reason', 'joint_reflex', 'done'),)
    assert notes_of(report)[0] == 'seed 5: pick(a): no'


@pytest.mark.slow
def test_a_killed_loop_ends_the_call_with_its_cause_and_the_next_one_connects_anew() -> None:
    if importlib.util.find_spec('pylibfranka') is None:
        pytest.skip('pylibfranka is not installed: make extras')
    try:
        interpreter()
    except ConfigError as error:
        pytest.skip(str(error))
    report = in_motion('process of the 1 kHz loop killed', 0)
    assert 'LostRobotError' in report.ended and 'connects anew' in report.ended
    assert 'LostRobotError' not in report.again
