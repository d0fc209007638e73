"""`bbllm data`: the commands of the package, and those of a checkout."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bbllm.cli.main import app


@pytest.fixture
def bbllm() -> Callable[..., Result]:
    """Return the command, as a function of its words."""
    return lambda *words: CliRunner().invoke(app, ['data', *words], prog_name='bbllm')


@pytest.mark.slow  # episodes in a process
def test_demos_writes_a_data_set_once_and_prints_what_it_has(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    pytest.importorskip('pyarrow', reason='the extra `lerobot` is not installed: make extras')
    out = str(tmp_path / 'set')
    words = ('demos', '--episodes', '2', '--jobs', '1', '--out', out)

    made, again = bbllm(*words, '--json'), bbllm(*words)

    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert found['episodes'] == 2 >= found['succeeded']
    assert found['folder'] == out
    for word in ('frames', 'succeeded', 'failed calls', 'repairs', 'episodes a minute'):
        assert word in made.stderr
    info = json.loads((tmp_path / 'set' / 'meta' / 'info.json').read_text())
    assert info['total_frames'] == found['frames']
    assert again.exit_code == 2
    assert 'exists already' in again.stderr


def test_without_pyarrow_the_error_names_what_installs_it(
    bbllm: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec

    def without(name: str, *args: Any) -> Any:
        return None if name == 'pyarrow' else find(name, *args)

    monkeypatch.setattr(importlib.util, 'find_spec', without)

    done = bbllm('demos', '--out', str(tmp_path / 'set'))

    assert done.exit_code == 2
    assert "pip install '.[lerobot]'" in done.stderr
    assert not [*tmp_path.iterdir()]
