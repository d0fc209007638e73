"""The whole procedure in simulation, beside the truth; it draws, so it needs EGL or OSMesa."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.sim.drawing import PACKAGES, RenderError
from bbllm_vision.calibration import trials
from bbllm_vision.calibration.simulated import SetupErrors
from bbllm_vision.calibration.trials import Trial, run_trial, run_trials
from bbllm_vision.hand_eye import Bounds, CalibrationError, Mount, check


def trial_of(mount: Mount, *, errors: SetupErrors | None = None, count: int = 8) -> Trial:
    """Run a trial; skip the test where nothing can be drawn."""
    try:
        return run_trial(mount, count=count, seed=1, errors=errors or SetupErrors())
    except RenderError as error:
        if PACKAGES not in str(error):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize('mount', list(Mount))
def test_a_simulated_camera_is_found_where_it_is(mount: Mount) -> None:
    trial = trial_of(mount)
    check(trial.found, Bounds())
    assert len(trial.views) == 8
    assert trial.camera_m < 1e-3
    assert trial.angle_rad < np.radians(0.1)
    assert trial.point_m < 0.5e-3


@pytest.mark.slow  # many pictures
def test_joints_that_are_off_show_in_the_residual() -> None:
    exact = trial_of(Mount.STAND)
    off = trial_of(Mount.STAND, errors=SetupErrors(joint_rad=3e-3))
    assert off.found.residual_m > 3.0 * exact.found.residual_m
    assert off.point_m > 3.0 * exact.point_m
    assert off.found.error_m > 3.0 * exact.found.error_m


def test_figures_are_those_of_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_of(Mount.HAND)

    def run(mount: Mount, *, count: int, seed: int, errors: SetupErrors) -> Trial:
        if seed == 6:
            raise CalibrationError('no view.')
        return replace(trial, point_m=seed * 1e-4, found=replace(trial.found, error_m=seed * 1e-4))

    monkeypatch.setattr(trials, 'run_trial', run)
    done: list[int] = []
    figures = run_trials(Mount.HAND, 4, seed=5, on_trial=done.append)
    assert done == [1, 2, 3, 4]
    assert (figures.trials, figures.accepted) == (4, 3)
    assert figures.refusals == ('seed 6: no view.',)
    assert figures.point_mm.median == pytest.approx(0.7)
    assert figures.point_mm.most == pytest.approx(0.8)
    assert figures.error_rank == pytest.approx(1.0)
    assert figures.within == 1.0
    assert [one.method for one in figures.methods] == [
        'tsai',
        'park',
        'horaud',
        'andreff',
        'daniilidis',
    ]
    assert figures.methods[1].point_mm.most < 5.0
    with pytest.raises(CalibrationError, match=r'None of 1 trials was accepted\. seed 6'):
        run_trials(Mount.HAND, 1, seed=6)
