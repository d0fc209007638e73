"""`bbllm bench time`: reports, comparisons, and what is not measured."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.errors import ConfigError, WorldError
from bbllm_bench.benchmarks.shared import write_json
from bbllm_bench.benchmarks.time import command
from bbllm_bench.benchmarks.time.command import GROUPS, Group, read_report, run_time_bench
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.table import FIGURES


def measure(n: int, seed: int) -> Mapping[str, Measured]:
    values = tuple(float(index + 2) for index in range(n))
    return dict.fromkeys(
        ('moving', 'task'), Measured(values=values, references=(1.0,) * n, paired=True)
    )


def fails(n: int, seed: int) -> Mapping[str, Measured]:
    raise WorldError('The arm fell off.')


ARM = Group(keys=('moving', 'task'), measure=measure, repeats=4, quick=2)
BROKEN = Group(keys=('plan',), measure=fails, repeats=4, quick=2)
OVER_DDS = Group(keys=('idle',), measure=measure, repeats=1, quick=1, needs_ros=True)


def no_ros(verb: str) -> None:
    raise ConfigError('ROS 2 is not in this shell.')


def test_the_groups_measure_every_figure_once() -> None:
    known = {figure.key for figure in FIGURES}
    keys = [key for group in GROUPS for key in group.keys]

    assert len(keys) == len({*keys})
    assert {*keys} <= known


def test_a_run_is_printed_and_written_and_can_be_shown_again(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, 'GROUPS', (ARM,))
    out = tmp_path / 'time.json'

    ran = bbllm('bench', 'time', '--quick', '--only', 'moving,task', '--out', str(out))
    shown = bbllm('bench', 'time', str(out))
    printed = bbllm('bench', 'time', str(out), '--json')

    assert ran.exit_code == shown.exit_code == 0, ran.output
    assert 'moving time of a pick and place, s 2.50 [2.00, 3.00]' in squeezed(shown.output)
    assert 'not met' in shown.output
    assert read_report(out).row('moving').measured == Measured(
        values=(2.0, 3.0), references=(1.0, 1.0), paired=True
    )
    data = json.loads(out.read_text())
    assert {'commit', 'source'} <= data['versions'].keys()
    assert (data['quick'], len(data['load'])) == (True, 2)
    assert json.loads(printed.stdout) == {**data, 'out': str(out)}


def test_what_cannot_be_measured_is_named_with_the_reason(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, 'need_ros', no_ros)
    monkeypatch.setattr(command, 'GROUPS', (ARM, BROKEN, OVER_DDS))

    result = bbllm('bench', 'time', '--out', str(tmp_path / 'time.json'))

    assert result.exit_code == 1
    output = squeezed(result.output)
    assert 'not measured: plan of a pick, processor time: The arm fell off.' in output
    assert 'not measured: cores used by an idle stack: ROS 2 is not in this shell.' in output
    assert '3.50 [' in output  # the others are measured all the same


def test_two_runs_are_set_side_by_side_and_what_is_worse_is_marked(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before, after = tmp_path / 'before.json', tmp_path / 'after.json'
    for path, moving, plan in ((before, 2.0, 4.0), (after, 1.0, 5.0)):
        monkeypatch.setattr(command, 'GROUPS', (always(moving=moving, plan=plan),))
        write_json(path, run_time_bench(('moving', 'plan')))

    result = bbllm('bench', 'time', '--compare', str(before), str(after))

    assert result.exit_code == 0, result.output
    table = result.output[result.output.index('Time, two runs') :]
    moving = next(line for line in table.splitlines() if 'moving time' in line)
    plan = next(line for line in table.splitlines() if 'plan of a pick' in line)
    assert '0.500 [0.500, 0.500]' in moving
    assert 'worse' not in moving
    assert '1.25 [1.25, 1.25]' in plan
    assert 'worse' in plan


def test_a_file_that_is_no_run_is_refused_before_anything_is_measured(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    other = tmp_path / 'other.json'
    other.write_text('{"rows": 3}')

    wrong = bbllm('bench', 'time', '--compare', str(other))
    missing = bbllm('bench', 'time', '--compare', str(tmp_path / 'none.json'))
    unknown = bbllm('bench', 'time', '--only', 'movin')

    assert (wrong.exit_code, missing.exit_code, unknown.exit_code) == (2, 2, 2)
    assert 'is no result of `bbllm bench time`' in squeezed(wrong.output)
    assert 'cannot be read (No such file or directory)' in squeezed(missing.output)
    assert "Did you mean 'moving'?" in squeezed(unknown.output)


def always(**values: float) -> Group:
    def given(n: int, seed: int) -> Mapping[str, Measured]:
        return {
            key: Measured(values=(value,) * n, references=(1.0,) * n)
            for key, value in values.items()
        }

    return Group(keys=tuple(values), measure=given, repeats=3, quick=3)


def squeezed(text: str) -> str:
    return ' '.join(text.split())
