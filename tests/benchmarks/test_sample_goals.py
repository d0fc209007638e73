"""`bbllm bench sample-goals` writes a suite, says what the proofs took, and overwrites nothing."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from bbllm_bench.suites.suite import load_suite

Command = Callable[..., Result]


def test_goals_are_drawn_written_and_told_of(tmp_path: Path, bbllm: Command) -> None:
    out = tmp_path / 'mine.yaml'

    words = ('--each', '1', '--seed', '2', '--out', str(out), '--json')
    told = bbllm('bench', 'sample-goals', *words)

    figures = json.loads(told.stdout)
    assert told.exit_code == 0
    assert figures['goals'] == 3
    assert figures['search_median_s'] <= figures['search_p95_s'] <= figures['search_max_s']
    assert len(load_suite(out).tasks) == 3


def test_a_file_that_is_there_is_left_alone_unless_told(tmp_path: Path, bbllm: Command) -> None:
    out = tmp_path / 'mine.yaml'
    out.write_text('mine')
    words = ('bench', 'sample-goals', '--each', '1', '--out', str(out))

    refused = bbllm(*words)

    assert refused.exit_code != 0
    assert '--force' in f'{refused.output}{refused.exception}'
    assert out.read_text() == 'mine'
    assert 'median' in bbllm(*words, '--force').output
