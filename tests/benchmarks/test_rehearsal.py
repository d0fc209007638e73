"""`bbllm bench rehearsal`: what rehearsals change, and how well they predict."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm_bench.benchmarks.rehearsal.figures import foresight_figures, foresight_grid
from bbllm_bench.benchmarks.rehearsal.foresight import Foreseen

PLUS_SIGN = ('--suite', 'tabletop', '--tasks', 'plus_sign', '--trials', '1', '--seed', '0')
OFFLINE = ('--brain', 'offline', '--body', 'offline')


def foreseen(share: float, succeeded: bool) -> Foreseen:
    shares = {'none': share, 'mass': 1.0, 'friction': 1.0, 'pose': 0.0}
    return Foreseen(call='pick red_cube', succeeded=succeeded, code='NONE', shares=shares)


def test_predictions_are_scored_by_what_happened() -> None:
    calls = [foreseen(1.0, True), foreseen(1.0, True), foreseen(0.25, False), foreseen(0.0, True)]

    right, mass, _, pose = foresight_figures(calls)

    assert (right.calls, right.failed, right.foreseen, right.false_alarms) == (4, 1, 1, 1)
    assert right.brier == pytest.approx((0.25**2 + 1.0) / 4)
    assert right.bins == ((0.0, 1, 1), (0.25, 1, 0), (1.0, 2, 2))
    assert (mass.foreseen, mass.false_alarms, mass.brier) == (0, 0, 0.25)
    assert (pose.foreseen, pose.false_alarms, pose.brier) == (1, 3, 0.75)


def test_rates_have_intervals_and_no_failure_has_none() -> None:
    (row, *_) = foresight_grid([*foresight_figures([foreseen(1.0, True)])]).rows

    assert row == ('nothing', '1', '0', '', '0.00 [0.00, 0.79]', '0.000')


@pytest.mark.slow  # it rehearses a plan of ten calls, each in eight simulations
def test_a_plan_that_fails_without_a_rehearsal_is_repaired_with_one(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    result = bbllm(
        *('bench', 'rehearsal', *PLUS_SIGN, *OFFLINE, '--errors', 'none', '--series', '1'),
        *('--jobs', '1', '--json', '--out', str(tmp_path / 'run')),
    )

    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    without, rehearsed = report['variants']
    assert (without['episodes'], rehearsed['episodes']) == (1, 1)
    assert without['rehearsals'] == without['rehearsed_loops'] == 0
    assert without['failed_calls'] + without['rejected_calls'] > 0
    assert (rehearsed['passed'], rehearsed['loops'], rehearsed['rejected_calls']) == (1, 0, 0)
    assert rehearsed['rehearsed_loops'] >= 1
    assert 1 <= len(report['calls']) <= 8
    assert (tmp_path / 'run' / 'rehearsal.png').stat().st_size > 0


def test_an_unknown_error_of_simulations_is_refused(bbllm: Callable[..., Result]) -> None:
    result = bbllm('bench', 'rehearsal', '--errors', 'weight', *OFFLINE)

    assert result.exit_code == 2
    assert "'weight'; there are none, mass, friction, pose." in ' '.join(result.output.split())
