"""`bbllm bench` runs the benchmarks of a checkout, and names the checkout where there is none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core import paths


@pytest.mark.parametrize(
    'name',
    ['arm', 'time', 'faults', 'injection', 'recorded'],
)
def test_benchmark_of_a_checkout_answers_help(bbllm: Callable[..., Result], name: str) -> None:
    result = bbllm('bench', name, '--help')

    assert result.exit_code == 0
    assert f'bbllm bench {name}' in result.output
    assert '--out' in result.output


def test_checkout_is_found_beside_the_source_and_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path
) -> None:
    monkeypatch.delenv('BBLLM_ROOT', raising=False)
    assert paths.checkout_dir() == repository

    monkeypatch.setattr(
        paths, '_PACKAGE', tmp_path / 'lib' / 'python3' / 'site-packages' / 'bbllm'
    )
    assert paths.checkout_dir() is None

    monkeypatch.setenv('BBLLM_ROOT', str(repository))
    assert paths.checkout_dir() == repository
