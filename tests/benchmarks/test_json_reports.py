"""With `--json` a benchmark prints the report that it writes, and nothing else, on stdout."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm_bench.benchmarks.faults import process
from bbllm_bench.benchmarks.faults.process import Manner, ProcessFault, ProcessFaultResult
from bbllm_bench.benchmarks.stack import command as stack
from bbllm_bench.benchmarks.stack.command import Spread, StackReport

SPREAD = Spread(n=3, median_ms=1.5, p95_ms=float('nan'))
STACK = StackReport(
    machine={'processor': 'a processor', 'cores': '2'},
    rmw='rmw_fastrtps_cpp',
    load=0.5,
    ready_s=3.0,
    pss_mb=300.0,
    rss_mb=600.0,
    idle_cores=0.1,
    step_overhead=SPREAD,
    bare_accept=SPREAD,
    bare_round_trip=SPREAD,
    fast_factor=8.0,
    fast_motion_factor=9.0,
)


def check_printed(result: Result, out: Path) -> None:
    written = json.loads(out.read_text())
    assert json.loads(result.stdout) == {**written, 'out': str(out)}
    assert f'writtento{out}' in ''.join(result.stderr.split())  # long lines are wrapped


def test_the_stack(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stack, 'run_stack_bench', lambda moves, trips, say: STACK)
    monkeypatch.setattr(stack, 'machine_text', lambda machine: 'a machine')
    out = tmp_path / 'stack.json'

    result = bbllm('bench', 'stack', '--json', '--out', str(out))

    assert result.exit_code == 0, result.output
    check_printed(result, out)
    assert json.loads(result.stdout)['step_overhead'] == {
        'n': 3,
        'median_ms': 1.5,
        'p95_ms': None,
    }


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
