"""`bbllm policies`: the files for a namespace, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.paths import config_dir

Command = Callable[..., Result]
SHIPPED = {path.name for path in (config_dir() / 'sros2').iterdir()}


def test_policies_of_a_real_arm_leave_out_the_simulator(bbllm: Command, tmp_path: Path) -> None:
    result = bbllm('policies', '--out', str(tmp_path / 'new' / 'folder'), '--json')

    written = {Path(name) for name in json.loads(result.stdout)['files']}
    assert {path.name for path in written} == SHIPPED - {'mujoco_sim.policy.xml'}
    assert all('ns="/bbllm_real"' in x.read_text() for x in written if x.stem != 'rviz.policy')


@pytest.mark.parametrize('name', ['a b', '../x', 'a"/>', ''])
def test_names_that_are_no_namespace_are_refused(
    bbllm: Command, tmp_path: Path, name: str
) -> None:
    result = bbllm('policies', '--out', str(tmp_path / 'none'), '--namespace', name)

    assert result.exit_code == 2
    assert 'is no namespace' in result.stderr
    assert not (tmp_path / 'none').exists()


def test_folder_that_cannot_be_written_is_named(bbllm: Command, tmp_path: Path) -> None:
    (tmp_path / 'file').touch()

    result = bbllm('policies', '--out', str(tmp_path / 'file'))

    assert result.exit_code == 2
    assert 'cannot be written' in result.stderr
