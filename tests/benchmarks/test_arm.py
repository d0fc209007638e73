"""The bench of the arm: trials measure settled poses, and the report says what they found."""

import json
import math
from pathlib import Path

import pytest

from bbllm.core.types import Pose
from bbllm_bench.benchmarks.arm.command import figures_of, grids_of, notes_of, run_arm_bench
from bbllm_bench.benchmarks.arm.trials import Trial, audit_stop, run_trial, yaw_error_deg
from bbllm_bench.benchmarks.shared import write_report
from bbllm_bench.safety.limit_audit import NOTHING


@pytest.mark.parametrize('kind', ['pick_place', 'plus'])
def test_a_trial_succeeds_without_breaking_a_limit(kind: str) -> None:
    trial = run_trial(kind, 1)

    assert trial.ok, trial.reason
    assert trial.audit.violations == 0
    assert trial.audit.samples > 1000
    assert 0 < trial.bound_s < trial.share_bound_s < trial.motion_s < trial.robot_s
    assert trial.measured.samples > 100


@pytest.mark.parametrize('scale', [0.8, 1.0])
def test_set_points_of_stops_and_next_motions_break_no_limit(scale: float) -> None:
    stops = sum((audit_stop(seed, scale) for seed in range(20)), NOTHING)

    assert stops.violations == 0
    assert 0.95 < stops.worst < 0.9999


@pytest.mark.parametrize(('yaw_deg', 'wanted', 'error'), [(91, 0, 1), (-44, 45, 1), (10, 10, 0)])
def test_a_cube_turned_by_a_quarter_is_not_turned(
    yaw_deg: float, wanted: float, error: float
) -> None:
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(0, 0, 0), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))

    assert yaw_error_deg(pose, wanted) == pytest.approx(error)


def test_failures_count_against_success_but_not_into_the_errors() -> None:
    good = Trial(kind='tower', seed=0, ok=True, errors_m=(0.001, 0.003), robot_s=8.0, cycles=2)
    bad = Trial(kind='tower', seed=1, ok=False, reason='it fell.', errors_m=(0.2,), cycles=2)

    figures = figures_of('tower', [good, bad])

    assert (figures.trials, figures.succeeded) == (2, 1)
    assert figures.error_mm == pytest.approx((2.0, 2.9, 3.0))
    assert figures.cycle_s == 4.0
    assert figures.failures == ('seed 1: it fell.',)


def test_the_report_names_the_machine_and_is_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run_arm_bench(1, 5, shapes=0, processes=1)

    out = tmp_path / 'arm.json'
    write_report(out, report, grids_of(report), notes_of(report), json=False)
    printed, data = capsys.readouterr().out, json.loads(out.read_text())

    assert 'mujoco' in printed
    assert '1/1' in printed
    assert data['violations'] == 0
    assert data['figures'][0]['kind'] == 'pick_place'
