"""With `--json` a benchmark prints the report that it writes, and nothing else, on stdout."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm_bench.benchmarks.faults import process
from bbllm_bench.benchmarks.faults.process import Manner, ProcessFault, ProcessFaultResult


def check_printed(result: Result, out: Path) -> None:
    written = json.loads(out.read_text())
    assert json.loads(result.stdout) == {**written, 'out': str(out)}
    assert f'writtento{out}' in ''.join(result.stderr.split())  # long lines are wrapped


def test_faults_of_processes_where_one_is_not_good(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(
        trials: Sequence[ProcessFault], on_result: Callable[[ProcessFaultResult], None]
    ) -> None:
        on_result(
            ProcessFaultResult(
                trial=ProcessFault('body_mapper', Manner.KILL, 1.0),
                episode_id='e',
                struck=True,
                told_s=1.0,
                ending='WORLD_FAILED',
                message='The node has gone.',
                at_rest=False,
            )
        )

    monkeypatch.setattr(process, 'run_trials', run)
    out = tmp_path / 'faults.json'

    result = bbllm('bench', 'process-faults', '--json', '--out', str(out))

    assert result.exit_code == 1, result.exception
    check_printed(result, out)
    assert [each['good'] for each in json.loads(result.stdout)['results']] == [False]
