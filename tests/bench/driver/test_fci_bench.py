"""`bbllm bench driver --fci`: its report, what it expects of each fault, and faults themselves."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from bbllm.core.constants import SLOW
from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.driver import faults, fci
from bbllm_bench.benchmarks.driver.clients import BBLLM, FRANKY
from bbllm_bench.benchmarks.driver.faults import FAULTS, FaultReport, fault_jobs, provoked
from bbllm_bench.benchmarks.driver.fci import bench_fci, grids_of, notes_of
from bbllm_bench.benchmarks.driver.servers import FRANKA_SIM, TABLE
from bbllm_bench.benchmarks.driver.trials import FciTrial
from bbllm_fci.library import need_franka_sim
from bbllm_franka.simulated_server import interpreter

GOOD = FciTrial(seed=4, tracking_rad=0.04, cycle_s=6.0, simulated_s=4.0, success_rate=0.97)
BAD = FciTrial(seed=5, reason='pick(a): no', reflexes=('joint_reflex',), tracking_rad=0.05)
FAULT = FaultReport(
    fault='a gap',
    server=FRANKA_SIM,
    client=BBLLM,
    ended='the reason',
    reflexes=('joint_reflex',),
    at_rest=True,
    again='done',
)


def named(name: str) -> int:
    return [fault.name for fault in FAULTS].index(name)


def need_servers() -> None:
    if importlib.util.find_spec('pylibfranka') is None:
        pytest.skip('pylibfranka is not installed: make extras')
    try:
        interpreter()
        need_franka_sim()
    except ConfigError as error:
        pytest.skip(str(error))


def test_the_report_counts_what_was_clean_and_names_what_failed() -> None:
    report = {
        'seed': 4,
        'safety': 'safety_slow',
        'patience_s': 0.1,
        'trials': [GOOD, BAD],
        'faults': [FAULT],
        'machine': {},
        'load': (2.0, 1.0, 0.6),
        'wall_s': 1.0,
    }
    measures, table = grids_of(report)
    assert measures.title.endswith('whose clock waits 0.1 s for each command')
    assert dict(measures.rows) == {
        'picks and places that succeeded': '1 of 2',
        'without a reflex': '1 of 2',
        'reflexes': 'joint_reflex 1',
        'largest tracking error, mrad': '50.0',
        'cycle, s': '6.00',
        'cycle over that in simulation': '1.50',
        'lowest share of commands in time': '0.97',
    }
    assert table.rows == (
        ('a gap', FRANKA_SIM, BBLLM, 'the reason', 'joint_reflex', 'yes', 'done'),
    )
    assert notes_of(report) == [
        'seed 5: pick(a): no',
        '; 1 s; load at the end 2, 1, 1 (1, 5, 15 min)',
    ]


@pytest.mark.parametrize(
    ('ended', 'at_rest', 'again', 'found'),
    [
        ('VersionError: ... 5.9.0 or later', True, 'done', ''),
        ('It was connected.', True, 'done', 'ended without'),
        ('VersionError: ... 5.9.0 or later', False, 'done', 'the arm moved on'),
        ('VersionError: ... 5.9.0 or later', True, 'REFLEX: no', 'the next motion failed'),
    ],
)
def test_what_is_not_as_expected_is_named(
    ended: str, at_rest: bool, again: str, found: str
) -> None:
    fault = FAULTS[named('robot of another version')]

    assert found in faults._unexpected(fault, ended, again, at_rest)
    assert bool(found) is bool(faults._unexpected(fault, ended, again, at_rest))


@pytest.mark.parametrize(('unexpected', 'code'), [('', 0), ('the arm moved on', 1)])
def test_a_fault_that_ends_otherwise_is_a_failure(
    unexpected: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = replace(FAULT, unexpected=unexpected)
    for name in ('need_libraries', 'need_franka_sim', 'interpreter'):
        monkeypatch.setattr(fci, name, lambda: None)
    monkeypatch.setattr(fci, 'run_trials', lambda *arguments: [report])
    found = 0
    try:
        bench_fci('table', 'bbllm', 0, 0, tmp_path / 'report.json', json=False, safety=SLOW)
    except typer.Exit as ending:
        found = ending.exit_code

    assert found == code


def test_each_program_meets_the_faults_that_it_can_meet() -> None:
    ours = {FAULTS[index].name for index, _, _ in fault_jobs([BBLLM], 0)}
    theirs = {FAULTS[index].name for index, _, _ in fault_jobs([FRANKY], 0)}

    assert ours == {fault.name for fault in FAULTS}
    # Its loop is a thread of the program, which is killed with it.
    assert ours - theirs == {'process of the 1 kHz loop killed'}
    assert {fault.server for fault in FAULTS} == {FRANKA_SIM, TABLE}


# Not those of franka-sim: its link drops and delays packets where a machine is busy.
@pytest.mark.slow
@pytest.mark.parametrize(
    'name',
    [
        'user stop pressed and released',
        'the red cube is a post, unlike in the scene',
        'program killed (kill -9)',
    ],
)
def test_a_fault_ends_as_expected(name: str) -> None:
    need_servers()

    report = provoked(named(name), BBLLM, 0)

    assert report.unexpected == '', report
