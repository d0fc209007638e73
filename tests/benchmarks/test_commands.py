"""`bbllm bench` runs the benchmarks."""

from collections.abc import Callable

import pytest
from typer.testing import Result


@pytest.mark.parametrize(
    'name',
    ['arm', 'time', 'faults', 'injection', 'recorded'],
)
def test_benchmark_answers_help(bbllm: Callable[..., Result], name: str) -> None:
    result = bbllm('bench', name, '--help')

    assert result.exit_code == 0
    assert f'bbllm bench {name}' in result.output
    assert '--out' in result.output
