"""The bench of the household's speed: the same lines for both, what is told, written and drawn."""

import io
import json
import random
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bbllm.cli.main import app
from bbllm.worlds.household import household
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.rules import RULES
from bbllm.worlds.household.vocabulary import Action
from bbllm_bench.benchmarks.household_speed import virtualhome
from bbllm_bench.benchmarks.household_speed.command import (
    Rate,
    SpeedFigures,
    SpeedReport,
    figure_of,
    print_report,
    run_speed_bench,
    what_both_can_do,
)
from bbllm_bench.benchmarks.household_speed.random_houses import draw_house
from bbllm_bench.benchmarks.household_speed.random_scripts import draw_script

needs_original = pytest.mark.usefixtures('original_household')


@needs_original
@pytest.mark.slow  # it runs VirtualHome; test_agreement.py compares the two in make test
def test_both_are_given_the_same_lines_and_say_the_same() -> None:
    report = run_speed_bench((40, 60), scripts=2, rounds=1)

    assert [(item.mode, item.nodes) for item in report.figures] == [
        (mode, size) for size in (40, 60) for mode in ('persistent', 'fresh')
    ]
    for item in report.figures:
        assert 60 < item.steps <= 80
        assert item.alike == item.steps, item.first_other
        assert item.done > item.steps / 3
        assert min(item.ours.step_s, item.original.step_s, item.ours.load_s) > 0


@needs_original
def test_a_fault_of_the_household_is_told_with_its_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(household, 'RULES', {**RULES, Action.FIND: RULES[Action.LOOKAT]})

    report = run_speed_bench((40,), scripts=1, rounds=1)

    [first, second] = report.figures
    assert first.alike < first.steps
    assert '[FIND]' in first.first_other
    text = printed(report)
    assert f'{first.steps - first.alike + second.steps - second.alike} of ' in text
    assert f'a fault of the household. The first: {first.first_other}' in text


@needs_original
def test_the_command_writes_json_and_pictures_and_prints_the_json_where_asked(
    tmp_path: Path,
) -> None:
    out = tmp_path / 'new' / 'speed'
    command = ['bench', 'household-speed', '--nodes', '40', '--scripts', '1', '--rounds', '1']

    result = CliRunner().invoke(app, [*command, '--json', '--out', str(out)])

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads((out / 'household-speed.json').read_text())
    assert {file.suffix for file in out.iterdir()} == {'.json', '.png', '.svg'}


def test_without_the_original_one_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(virtualhome, 'distribution', missing)
    monkeypatch.delitem(virtualhome.sys.modules, virtualhome._NAME, raising=False)

    result = CliRunner().invoke(app, ['bench', 'household-speed', '--out', str(tmp_path / 'x')])

    assert result.exit_code == 2
    assert 'make extras' in ' '.join(result.output.split())
    assert not (tmp_path / 'x').exists()


@pytest.mark.parametrize('nodes', ['many', '20', '100000'])
def test_sizes_that_cannot_be_are_refused_with_an_example(nodes: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ['bench', 'household-speed', '--nodes', nodes, '--out', str(tmp_path / 'x')]
    )

    assert result.exit_code == 2
    assert 'for example 100,219' in ' '.join(result.output.split())


def test_lines_at_which_the_original_breaks_off_are_left_out() -> None:
    house = draw_house(random.Random(3), 40, odd=0.0)
    lines = draw_script(random.Random(3), house, 60)
    thing = house['nodes'][-1]
    breaks_off = f'[LOOKAT_LONG] <{thing["class_name"]}> ({thing["id"]})'

    kept = what_both_can_do([breaks_off, *lines, breaks_off], house, Mode.FRESH)

    assert breaks_off not in kept
    assert 50 < len(kept) <= 60


def test_the_table_has_the_ratios_and_the_chart_has_a_line_for_each_rate() -> None:
    report = report_of(figures_of('fresh', 100, 1e-5, 4e-3), figures_of('fresh', 1000, 1e-5, 8e-3))

    [axes], told = figure_of(report).axes, printed(report)

    assert '400 x' in told
    assert '800 x' in told
    assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == {
        'fresh': pytest.approx([1e5, 1e5]),
        'original, fresh': pytest.approx([250, 125]),
    }


def printed(report: SpeedReport, width: int = 2000) -> str:
    told = io.StringIO()
    print_report(report, Console(file=told, width=width))
    return told.getvalue()


def figures_of(mode: str, nodes: int, ours_s: float, original_s: float) -> SpeedFigures:
    return SpeedFigures(
        mode=mode,
        nodes=nodes,
        edges=10 * nodes,
        steps=100,
        done=50,
        alike=100,
        ours=Rate(step_s=ours_s, spread=1.1, load_s=0.01),
        original=Rate(step_s=original_s, spread=1.1, load_s=0.01),
    )


def report_of(*figures: SpeedFigures) -> SpeedReport:
    return SpeedReport(
        machine={}, seed=0, scripts=1, lines=100, rounds=1, figures=figures, wall_s=1.0
    )
