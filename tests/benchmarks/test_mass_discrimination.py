"""The bench of the scales: what is felt in lifts, and how often the wrong cube is heavier."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.console import Console
from typer.testing import CliRunner, Result

from bbllm.cli.main import app
from benchmarks.mass_discrimination import command
from benchmarks.mass_discrimination.command import (
    HEAVIER_KG,
    figure_of,
    print_report,
    run_mass_bench,
)
from benchmarks.mass_discrimination.trials import Lift, MassTrial, run_trial

GRAVITY_M_S2 = 9.81


def test_both_cubes_are_lifted_and_felt_with_the_bias_of_one_sensor() -> None:
    trial = run_trial(0.05, 0.15, 1)

    assert trial.reason == ''
    assert sorted(lift.mass_kg for lift in trial.lifts) == [0.05, 0.15]
    first, second = (lift.down_n - GRAVITY_M_S2 * lift.mass_kg for lift in trial.lifts)
    # Both have the same bias; what is left is the scatter of two means, 0.06 N.
    assert first == pytest.approx(second, abs=0.2)
    assert trial.right
    assert all(lift.robot_s > 1.0 for lift in trial.lifts)


def test_a_run_is_told_written_and_drawn_with_a_mark_for_each_pair_of_masses() -> None:
    report = run_mass_bench(1)

    text = io.StringIO()
    print_report(report, Console(file=text, width=200))
    data = json.loads(json.dumps(report.as_json()))

    assert [item['heavy_kg'] for item in data['figures']] == list(HEAVIER_KG)
    assert data['lifts'] == 2 * len(HEAVIER_KG)
    assert '0.055' in text.getvalue()
    assert len(marks_of(figure_of(report))) == len(HEAVIER_KG)


def test_without_noise_a_weight_is_what_it_is() -> None:
    trial = run_trial(0.05, 0.055, 1, 0.0)
    noisy = run_trial(0.05, 0.055, 1, 1.0)

    off = [lift.down_n - GRAVITY_M_S2 * lift.mass_kg for lift in trial.lifts]
    assert off == pytest.approx([0, 0], abs=0.02)
    assert trial.right
    assert max(abs(lift.down_n - GRAVITY_M_S2 * lift.mass_kg) for lift in noisy.lifts) > 0.1


def weighed_at_once(light_kg: float, heavy_kg: float, seed: int, noise_n: float) -> MassTrial:
    lifts = trial_of((light_kg, 0.4), (heavy_kg, 0.9)).lifts
    return MassTrial(heavy_kg=heavy_kg, seed=seed, lifts=lifts)


def fails_at_once(light_kg: float, heavy_kg: float, seed: int, noise_n: float) -> MassTrial:
    return MassTrial(heavy_kg=heavy_kg, seed=seed, reason='pick(red_cube): No.')


def weigh(out: Path, *words: str) -> Result:
    return CliRunner().invoke(
        app, ['bench', 'weigh', '--trials', '2', '--jobs', '1', '--out', str(out), *words]
    )


def test_the_command_prints_one_json_object_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, 'run_trial', weighed_at_once)

    out = tmp_path / 'new' / 'weigh'
    result = weigh(out, '--json', '--noise', '0.5')

    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data['noise_n'], data['planned'], data['folder']) == (0.5, 2, str(out))
    assert [item['error']['n'] for item in data['figures']] == [2] * len(HEAVIER_KG)
    assert sorted(file.name for file in out.iterdir()) == ['weigh.json', 'weigh.png', 'weigh.svg']


def test_the_command_fails_where_a_pair_of_masses_was_never_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heaviest_fails(light_kg: float, heavy_kg: float, *rest: Any) -> MassTrial:
        play = fails_at_once if heavy_kg == HEAVIER_KG[-1] else weighed_at_once
        return play(light_kg, heavy_kg, *rest)

    monkeypatch.setattr(command, 'run_trial', heaviest_fails)
    one = weigh(tmp_path)
    monkeypatch.setattr(command, 'run_trial', fails_at_once)
    none = weigh(tmp_path)

    assert (one.exit_code, none.exit_code) == (1, 1)
    assert json.loads((tmp_path / 'weigh.json').read_text())['lifts'] == 0


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_lifted(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')

    result = CliRunner().invoke(app, ['bench', 'weigh', '--out', str(tmp_path / 'file' / 'weigh')])

    assert result.exit_code == 2
    assert 'cannot be written (Not a directory)' in ' '.join(result.output.split())


def trial_of(*lifts: tuple[float, float]) -> MassTrial:
    felt = tuple(
        Lift(mass_kg=mass_kg, down_n=down_n, robot_s=2.0, wall_s=0.1) for mass_kg, down_n in lifts
    )
    return MassTrial(heavy_kg=0.1, seed=0, lifts=felt)


def marks_of(figure: Figure) -> list[float]:
    """Return the heights of the marks of a chart, without the dashed line."""
    return [bars.lines[0].get_ydata()[0] for bars in figure.axes[0].containers]
