"""The bench of the scales: what is felt in lifts, and how often the wrong cube is heavier."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bbllm.bench.weighing import HEAVIER_KG, run_weighing_bench
from bbllm.bench.weighing_report import (
    WeighingReport,
    draw_report,
    expected_error,
    figures_of,
    print_report,
)
from bbllm.bench.weighing_trials import Lift, WeighingTrial, run_weighing
from bbllm.cli.main import app
from bbllm.pictures.svg import to_svg

GRAVITY_M_S2 = 9.81


def test_both_cubes_are_lifted_and_felt_with_the_bias_of_one_sensor() -> None:
    trial = run_weighing(0.05, 0.15, 1)

    assert trial.reason == ''
    assert sorted(lift.mass_kg for lift in trial.lifts) == [0.05, 0.15]
    first, second = (lift.down_n - GRAVITY_M_S2 * lift.mass_kg for lift in trial.lifts)
    # Both have the same bias; what is left is the scatter of two means, 0.06 N.
    assert first == pytest.approx(second, abs=0.2)
    assert trial.right
    assert all(lift.robot_s > 1.0 for lift in trial.lifts)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    first, again, other = (
        [(lift.mass_kg, lift.down_n) for lift in run_weighing(0.05, 0.1, seed).lifts]
        for seed in (3, 3, 4)
    )

    assert first == again
    assert first != other


def test_a_trial_is_right_where_the_heavier_cube_pulls_more() -> None:
    assert trial_of((0.05, 0.4), (0.10, 0.9)).right
    assert trial_of((0.10, 0.9), (0.05, 0.4)).right
    assert not trial_of((0.05, 0.9), (0.10, 0.4)).right


def test_cubes_that_could_not_be_weighed_count_in_no_rate_and_are_told() -> None:
    trials = [
        trial_of((0.05, 0.4), (0.10, 0.9)),
        trial_of((0.05, 0.9), (0.10, 0.4)),
        WeighingTrial(heavy_kg=0.1, seed=7, reason='pick(red_cube): the hand closed on nothing.'),
    ]

    figures = figures_of(0.05, 0.10, trials)

    assert (figures.ratio, figures.error.value, figures.error.n) == (2.0, 0.5, 2)
    assert figures.failures == ('seed 7: pick(red_cube): the hand closed on nothing.',)


def test_noise_alone_is_chance_for_equal_masses_and_less_the_further_they_are_apart() -> None:
    errors = [expected_error(0.05, mass_kg) for mass_kg in (0.05, *HEAVIER_KG)]

    assert errors[0] == pytest.approx(0.5)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6


def test_a_run_is_told_written_and_drawn_with_a_mark_for_each_pair_of_masses() -> None:
    report = run_weighing_bench(1)

    text = io.StringIO()
    print_report(report, Console(file=text, width=200))
    data = json.loads(json.dumps(report.as_json()))
    drawn = to_svg(draw_report(report))

    assert [item['heavy_kg'] for item in data['figures']] == list(HEAVIER_KG)
    assert data['lifts'] == 2 * len(HEAVIER_KG)
    assert '0.055' in text.getvalue()
    assert drawn.count('<circle') == len(HEAVIER_KG)


def test_the_mark_of_more_errors_is_higher_up() -> None:
    few, many = (drawn_heights(wrong) for wrong in (1, 4))

    assert many < few


def test_the_command_writes_json_and_pictures(tmp_path: Path) -> None:
    out = tmp_path / 'new' / 'weigh'

    result = CliRunner().invoke(
        app, ['bench', 'weigh', '--trials', '1', '--jobs', '1', '--out', str(out)]
    )

    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in out.iterdir()) == ['weigh.json', 'weigh.png', 'weigh.svg']


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_lifted(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')

    result = CliRunner().invoke(app, ['bench', 'weigh', '--out', str(tmp_path / 'file' / 'weigh')])

    assert result.exit_code == 2
    assert 'give --out one that can' in ' '.join(result.output.split())


def trial_of(*lifts: tuple[float, float]) -> WeighingTrial:
    felt = tuple(
        Lift(mass_kg=mass_kg, down_n=down_n, robot_s=2.0, wall_s=0.1) for mass_kg, down_n in lifts
    )
    return WeighingTrial(heavy_kg=0.1, seed=0, lifts=felt)


def drawn_heights(wrong: int) -> float:
    """Return how far down the only mark of a picture lies, for so many errors of ten."""
    right, false = trial_of((0.05, 0.4), (0.10, 0.9)), trial_of((0.05, 0.9), (0.10, 0.4))
    trials = [false] * wrong + [right] * (10 - wrong)
    report = WeighingReport(
        machine={},
        seed=0,
        light_kg=0.05,
        noise_n=0.2,
        figures=(figures_of(0.05, 0.10, trials),),
        lifts=20,
        scatter_n=0.1,
        lift_s=(2.0, 2.0, 2.0),
        lift_wall_s=0.1,
        wall_s=1.0,
    )
    [circle] = [line for line in to_svg(draw_report(report)).splitlines() if '<circle' in line]
    return float(circle.split('cy="')[1].split('"')[0])
